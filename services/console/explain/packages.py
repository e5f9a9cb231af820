"""The packages of a user, newest first."""

from starlette.responses import Response

from services.console.page import ConsolePage

MOST = 50


async def show_packages(page: ConsolePage) -> Response:
    """The time and session of each package."""
    found = await page.get("/v1/contexts", limit=MOST)
    return page.render("explain/packages.html", title=page.tell("explain.title"), packages=found["contexts"])
