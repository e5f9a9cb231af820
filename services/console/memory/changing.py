"""Changes of memories: remember, edit, pin, retract, restore; each offers an undo."""

from uuid import uuid4

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice

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
