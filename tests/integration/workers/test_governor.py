"""The schedule of the governor."""

from types import SimpleNamespace
from typing import Any

import pytest

from services.governor import app
from shared.errors import TransientError


class EnoughError(Exception):
    """Ends the test after enough rounds."""


@pytest.mark.parametrize(
    ("away", "pruned"),
    [
        ({}, [1, 5, 9]),
        ({"redrive": [1]}, [2, 6, 10]),
        ({"end_idle": [1, 2]}, [3, 7]),
        ({"prune_all": [1, 2]}, [3, 7]),
        ({"redrive": [3]}, [1, 5, 9]),
        ({"prune_all": [5]}, [1, 6, 10]),
        ({"erase_aged": [5]}, [1, 5, 6, 10]),
    ],
)
async def test_due_pruning_stays_due_until_it_is_done(
    monkeypatch: pytest.MonkeyPatch, away: dict[str, list[int]], pruned: list[int]
) -> None:
    rounds = 0
    done: list[int] = []

    async def step(name: str) -> None:
        if rounds in away.get(name, ()):
            raise TransientError(f"{name} has no database")

    async def redrive(_: Any) -> None:
        nonlocal rounds
        rounds += 1
        if rounds > 10:
            raise EnoughError
        await step("redrive")

    async def end_idle(_: Any) -> None:
        await step("end_idle")

    async def prune_all(_: Any) -> None:
        await step("prune_all")
        done.append(rounds)

    for each in (redrive, end_idle, prune_all):
        monkeypatch.setattr(app.handler, each.__name__, each)

    async def erase_aged(_: Any) -> None:
        await step("erase_aged")

    monkeypatch.setattr(app.ageing, "erase_aged", erase_aged)
    monkeypatch.setattr(app, "PRUNE_EVERY", 4)
    rt: Any = SimpleNamespace(policy=SimpleNamespace(delivery=SimpleNamespace(redrive_every_s=0, stalled_after_s=1)))
    with pytest.raises(EnoughError):
        await app.build(rt).run()
    assert done == pruned
