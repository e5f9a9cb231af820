"""Changes of memories: remember, edit, pin, retract, restore, merge, judge, settle a conflict; with their undo."""

import asyncio
from typing import get_args
from uuid import uuid4

from starlette.responses import Response

from schemas.turn_events import MERGED_MOST
from schemas.vocabulary import FeedbackVerdict
from services.console.page import ConsolePage
from services.console.sessions import Notice
from shared.fronts.client import Json

CHOSEN_MOST = 100
UNDONE_BY = {"forget": "restore", "restore": "", "pin": "unpin", "unpin": "pin"}
"""Actions on several memories, and the action that undoes each."""
SHORT = 60


async def remember(page: ConsolePage) -> Response:
    """Remembers the text, or shows why not."""
    text = page.field("text")
    if not text:
        page.refuse("invalid_request", page.tell("memory.write_something"))
    body = {"text": text, "idempotency_key": page.field("once") or uuid4().hex}
    receipt = await page.settle(await page.post("/v1/memories", body))
    memory_id = receipt["memory_id"]
    if receipt["status"] == "rejected" or not memory_id:
        return page.redirect("/memory", Notice("notice.rejected"))
    message = {"merged": "notice.merged"}.get(receipt["status"], "notice.remembered")
    undo = f"/memory/one/{memory_id}/take-back" if message == "notice.remembered" and receipt["settled"] else None
    return page.redirect("/memory", Notice(message, {"text": shorten(text)}, undo))


async def edit(page: ConsolePage) -> Response:
    """Gives the memory a new version with the text; the old one can be restored."""
    memory_id, text = page.part("memory_id"), page.field("text")
    if not text:
        page.refuse("invalid_request", page.tell("memory.write_something"))
    receipt = await page.write("PATCH", f"/v1/memories/{memory_id}", {"text": text})
    if receipt["status"] == "rejected":
        return page.redirect(f"/memory/one/{memory_id}", Notice("notice.rejected"))
    left = receipt["memory_id"] if receipt["settled"] and receipt["memory_id"] else memory_id
    undo = f"/memory/one/{memory_id}/restore" if receipt["settled"] else None
    return page.redirect(f"/memory/one/{left}", Notice("notice.edited", {}, undo))


async def take_back(page: ConsolePage) -> Response:
    """Retracts the memory; its history stays, and it can be restored."""
    memory_id = page.part("memory_id")
    receipt = await page.write("DELETE", f"/v1/memories/{memory_id}")
    undo = f"/memory/one/{memory_id}/restore" if receipt["settled"] else None
    return page.redirect(f"/memory/one/{memory_id}", Notice("notice.taken_back", {}, undo))


async def restore(page: ConsolePage) -> Response:
    """Restores an older version."""
    memory_id = page.part("memory_id")
    receipt = await page.write("POST", f"/v1/memories/{memory_id}/restore")
    left = receipt["memory_id"] if receipt["settled"] and receipt["memory_id"] else memory_id
    return page.redirect(f"/memory/one/{left}", Notice("notice.restored"))


async def change_chosen(page: ConsolePage) -> Response:
    """Changes the selected memories, or asks first if they are to be merged or erased."""
    chosen = page.form.get("memory_id", [])[:CHOSEN_MOST]
    back, action = page.field("back") or "/memory/facts", page.field("action")
    if not chosen:
        return page.redirect(find_own(back), Notice("notice.none_chosen"))
    if action == "erase":
        return page.redirect(f"/memory/erase?scope=items&id={'&id='.join(map(page.quote, chosen))}")
    if action == "merge":
        return page.redirect(f"/memory/merge?back={page.quote(back)}&id={'&id='.join(map(page.quote, chosen))}")
    if action not in UNDONE_BY:
        page.refuse("invalid_request", "action")
    changed = await change_all(page, chosen, action)
    undo = {"action": UNDONE_BY[action], "back": back} if UNDONE_BY[action] and changed else {}
    path = "/memory/chosen" if undo else None
    told = Notice(f"notice.chosen.{action}", {"count": str(len(changed))}, path, undo, tuple(changed))
    return page.redirect(find_own(back), told)


async def pin(page: ConsolePage) -> Response:
    """Pins the memory."""
    memory_id = page.part("memory_id")
    await page.write("PUT", f"/v1/memories/{memory_id}/pin")
    undo = f"/memory/one/{memory_id}/unpin"
    return page.redirect(f"/memory/one/{memory_id}", Notice("notice.pinned", {}, undo))


async def unpin(page: ConsolePage) -> Response:
    """Unpins the memory."""
    memory_id = page.part("memory_id")
    await page.write("DELETE", f"/v1/memories/{memory_id}/pin")
    return page.redirect(f"/memory/one/{memory_id}", Notice("notice.unpinned"))


async def change_all(page: ConsolePage, chosen: list[str], action: str) -> list[str]:
    """The selected memories that were changed; a missing or meanwhile changed one does not stop the others."""
    receipt = await page.change("POST", "/v1/memories/bulk", {"action": action, "memory_ids": chosen})
    if receipt["receipt_id"]:
        await page.settle({"receipt_id": receipt["receipt_id"], "settled": False})
    return receipt["accepted"]


def find_own(path: str) -> str:
    """A page of this area, never of another server."""
    return path if path.startswith("/memory") and path.isprintable() and "\\" not in path else "/memory"


def shorten(text: str) -> str:
    """The beginning of the text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}…"


CONFLICTS_MOST = 50


async def show_conflicts(page: ConsolePage) -> Response:
    """Open and settled conflicts."""
    found = (await page.get("/v1/conflicts", state="all", limit=CONFLICTS_MOST))["conflicts"]
    waiting = [each for each in found if each["state"] == "open"]
    settled = [each for each in found if each["state"] != "open"]
    return page.render("memory/conflicts.html", title=page.tell("conflicts.title"), waiting=waiting, settled=settled)


async def settle(page: ConsolePage) -> Response:
    """Settles a conflict in favour of one side."""
    keep = page.field("keep")
    path = f"/v1/conflicts/{page.part('conflict_id')}"
    await page.write("POST", path, {"keep": keep})
    return page.redirect("/memory/conflicts", Notice("notice.settled"))


VERDICTS: tuple[FeedbackVerdict, ...] = get_args(FeedbackVerdict)
VERDICT_UNDONE_BY = {"wrong": "restore", "never_again": "bring-up"}
"""The verdicts that can be undone, and the page that does it."""


async def judge(page: ConsolePage) -> Response:
    """Records the verdict and shows its effect."""
    memory_id, verdict = page.part("memory_id"), page.field("verdict")
    if verdict not in VERDICTS:
        page.refuse("invalid_request", "verdict")
    seen_in = {"context_id": page.field("context_id")} if page.field("context_id") else {}
    said = {"memory_id": page.request.path_params["memory_id"], "verdict": verdict, **seen_in}
    receipt = await page.settle(await page.post("/v1/feedback", said))
    left = receipt["memory_id"] if receipt["settled"] and receipt["memory_id"] else memory_id
    back = f"/explain/packages/{page.quote(seen_in['context_id'])}" if seen_in else f"/memory/one/{left}"
    if receipt["status"] == "rejected":
        return page.redirect(back, Notice("notice.no_change"))
    undo = (
        f"/memory/one/{memory_id}/{VERDICT_UNDONE_BY[verdict]}"
        if verdict in VERDICT_UNDONE_BY and receipt["settled"]
        else None
    )
    return page.redirect(back, Notice(f"notice.judged.{verdict}", {}, undo))


async def bring_up(page: ConsolePage) -> Response:
    """Ends a `never_again`."""
    memory_id = page.part("memory_id")
    await page.write("DELETE", f"/v1/feedback/{memory_id}")
    return page.redirect(f"/memory/one/{memory_id}", Notice("notice.brought_up"))


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
