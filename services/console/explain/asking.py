"""Explains the package for a message, under one policy or two side by side."""

import json
from collections.abc import Mapping
from typing import Any, cast

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.rules.plots import divide
from shared.fronts.client import Json

SESSION = "explain"
"""The session for a trial without a named session: an empty one."""
EXAMPLE = '{"compose": {"evidence_max": 4}}'


async def show_asking(page: ConsolePage) -> Response:
    """The form, with the message of the address if it names one."""
    form = {name: page.ask(name) for name in ("message", "session", "policy", "other")}
    return _render(page, form, [])


async def explain_message(page: ConsolePage) -> Response:
    """The package for the message, and the one under the second policy, if given."""
    form = {name: page.field(name) for name in ("message", "session", "policy", "other")}
    if not form["message"]:
        page.refuse("invalid_request", page.tell("explain.message.missing"))
    policies = [_read_policy(page, form["policy"])]
    if form["other"]:
        policies.append(_read_policy(page, form["other"]))
    tried = [await _explain(page, form, policy) for policy in policies]
    return _render(page, form, tried)


def _render(page: ConsolePage, form: Mapping[str, str], tried: list[Json]) -> Response:
    return page.render(
        "explain/asking.html",
        title=page.tell("explain.ask"),
        form=form,
        tried=[with_pictures(each) for each in tried],
        example=EXAMPLE,
    )


async def _explain(page: ConsolePage, form: Mapping[str, str], policy: Mapping[str, Any]) -> Json:
    body = {"session_id": form["session"] or SESSION, "user_message": form["message"], "policy": policy}
    return await page.post(f"/v1/explain?lang={page.language}", body)


def _read_policy(page: ConsolePage, text: str) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        policy = json.loads(text)
    except json.JSONDecodeError as error:
        page.refuse("invalid_request", page.tell("explain.policy.unread", why=str(error)))
    if not isinstance(policy, dict):
        page.refuse("invalid_request", page.tell("explain.policy.unread", why=text[:80]))
    return cast("Mapping[str, Any]", policy)


def with_pictures(explanation: Json) -> Json:
    """The explanation with its budget and its times as pieces of a bar, and its candidates by arm."""
    budget: Json = explanation["budget"]
    used = {each["section"]: each["used"] for each in budget["sections"] if each["section"] != "generation"}
    times = {each["step"]: each["took_ms"] for each in explanation["steps"]}
    rows = [{**each, "by_arm": {score["arm"]: score for score in each["scores"]}} for each in explanation["candidates"]]
    return {
        **explanation,
        "candidates": rows,
        "budget_bar": divide(used, budget["limit"]),
        "time_bar": divide(times, explanation["took_ms"]),
    }
