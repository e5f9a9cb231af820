"""Conflicting statements side by side; the user decides which one holds."""

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice

MOST = 50


async def show_conflicts(page: ConsolePage) -> Response:
    """Open and settled conflicts."""
    found = (await page.get("/v1/conflicts", state="all", limit=MOST))["conflicts"]
    waiting = [each for each in found if each["state"] == "open"]
    settled = [each for each in found if each["state"] != "open"]
    return page.render("memory/conflicts.html", title=page.tell("conflicts.title"), waiting=waiting, settled=settled)


async def settle(page: ConsolePage) -> Response:
    """Settles a conflict in favour of one side."""
    keep = page.field("keep")
    path = f"/v1/conflicts/{page.part('conflict_id')}"
    await page.write("POST", path, {"keep": keep})
    return page.redirect("/memory/conflicts", Notice("notice.settled"))
