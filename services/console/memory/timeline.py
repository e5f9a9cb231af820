"""What was learnt and what ended, day by day."""

from itertools import groupby

from starlette.responses import Response

from services.console.page import ConsolePage, turn_pages

MOST = 60


async def show_timeline(page: ConsolePage) -> Response:
    """Every version by the day on which it was learnt, the newest first."""
    first = page.ask_number("offset", 0, 100_000)
    found = await page.get("/v1/memories", status="all", limit=MOST, offset=first)
    versions = found["memories"]
    days = [(day, list(each)) for day, each in groupby(versions, lambda version: page.tell_day(version["valid_at"]))]
    turning = turn_pages(page, first, MOST, found["count"])
    return page.render("memory/timeline.html", title=page.tell("timeline.title"), days=days, turning=turning)
