"""Verdicts on a memory: right, wrong, not useful, never again, and the end of the last."""

from typing import get_args

from starlette.responses import Response

from schemas.vocabulary import FeedbackVerdict
from services.console.page import ConsolePage
from services.console.sessions import Notice

VERDICTS: tuple[FeedbackVerdict, ...] = get_args(FeedbackVerdict)
UNDONE_BY = {"wrong": "restore", "never_again": "bring-up"}
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
    undo = f"/memory/one/{memory_id}/{UNDONE_BY[verdict]}" if verdict in UNDONE_BY and receipt["settled"] else None
    return page.redirect(back, Notice(f"notice.judged.{verdict}", {}, undo))


async def bring_up(page: ConsolePage) -> Response:
    """Ends a `never_again`."""
    memory_id = page.part("memory_id")
    await page.write("DELETE", f"/v1/feedback/{memory_id}")
    return page.redirect(f"/memory/one/{memory_id}", Notice("notice.brought_up"))
