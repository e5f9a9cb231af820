"""Lists of memories: facts, notes, search results; selected ones can be changed together."""

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
