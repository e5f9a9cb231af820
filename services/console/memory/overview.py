"""What is known, in a page that a person likes to read."""

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from schemas.memory_types import MemoryType
from services.console.page import ConsolePage
from shared.fronts.client import Json

MOST = 6
"""So many memories of a type are shown; the list has them all."""
SHOWN: tuple[MemoryType, ...] = (
    "profile",
    "constraint",
    "preference",
    "goal",
    "task",
    "decision",
    "event",
    "pattern",
    "case",
    "note",
)
"""The types that tell of a person, in the order in which they are read."""


@dataclass(frozen=True)
class MemoryGroup:
    """What is known of one kind, newest first, and how much there is of it."""

    type: MemoryType
    memories: list[Json]
    count: int


async def show_overview(page: ConsolePage) -> Response:
    """A heading for each kind of memory that there is, and below it what is known."""
    conflicts, *found = await asyncio.gather(
        page.get("/v1/conflicts", limit=1),
        *(page.get("/v1/memories", type=each, limit=MOST) for each in SHOWN),
    )
    pairs = zip(SHOWN, found, strict=True)
    groups = [MemoryGroup(type, each["memories"], each["count"]) for type, each in pairs if each["memories"]]
    return page.render(
        "memory/overview.html",
        title=page.tell("memory.overview"),
        groups=groups,
        count=sum(each.count for each in groups),
        in_conflict=bool(conflicts["conflicts"]),
    )
