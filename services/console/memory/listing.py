"""Memories to read: the overview, lists that can be changed together, search, the timeline, and one memory."""

import asyncio
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from starlette.responses import Response

from schemas.memory_types import MemoryType
from services.console.page import ConsolePage, turn_pages
from shared.fronts.client import Json

MOST = 50
FOUND_MOST = 30
NOTHING: Json = {"memories": [], "count": 0}
STATES = ("active", "retracted", "superseded", "merged", "expired", "all")
TYPES: tuple[MemoryType, ...] = get_args(MemoryType)


async def show_facts(page: ConsolePage) -> Response:
    """Memories of one type or all, newest first, with or without past ones."""
    state = page.ask("status", "active")
    type_name = page.ask("type")
    wanted = {"type": type_name} if type_name in TYPES else {}
    first = page.ask_number("offset", 0, 100_000)
    state = state if state in STATES else "active"
    listed = await page.get("/v1/memories", status=state, limit=MOST, offset=first, **wanted)
    return page.render(
        "memory/facts.html",
        title=page.tell("memory.facts"),
        memories=listed["memories"],
        states=STATES,
        state=state,
        types=TYPES,
        type=wanted.get("type", ""),
        turning=turn_pages(page, first, MOST, listed["count"]),
    )


async def show_notes(page: ConsolePage) -> Response:
    """Dictated notes, newest first."""
    first = page.ask_number("offset", 0, 100_000)
    listed = await page.get("/v1/memories", type="note", limit=MOST, offset=first)
    return page.render(
        "memory/notes.html",
        title=page.tell("memory.notes"),
        memories=listed["memories"],
        turning=turn_pages(page, first, MOST, listed["count"]),
    )


async def show_search(page: ConsolePage) -> Response:
    """The search results, the best first; only the list if a script requests it while the user types."""
    words = page.ask("q").strip()[:2000]
    found: Json = await page.get("/v1/memories", query=words, limit=FOUND_MOST) if words else NOTHING
    template = "memory/found.html" if page.is_part else "memory/search.html"
    title = page.tell("memory.search")
    return page.render(template, title=title, words=words, memories=found["memories"], count=found["count"])


SHOWN_EACH = 6
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
        scarce = [each for each in CORE if len(by_type[each]) <= SHOWN_EACH]
        listed = await asyncio.gather(*(page.get("/v1/memories", type=each, limit=SHOWN_EACH + 1) for each in scarce))
        by_type |= {type: each["memories"] for type, each in zip(scarce, listed, strict=True)}
    return page.render(
        "memory/overview.html",
        title=page.tell("memory.overview"),
        groups=[
            MemoryGroup(each, by_type[each][:SHOWN_EACH], _is_all(each, by_type[each], latest["count"]))
            for each in SHOWN
            if by_type[each]
        ],
        count=latest["count"],
        in_conflict=bool(conflicts["conflicts"]),
    )


def _is_all(type: MemoryType, found: list[Json], count: int) -> bool:
    """Whether all memories of this type are shown; for types outside core memory older ones were not loaded."""
    return len(found) <= SHOWN_EACH and (type in CORE or count <= LATEST)


async def show_timeline(page: ConsolePage) -> Response:
    """All changes by day, newest first."""
    first = page.ask_number("offset", 0, 100_000)
    changes = (await page.get("/v1/changes", limit=MOST + 1, offset=first))["changes"]
    days = [(day, list(each)) for day, each in groupby(changes[:MOST], lambda change: page.tell_day(change["at"]))]
    turning = turn_pages(page, first, MOST, first + len(changes))
    return page.render("memory/timeline.html", title=page.tell("timeline.title"), days=days, turning=turning)


USES_MOST = 5
"""Number of packages listed here; the page of its uses has more."""


async def show_memory(page: ConsolePage) -> Response:
    """The memory with its versions, newest first, their source words, and its newest uses."""
    memory_id = page.part("memory_id")
    line, uses = await asyncio.gather(
        page.get(f"/v1/memories/{memory_id}/history"), page.get(f"/v1/memories/{memory_id}/uses", limit=USES_MOST)
    )
    history = line["memories"]
    memory = next((each for each in history if each["memory_id"] == memory_id), history[-1])
    newest = history[-1]
    return page.render(
        "memory/one.html",
        title=page.tell("memory.one"),
        memory=memory,
        newest=newest if newest["memory_id"] != memory["memory_id"] and newest["status"] == "active" else None,
        uses=uses["uses"],
        versions=list(reversed(history)),
        open_conflicts=[each for each in memory["conflicts"] if each["state"] == "open"],
        can_restore=memory["status"] in ("retracted", "superseded", "expired", "candidate_evict"),
        technical=tell_technical(memory),
    )


def tell_technical(memory: Json) -> list[tuple[str, str]]:
    """Technical details."""
    names = ("memory_id", "type", "key", "version", "status", "assertion", "epistemic_type", "confidence", "valid_at")
    made_by = {f"provenance.{name}": memory["provenance"].get(name) for name in ("detector", "pattern", "turn_id")}
    told = {**{name: memory[name] for name in names}, **made_by}
    return [(name, str(value)) for name, value in told.items() if value is not None]
