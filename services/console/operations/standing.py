"""What each service says of itself."""

from starlette.responses import Response

from services.console.page import ConsolePage


async def show_standing(page: ConsolePage) -> Response:
    """Which services are well, and what is wrong with the others."""
    state = await page.compose.find_state()
    services = state.get("whole", {}).get("services", {})
    shown = {"services": services, "well": not any(services.values())}
    return page.render("operations/standing.html", title=page.tell("operations.title"), **shown)
