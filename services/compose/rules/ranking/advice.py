"""Advice is helped by what the user likes and what binds them: such memories are likelier to help who asks for it."""

from collections.abc import Iterable
from dataclasses import replace

from schemas.memory_types import types_with
from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, weigh_odds

WISHES = types_with("wish")
LIKELIER = 5.0
"""So many times the odds: the curve was fitted to questions of what was said, which hardly ever ask for advice."""


def weigh_wishes(candidates: Iterable[Candidate], intent: Intent) -> list[Candidate]:
    """The candidates; where advice is asked for, wishes, habits, limits and notes with a greater probability."""
    if intent != "recommend":
        return list(candidates)
    return [
        replace(each, probability=weigh_odds(each.probability, LIKELIER)) if each.memory_type in WISHES else each
        for each in candidates
    ]
