"""Reduces receipts of erased data to figures. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

FIGURES = frozenset(
    {
        "latency_ms",
        "selected_count",
        "threshold",
        "budget_exceeded",
        "token_budget",
        "policy_version",
        "degraded_reason",
        "reranked",
        "intent",
        "planner",
        "stores_used",
        "modes",
    }
)
"""The fields of a receipt that may stay unchanged: numbers, reasons and names of ours."""
LISTS = ("candidates", "decisions")
ERASED = "erased"


def figures(details: Mapping[str, Any]) -> dict[str, Any]:
    """The receipt as statistics: counts and durations, without ids."""
    reduced = {name: details[name] for name in sorted(FIGURES & details.keys())}
    for name in LISTS:
        if isinstance(details.get(name), list):
            reduced[f"{name}_count"] = len(details[name])
    counts: dict[str, int] = {}
    for each in details.get("decisions") or ():
        reason = "injected" if each.get("decision") == "injected" else str(each.get("decision_reason"))
        counts[reason] = counts.get(reason, 0) + 1
    return {**reduced, **({"counts": counts} if counts else {}), ERASED: True}


def without(details: Mapping[str, Any], ids: Collection[str]) -> dict[str, Any] | None:
    """The receipt without these ids; None if it did not contain them."""
    changed = {
        name: [strip_entry(each) if _names(each, ids) else each for each in details[name]]
        for name in LISTS
        if isinstance(details.get(name), list) and any(_names(each, ids) for each in details[name])
    }
    return {**details, **changed} if changed else None


def _names(value: Any, ids: Collection[str]) -> bool:
    """Whether any text in the value contains one of the ids, alone or within an address or a key."""
    if isinstance(value, str):
        return value in ids or any(part in ids for part in value.replace("/", ":").split(":"))
    if isinstance(value, Mapping):
        return any(_names(each, ids) for each in value.values())  # pyright: ignore[reportUnknownVariableType] # JSON
    return isinstance(value, list) and any(_names(each, ids) for each in value)  # pyright: ignore[reportUnknownVariableType] # JSON


def strip_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("kind", "decision", "decision_reason", "sanitization_result", "tokens", "rrf", "support", "probability")
    return {"id": ERASED, **{name: entry[name] for name in kept if name in entry}}
