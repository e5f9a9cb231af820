"""Merging memories: the user chooses the one to keep; restoring one of the others undoes the merge."""

import asyncio

from starlette.responses import Response

from schemas.turn_events import MERGED_MOST
from services.console.memory.changing import find_own
from services.console.page import ConsolePage
from services.console.sessions import Notice
from shared.fronts.client import Json

LEAST = 2


async def show_choice(page: ConsolePage) -> Response:
    """The selected memories, with the choice of the one to keep and its text."""
    page.require_scope("write")
    ids = list(dict.fromkeys(page.request.query_params.getlist("id")))
    if not LEAST <= len(ids) <= MERGED_MOST + 1:
        told = Notice("notice.merge_several", {"most": str(MERGED_MOST + 1)})
        return page.redirect(find_own(page.ask("back")), told)
    memories: list[Json] = await asyncio.gather(*(page.get(f"/v1/memories/{page.quote(each)}") for each in ids))
    return page.render("memory/merge.html", title=page.tell("merge.title"), memories=memories)


async def merge(page: ConsolePage) -> Response:
    """Merges the selected memories and shows the result."""
    keep, words = page.field("keep"), page.field("text")
    others = [each for each in dict.fromkeys(page.form.get("memory_id", [])) if each != keep]
    if not keep or not others:
        page.refuse("invalid_request", page.tell("merge.which"))
    body = {"keep": keep, "others": others, **({"content": words} if words else {})}
    receipt = await page.write("POST", "/v1/memories/merge", body)
    if receipt["status"] == "rejected":
        return page.redirect("/memory/facts", Notice("notice.no_change"))
    left = receipt["memory_id"] if receipt["settled"] and receipt["memory_id"] else keep
    undo = "/memory/chosen" if receipt["settled"] else None
    parting = {"action": "restore", "back": "/memory/facts"}
    notice = Notice("notice.made_one", {"count": str(len(others) + 1)}, undo, parting, tuple(others))
    return page.redirect(f"/memory/one/{page.quote(left)}", notice)
