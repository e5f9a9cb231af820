"""Repeated statements on a real PostgreSQL: evidence grows within bounds, and a fused memory stays fused."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from schemas.vocabulary import Assertion
from shared import clock
from shared.runtime import Runtime
from shared.store import memory
from tests.integration.evolver.delivery import one_by_one
from tests.integration.evolver.memories import BEGAN, LIN, evolver, figure, row, stand, version
from tests.integration.evolver.scenes import Turn, seen
from tests.system.databases import rows

WORDS = pytest.mark.parametrize("word", ["龙井", "Oslo"], ids=["zh", "en"])


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """An evolver on a new database."""
    async with evolver(dsn) as found:
        yield found


def turn(n: int, word: str, assertion: Assertion) -> Turn:
    """A turn with this statement in a session of its own."""
    at = BEGAN + timedelta(minutes=n)
    turn_id, session = clock.uuid7(), f"s{n}"
    said = seen(turn_id, session, at, 0, "profile", "profile:user:city", word, assertion)
    return Turn(turn_id, session, at, (replace(said, priority="normal"),))


async def find_memory(rt: Runtime, dsn: str, *turns: Turn) -> UUID:
    """The only memory of the turns."""
    await one_by_one(rt, LIN, turns)
    (found,) = rows(dsn, "SELECT memory_id FROM memory_items")
    return found["memory_id"]


@WORDS
@pytest.mark.parametrize("weaker", ["tool", "inferred", "behaviour"])
async def test_only_the_users_own_statement_restores_the_confidence_of_a_memory(
    rt: Runtime, dsn: str, word: str, weaker: Assertion
) -> None:
    memory_id = await find_memory(rt, dsn, turn(0, word, "declared"))
    figure(dsn, memory_id, "fused_at = now(), fused_from = confidence, confidence = 0.1")
    standing = ("confidence", "provenance_class", "assertion", "fused_from")
    before = {name: row(dsn, memory_id)[name] for name in standing}
    await one_by_one(rt, LIN, [turn(1, word, weaker)])
    after = row(dsn, memory_id)
    assert {name: after[name] for name in standing} == before
    assert after["source_sessions"] == ["s0", "s1"]
    (figures,) = rows(
        dsn,
        "SELECT payload #> '{payload,confidence_after}' AS after FROM event_outbox"
        " WHERE type = 'memory.changed' AND payload #>> '{payload,change}' = 'confirmed'",
    )
    assert figures["after"] is None
    await one_by_one(rt, LIN, [turn(2, word, "directive"), turn(3, word, weaker)])
    back = row(dsn, memory_id)
    assert (back["fused_at"], back["provenance_class"]) == (None, "confirmed_by_user")
    assert back["confidence"] >= 0.9 - 1e-6


@pytest.mark.parametrize("begun", [0, 1])
async def test_the_first_and_the_newest_turn_are_kept_as_evidence_once_each(rt: Runtime, dsn: str, begun: int) -> None:
    turns = [clock.uuid7() for _ in range(130)]
    (memory_id,) = await stand(rt, version("Likes tea", source_turns=tuple(turns[:begun])))
    async with rt.db.transaction(LIN) as conn:
        for each in [*turns[begun:], turns[-1], turns[0]]:
            await memory.confirm(
                conn,
                LIN,
                memory_id,
                confidence=0.5,
                provenance_class="observation",
                assertion="declared",
                at=BEGAN,
                session="s",
                turn=each,
            )
    assert row(dsn, memory_id)["source_turns"] == [turns[0], *turns[-99:]]
    assert memory.turns_kept([*turns, turns[3]]) == (turns[0], *turns[-99:])
    assert memory.turns_kept(turns[:2]) == tuple(turns[:2])
    assert memory.turns_kept([]) == ()
