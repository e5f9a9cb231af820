"""The overview of memories."""

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from schemas.memory_types import MemoryType
from services.console.page import ConsolePage
from shared.fronts.client import Json

MOST = 6
"""Number of memories shown per type; the list has all of them."""
LATEST = 60
CORE: tuple[MemoryType, ...] = ("profile", "constraint", "preference", "goal")
"""Types that describe a person, independent of age."""
SHOWN: tuple[MemoryType, ...] = (*CORE, "task", "decision", "event", "pattern", "case", "note")
"""The types of the overview, in their order."""


@dataclass(frozen=True)
class MemoryGroup:
    """Memories of one kind, newest first, and whether there are more."""

    type: MemoryType
    memories: list[Json]
    is_all: bool


async def show_overview(page: ConsolePage) -> Response:
    """The memories under a heading for each kind."""
    conflicts, latest = await asyncio.gather(page.get("/v1/conflicts", limit=1), page.get("/v1/memories", limit=LATEST))
    by_type: dict[str, list[Json]] = {
        each: [memory for memory in latest["memories"] if memory["type"] == each] for each in SHOWN
    }
    if latest["count"] > LATEST:
        scarce = [each for each in CORE if len(by_type[each]) <= MOST]
        listed = await asyncio.gather(*(page.get("/v1/memories", type=each, limit=MOST + 1) for each in scarce))
        by_type |= {type: each["memories"] for type, each in zip(scarce, listed, strict=True)}
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
    """Whether all memories of this type are shown; for types outside core memory older ones were not loaded."""
    return len(found) <= MOST and (type in CORE or count <= LATEST)
