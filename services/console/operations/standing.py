"""What is stuck, and what waits where: the first page of whoever operates the house, which renews itself."""

import asyncio
from typing import Any

from starlette.responses import Response

from services.console.operations.whom import find_whom
from services.console.page import ConsolePage
from shared.fronts.client import Json


async def show_standing(page: ConsolePage) -> Response:
    """What is wrong first, each with where to go on; then what waits where."""
    values = await _load(page)
    return page.render("operations/standing.html", title=page.tell("operations.title"), **values)


async def show_flow(page: ConsolePage) -> Response:
    """The same without what stands around it: asked for every few seconds."""
    return page.render("operations/flow.html", **await _load(page))


async def _load(page: ConsolePage) -> dict[str, Any]:
    whom = find_whom(page)
    flow, alerts = await asyncio.gather(
        page.get_any("/v1/operations/flow", **whom), page.get_any("/v1/operations/alerts", **whom)
    )
    stages: list[Json] = flow["given_up"]
    return {
        "flow": flow,
        "firing": [each for each in alerts["alerts"] if each["firing"]],
        "calm": [each for each in alerts["alerts"] if not each["firing"]],
        "given_up": sum(each["events"] for each in stages),
        "ways": WAYS,
        "whom": whom,
        "shown": f"?tenant={page.ask('tenant')}&user={page.ask('user')}" if whom else "",
    }


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
"""Where to look first, by alert."""
