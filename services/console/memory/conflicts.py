"""What was said against what is known, side by side; the user says which holds."""

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice
from shared.fronts.writing import await_settled

MOST = 50


async def show_conflicts(page: ConsolePage) -> Response:
    """Those that wait, and those that were settled."""
    found = (await page.get("/v1/conflicts", state="all", limit=MOST))["conflicts"]
    waiting = [each for each in found if each["state"] == "open"]
    settled = [each for each in found if each["state"] != "open"]
    return page.render("memory/conflicts.html", title=page.tell("conflicts.title"), waiting=waiting, settled=settled)


async def settle(page: ConsolePage) -> Response:
    """One side holds from now on."""
    keep = page.field("keep")
    path = f"/v1/conflicts/{page.part('conflict_id')}"
    await await_settled(page.compose, page.caller, await page.change("POST", path, {"keep": keep}))
    return page.redirect("/memory/conflicts", Notice("notice.settled"))
