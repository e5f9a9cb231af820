"""Conflicts on a real PostgreSQL stay open until the user decides or the memory ends."""

from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import pytest

from shared import clock
from shared.domain.statements import candidate_id
from shared.runtime import Runtime
from shared.store import observations
from shared.store.observations import OpenConflict, SettledConflict
from tests.integration.evolver.memories import BEGAN, LIN, evolver, jobs, round_of, row, stand, version
from tests.system.databases import rows

SAME = pytest.mark.parametrize(
    "texts",
    [
        ("我周末喜欢去西湖边散步", "周末我喜欢去西湖边散步", "我很喜欢周末去西湖边散步"),
        (
            "I like walking along the river at dawn",
            "At dawn I like walking along the river",
            "I really love walking along the river at dawn",
        ),
    ],
    ids=["zh", "en"],
)
BEFORE, AFTER = BEGAN - timedelta(hours=1), BEGAN + timedelta(hours=1)


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """An evolver on a new database."""
    async with evolver(dsn) as found:
        yield found


async def open_conflict(rt: Runtime, memory_id: UUID) -> None:
    """A statement contradicts the memory."""
    made = candidate_id(memory_id, "against")
    async with rt.db.transaction(LIN) as conn:
        await observations.open_conflicts(
            conn, LIN, [OpenConflict(made, memory_id, clock.uuid7(), "weaker_than_known", BEGAN)]
        )


def states(dsn: str) -> list[str]:
    return [each["state"] for each in rows(dsn, "SELECT state FROM conflicts")]


@SAME
async def test_a_memory_in_an_open_conflict_is_not_merged(rt: Runtime, dsn: str, texts: tuple[str, ...]) -> None:
    ids = await stand(rt, *(version(text, n) for n, text in enumerate(texts)))
    await open_conflict(rt, ids[1])
    await round_of(rt)
    assert (jobs(dsn), states(dsn), row(dsn, ids[1])["status"]) == ([], ["open"], "active")
    async with rt.db.transaction(LIN) as conn:
        await observations.settle_conflicts(conn, LIN, [SettledConflict(ids[1], "kept", AFTER)])
    await round_of(rt)
    assert jobs(dsn) == ["consolidation"]


@pytest.mark.parametrize(
    ("settled", "state"),
    [
        ([("kept", BEFORE)], "open"),
        ([("kept", AFTER)], "kept"),
        ([("replaced", BEFORE)], "replaced"),
        ([("kept", AFTER), ("replaced", BEFORE)], "replaced"),
        ([("kept", BEFORE), ("replaced", AFTER)], "replaced"),
    ],
)
async def test_an_ended_memory_has_no_open_conflict(
    rt: Runtime, dsn: str, settled: list[tuple[Literal["kept", "replaced"], datetime]], state: str
) -> None:
    (memory_id,) = await stand(rt, version("Likes tea"))
    await open_conflict(rt, memory_id)
    async with rt.db.transaction(LIN) as conn:
        await observations.settle_conflicts(conn, LIN, [SettledConflict(memory_id, found, at) for found, at in settled])
    assert states(dsn) == [state]
    assert rows(dsn, "SELECT FROM conflicts WHERE closed_at < opened_at") == []
