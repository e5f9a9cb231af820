"""What an agent is told of its own experience: few lines, only where there is something to say. Pure (R063)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.vocabulary import Intent, Language
from services.compose.rules.packing import texts
from shared.screening.sanitize import screen

MOST = 3
LEAST = 5
"""Calls, or answers, below which nothing is said, however plain they look."""
FAILS_BELOW = 0.7
"""A tool fails often where with 95 % no more of its calls than this succeed."""
WORKS_ABOVE = 0.7
"""It serves an intent well where with 95 % more than this succeed."""
CORRECTED_ABOVE = 0.2
"""Recalled memories mislead where with 95 % more of the answers that took them up than this were corrected."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """One thing that the agent has learnt: a key and its figures."""

    key: str
    figures: Mapping[str, Any]


def hints(learnt: Iterable[Learnt], intent: Intent, language: Language) -> tuple[str, ...]:
    """At most three lines in the language of the message; what goes wrong comes first. None for small talk."""
    if intent == "small_talk":
        return ()
    found = [made for each in learnt if (made := _hint(each, intent, language))]
    first = sorted(found, key=lambda made: (made[0], -made[1], made[2]))
    return tuple(dict.fromkeys(line for _, _, line in first))[:MOST]


def _hint(learnt: Learnt, intent: Intent, language: Language) -> tuple[int, int, str] | None:
    """How it is ordered: kind, weight; and the line."""
    kind, _, name = learnt.key.partition(":")
    if kind == "retrieval":
        return _of_recall(learnt.figures, language)
    if kind != "tool" or screen(name).text != name:
        return None
    here: Mapping[str, Any] | None = learnt.figures.get("by_intent", {}).get(intent)
    figures = here or learnt.figures
    calls, errors = figures["calls"], figures["errors"]
    if calls < LEAST:
        return None
    if figures["high"] <= FAILS_BELOW:
        return 0, errors, texts.hint("fails", language).format(tool=name, calls=calls, errors=errors)
    if here and figures["low"] >= WORKS_ABOVE:
        return 2, calls, texts.hint("works", language).format(tool=name, calls=calls, fine=calls - errors)
    return None


def _of_recall(figures: Mapping[str, Any], language: Language) -> tuple[int, int, str] | None:
    if figures["utilized"] < LEAST or figures["corrected_low"] < CORRECTED_ABOVE:
        return None
    counts = {"corrected": figures["corrected"], "utilized": figures["utilized"]}
    return 1, figures["corrected"], texts.hint("corrected", language).format(**counts)
