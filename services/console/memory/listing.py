"""Lists of memories: facts, notes, what a search finds; what is chosen there can be changed together."""

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
    """What is known, of one type or of all, newest first; of now, or of the past too."""
    state = page.ask("status", "active")
    type_name = page.ask("type")
    wanted = {"type": type_name} if type_name in TYPES else {}
    first = page.ask_number("offset", 0, 100_000)
    state = state if state in STATES else "active"
    found = await page.get("/v1/memories", status=state, limit=MOST, offset=first, **wanted)
    return page.render(
        "memory/facts.html",
        title=page.tell("memory.facts"),
        memories=found["memories"],
        states=STATES,
        state=state,
        types=TYPES,
        type=wanted.get("type", ""),
        turning=turn_pages(page, first, MOST, found["count"]),
    )


async def show_notes(page: ConsolePage) -> Response:
    """What was dictated, newest first."""
    first = page.ask_number("offset", 0, 100_000)
    found = await page.get("/v1/memories", type="note", limit=MOST, offset=first)
    return page.render(
        "memory/notes.html",
        title=page.tell("memory.notes"),
        memories=found["memories"],
        turning=turn_pages(page, first, MOST, found["count"]),
    )


async def show_search(page: ConsolePage) -> Response:
    """What the words find, the best first; the list alone where a script asks while somebody writes."""
    words = page.ask("q").strip()[:2000]
    found: Json = await page.get("/v1/memories", query=words, limit=FOUND_MOST) if words else NOTHING
    template = "memory/found.html" if page.is_part else "memory/search.html"
    title = page.tell("memory.search")
    return page.render(template, title=title, words=words, memories=found["memories"], count=found["count"])
