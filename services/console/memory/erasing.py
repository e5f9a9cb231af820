"""Permanent erasure: the confirmation, the progress, and the proof."""

from typing import Any

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice

SCOPES = ("items", "session", "personal", "all")
MOST = 50
CHOSEN_MOST = 200
SHOWN = 10
OVER = ("completed", "failed", "escalated")


async def show_question(page: ConsolePage) -> Response:
    """The data to be erased, with a box to tick."""
    scope, ids = find_scope(page.ask("scope")), page.request.query_params.getlist("id")[:CHOSEN_MOST]
    page.require_scope("erase")
    if scope in ("items", "session") and not ids:
        page.refuse("not_found", "")
    shown = ids[:SHOWN] if scope == "items" else []
    memories = [await page.get(f"/v1/memories/{page.quote(each)}") for each in shown]
    return page.render("memory/erase.html", title=page.tell("erase.title"), scope=scope, ids=ids, memories=memories)


async def erase(page: ConsolePage) -> Response:
    """Requests the erasure and redirects to its progress."""
    scope = find_scope(page.field("scope"))
    if page.field("sure") != "yes":
        page.refuse("invalid_request", page.tell("erase.tick"))
    ids = page.form.get("id", [])
    named: dict[str, Any] = {"items": {"memory_ids": ids}, "session": {"session_ids": ids}}.get(scope, {})
    receipt = await page.post("/v1/erasures", {"scope": scope, **named})
    return page.redirect(f"/memory/erasures/{receipt['tombstone_id']}", Notice("notice.erasing"))


async def show_erasures(page: ConsolePage) -> Response:
    """The erasures, newest first, and the form to erase everything."""
    found = (await page.get("/v1/erasures", limit=MOST))["erasures"]
    return page.render("memory/erasures.html", title=page.tell("erasures.title"), erasures=found)


async def show_erasure(page: ConsolePage) -> Response:
    """The progress by store, refreshed until it is completed; then the proof."""
    erasure = await page.get(f"/v1/erasures/{page.part('tombstone_id')}")
    steps = erasure["steps"]
    done = sum(1 for each in steps if each["done_at"])
    shown: dict[str, Any] = {
        "erasure": erasure,
        "done": done,
        "count": max(len(steps), 1),
        "over": erasure["status"] in OVER,
    }
    template = "memory/progress.html" if page.is_part else "memory/erasure.html"
    return page.render(template, title=page.tell("erasure.title"), **shown)


def find_scope(asked: str) -> str:
    """The scope; `items` if the value is not a scope."""
    return asked if asked in SCOPES else "items"
