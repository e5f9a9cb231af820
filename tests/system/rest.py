"""All that is known, once nothing of it changes any more, and what is different in it later."""

import asyncio

from tests.system.databases import state
from tests.system.kafka import caught_up
from tests.system.running import System

# a chunk whose words were blanked gets its vector anew within seconds
WITHOUT_VECTOR = "SELECT count(*) FROM memory_chunks WHERE static_model_id IS NULL AND active"


async def at_rest(system: System, *, acknowledged: bool = True) -> dict[str, list[str]]:
    """The state once everything is read and recorded and has been the same for two seconds: what is read last may leave
    events of its own, and vectors of a model come after the rest. Without `acknowledged`, read is what has its effects.
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
    """Of each table that is not as it was, the rows that went and the rows that came."""
    return {
        name: [f"- {row}" for row in before[name] if row not in after[name]]
        + [f"+ {row}" for row in after[name] if row not in before[name]]
        for name in before
        if before[name] != after[name]
    }
