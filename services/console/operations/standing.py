"""Problems and backlogs: the first page for operators, which refreshes itself."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from services.console.page import ConsolePage
from shared.fronts.client import Json
from shared.fronts.problems import CallError


async def show_standing(page: ConsolePage) -> Response:
    """Problems first, each with a link to the next step; then the backlogs."""
    values = await _load(page)
    return page.render("operations/standing.html", title=page.tell("operations.title"), **values)


async def show_flow(page: ConsolePage) -> Response:
    """The same as a fragment, which is refreshed every few seconds."""
    return page.render("operations/flow.html", **await _load(page))


async def _load(page: ConsolePage) -> dict[str, Any]:
    flow, alerts, letters = await asyncio.gather(
        page.get_any("/v1/operations/flow", **page.whom),
        page.get_any("/v1/operations/alerts", **page.whom),
        _count_letters(page),
    )
    stages: list[Json] = flow["given_up"]
    return {
        "flow": flow,
        "firing": [each for each in alerts["alerts"] if each["firing"]],
        "calm": [each for each in alerts["alerts"] if not each["firing"]],
        "given_up": max(letters, sum(each["events"] for each in stages)),
        "ways": WAYS,
        "shown": f"?{urlencode({'tenant': page.ask('tenant'), 'user': page.ask('user')})}" if page.whom else "",
    }


async def _count_letters(page: ConsolePage) -> int:
    """The number of open dead letters, including those of quarantined events; None if it is unknown."""
    try:
        found = await page.get_any("/v1/dead-letters", state="open", limit=MOST_LETTERS, **page.whom)
    except CallError:
        return 0
    return len(found["letters"])


MOST_LETTERS = 200
"""The maximum that is counted."""
WAYS = {
    "DeadLetters": "/operations/letters",
    "TurnsWithoutOutcome": "/operations/letters",
    "OutcomeSlow": "/operations/speed",
    "ComposeSlow": "/operations/speed",
    "ComposeDegraded": "/operations/speed",
    "ErasureEscalated": "/operations/erasures",
    "ErasureDueSoon": "/operations/erasures",
    "ErasureCritical": "/operations/erasures",
}
"""The page to open first, by alert."""
