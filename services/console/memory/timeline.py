"""The timeline: learnt, changed and ended memories, day by day."""

from itertools import groupby

from starlette.responses import Response

from services.console.page import ConsolePage, turn_pages

MOST = 50


async def show_timeline(page: ConsolePage) -> Response:
    """All changes by day, newest first."""
    first = page.ask_number("offset", 0, 100_000)
    changes = (await page.get("/v1/changes", limit=MOST + 1, offset=first))["changes"]
    days = [(day, list(each)) for day, each in groupby(changes[:MOST], lambda change: page.tell_day(change["at"]))]
    turning = turn_pages(page, first, MOST, first + len(changes))
    return page.render("memory/timeline.html", title=page.tell("timeline.title"), days=days, turning=turning)
