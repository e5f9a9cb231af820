"""Proportions and their confidence bounds from counted receipts. Pure."""

from collections.abc import Mapping
from typing import Any

Z = 1.96
"""The z-value of the interval that contains the true proportion with 95 %."""
Figures = dict[str, Any]


def interval(hits: int, of: int) -> tuple[float, float]:
    """Wilson's bounds of the proportion of `hits`; wide for few samples."""
    if of == 0:
        return 0.0, 1.0
    share, n = hits / of, Z * Z / of
    middle, half = share + n / 2, Z * ((share * (1 - share) + n / 4) / of) ** 0.5
    return round(max((middle - half) / (1 + n), 0.0), 4), round(min((middle + half) / (1 + n), 1.0), 4)


def bound_share(low: float, high: float, cap: float) -> float:
    """The confidence of a proportion with these bounds; never above the cap of analysed statements."""
    return round(min(1 - (high - low), cap), 4)


def of_tool(whole: Mapping[str, int], parts: Mapping[str, Mapping[str, int]], least_calls: int) -> Figures | None:
    """The experience of a tool, in total and for each intent with enough calls; None without completed calls."""
    figures = _tool(whole)
    if not figures["calls"]:
        return None
    by_intent = {intent: _tool(counts) for intent, counts in sorted(parts.items())}
    told = {intent: found for intent, found in by_intent.items() if found["calls"] >= least_calls}
    return {**figures, "by_intent": told}


def _tool(counts: Mapping[str, int]) -> Figures:
    calls = counts["succeeded"] + counts["errors"]
    low, high = interval(counts["succeeded"], calls)
    share = round(counts["succeeded"] / calls, 4) if calls else 0.0
    shown = {name: counts[name] for name in ("errors", "pending", "users")}
    return {"calls": calls, **shown, "share": share, "low": low, "high": high}


def of_retrieval(counts: Mapping[str, int]) -> Figures:
    """The number of packages whose memories were used in answers, and how many of those answers
    were corrected or confirmed.
    """
    low, high = interval(counts["utilized"], counts["packages"])
    corrected_low, _ = interval(counts["corrected"], counts["utilized"])
    share = round(counts["utilized"] / counts["packages"], 4) if counts["packages"] else 0.0
    return {
        **counts,
        "share": share,
        "low": low,
        "high": high,
        "corrected_low": corrected_low,
    }
