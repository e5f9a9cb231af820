"""What is known, in a page that a person likes to read."""

from starlette.responses import Response

from schemas.memory_types import ROWS
from services.console.page import ConsolePage
from shared.fronts.client import Json

MOST = 200


async def show_overview(page: ConsolePage) -> Response:
    """A heading for each type of memory that there is, and below it what is known."""
    found = await page.get("/v1/memories", limit=MOST)
    groups = group_memories(page, found["memories"])
    return page.render(
        "memory/overview.html", title=page.tell("memory.overview"), groups=groups, count=found["count"], most=MOST
    )


def group_memories(page: ConsolePage, memories: list[Json]) -> list[tuple[str, list[Json]]]:
    """The memories of each type under its title, in the order in which a person reads them."""
    titles = {row.type: row.title_zh if page.language == "zh" else row.title_en for row in ROWS}
    groups = ((titles[row.type], [each for each in memories if each["type"] == row.type]) for row in ROWS)
    return [(title, group) for title, group in groups if group]
