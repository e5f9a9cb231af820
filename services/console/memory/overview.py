"""What is known, in a page that a person likes to read."""

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from schemas.memory_types import MemoryType
from services.console.page import ConsolePage
from shared.fronts.client import Json

MOST = 6
"""So many memories of a type are shown; the list has them all."""
LATEST = 60
CORE: tuple[MemoryType, ...] = ("profile", "constraint", "preference", "goal")
"""What tells most of a person, however long ago it was said."""
SHOWN: tuple[MemoryType, ...] = (*CORE, "task", "decision", "event", "pattern", "case", "note")
"""The types that tell of a person, in the order in which they are read."""


@dataclass(frozen=True)
class MemoryGroup:
    """What is known of one kind, newest first, and whether there is more of it."""

    type: MemoryType
    memories: list[Json]
    is_all: bool


async def show_overview(page: ConsolePage) -> Response:
    """A heading for each kind of memory that there is, and below it what is known."""
    conflicts, latest = await asyncio.gather(page.get("/v1/conflicts", limit=1), page.get("/v1/memories", limit=LATEST))
    by_type: dict[str, list[Json]] = {
        each: [memory for memory in latest["memories"] if memory["type"] == each] for each in SHOWN
    }
    if latest["count"] > LATEST:
        scarce = [each for each in CORE if len(by_type[each]) <= MOST]
        found = await asyncio.gather(*(page.get("/v1/memories", type=each, limit=MOST + 1) for each in scarce))
        by_type |= {type: each["memories"] for type, each in zip(scarce, found, strict=True)}
    return page.render(
        "memory/overview.html",
        title=page.tell("memory.overview"),
        groups=[
            MemoryGroup(each, by_type[each][:MOST], _is_all(each, by_type[each], latest["count"]))
            for each in SHOWN
            if by_type[each]
        ],
        count=latest["count"],
        in_conflict=bool(conflicts["conflicts"]),
    )


def _is_all(type: MemoryType, found: list[Json], count: int) -> bool:
    """Whether nothing of this type is left out: of others than the core the older ones were not looked for."""
    return len(found) <= MOST and (type in CORE or count <= LATEST)
