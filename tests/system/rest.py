"""The state of memory once it no longer changes, and its differences later."""

import asyncio

from tests.system.databases import state
from tests.system.kafka import caught_up
from tests.system.running import System

# a chunk with blanked words gets a new vector within seconds
WITHOUT_VECTOR = "SELECT count(*) FROM memory_chunks WHERE static_model_id IS NULL AND active"


async def at_rest(system: System, *, acknowledged: bool = True) -> dict[str, list[str]]:
    """The state once everything is processed and has been stable for two seconds. Processing may emit events, and
    vectors of a model come last. Without `acknowledged`, an event counts as processed once it has its effects.
    """
    before: dict[str, list[str]] = {}
    for _ in range(30):
        if acknowledged:
            await caught_up(system.bootstrap)
        await system.settled()
        now = state(system.dsn)
        if now == before and not system.number(WITHOUT_VECTOR):
            break
        before = now
        await asyncio.sleep(2)
    return before


def find_changes(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, list[str]]:
    """By table, the rows that were removed and added."""
    return {
        name: [f"- {row}" for row in before[name] if row not in after[name]]
        + [f"+ {row}" for row in after[name] if row not in before[name]]
        for name in before
        if before[name] != after[name]
    }
