"""What goes past others is told to the workers as often as they must hear it."""

from typing import cast

import pytest

from services.relay.handler import AheadNotice
from shared.db import Database
from shared.errors import TransientError
from shared.store import turns

MOMENT_S = 0.2


async def test_workers_are_told_again_when_half_of_their_rest_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = [100.0], list[float]()

    async def tell_ahead(_: Database) -> None:
        told.append(now[0])

    monkeypatch.setattr(turns, "tell_ahead", tell_ahead)
    notice = AheadNotice(cast(Database, None), MOMENT_S, lambda: now[0])
    for now[0] in (100.0, 100.05, 100.09, 100.11, 100.15, 100.22):
        await notice.tell()
    assert told == [100.0, 100.11, 100.22]


async def test_what_could_not_be_told_is_told_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = 0

    async def tell_ahead(_: Database) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise TransientError("the database is away")

    monkeypatch.setattr(turns, "tell_ahead", tell_ahead)
    notice = AheadNotice(cast(Database, None), MOMENT_S, lambda: 100.0)
    with pytest.raises(TransientError):
        await notice.tell()
    await notice.tell()
    await notice.tell()
    assert tries == 2
