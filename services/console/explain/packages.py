"""Stored packages, and one: as the model got it, why each candidate is in it or not, and what it would be now."""

from typing import Any

from starlette.responses import Response

from services.console.explain.asking import with_pictures
from services.console.page import ConsolePage
from services.console.rules.plots import divide
from shared.fronts.client import Json
from shared.fronts.problems import CallError


async def show_package(page: ConsolePage) -> Response:
    """The stored package with its receipts; only the receipts if the package is no longer stored."""
    context_id = page.quote(page.request.path_params["context_id"])
    receipt = await page.get(f"/v1/receipts/{context_id}", lang=page.language)
    package, messages = await _find_package(page, context_id)
    used: dict[str, Any] = package["constraints"]["token_budget"]["slots"] if package else {}
    limit = package["constraints"]["token_budget"]["limit"] if package else 0
    return page.render(
        "explain/package.html",
        title=page.tell("explain.package"),
        receipt=receipt,
        package=package,
        messages=messages,
        budget_bar=divide(used, limit),
        limit=limit,
    )


async def _find_package(page: ConsolePage, context_id: str) -> tuple[Json | None, list[Json]]:
    try:
        package = await page.get(f"/v1/contexts/{context_id}")
        messages = await page.get(f"/v1/contexts/{context_id}/messages")
    except CallError as problem:
        if problem.code not in ("not_found", "erased"):
            raise
        return None, []
    return package, messages["messages"]


async def show_uses(page: ConsolePage) -> Response:
    """The packages that contained a memory, with their messages and reception."""
    memory_id = page.quote(page.request.path_params["memory_id"])
    memory = await page.get(f"/v1/memories/{memory_id}")
    uses = await page.get(f"/v1/memories/{memory_id}/uses")
    return page.render("explain/uses.html", title=page.tell("explain.uses"), memory=memory, uses=uses["uses"])


async def show_replay(page: ConsolePage) -> Response:
    """The package for the same request now, and the difference."""
    context_id = page.quote(page.request.path_params["context_id"])
    replay = await page.change("POST", f"/v1/contexts/{context_id}/replay?lang={page.language}")
    return page.render(
        "explain/replay.html",
        title=page.tell("explain.replay"),
        replay=replay,
        explanation_now=with_pictures(replay["explanation"]),
    )


MOST = 50


async def show_packages(page: ConsolePage) -> Response:
    """The time and session of each package."""
    found = await page.get("/v1/contexts", limit=MOST)
    return page.render("explain/packages.html", title=page.tell("explain.title"), packages=found["contexts"])
