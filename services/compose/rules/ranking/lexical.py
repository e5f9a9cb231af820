"""A reranker of words alone: rare words of the question, near each other, in Chinese and English."""

import math
from collections.abc import Sequence
from itertools import pairwise

from services.compose.rules.ranking.judged import RerankPassage
from shared.language.segment import query_terms, terms

MAX_TERMS = 24
MAX_CHARS = 1000
NEAR = 4
"""Words of the question are near each other where at most so many places lie between them."""
WORDS, NEARNESS = 0.2, 0.05
"""What shared words and their nearness count beside the relevance that fusion found, which counts the rest."""


def scores(query: str, passages: Sequence[RerankPassage]) -> list[float]:
    """One score a passage, 0 to 1; where no passage has a word of the question, its relevance."""
    asked = query_terms(query, MAX_TERMS)
    places = [_places(each.text, asked) for each in passages]
    weights = {term: _rarity(sum(term in found for found in places), len(passages)) for term in asked}
    weights = {term: weight for term, weight in weights.items() if any(term in found for found in places)}
    total = sum(weights.values())
    if not total:
        return [each.relevance for each in passages]
    pairs = [pair for pair in pairwise(asked) if pair[0] in weights and pair[1] in weights]
    return [
        (1 - WORDS - NEARNESS) * each.relevance
        + WORDS * sum(weights[term] for term in found) / total
        + NEARNESS * _nearness(found, pairs)
        for each, found in zip(passages, places, strict=True)
    ]


def _places(text: str, asked: Sequence[str]) -> dict[str, list[int]]:
    wanted = set(asked)
    found: dict[str, list[int]] = {}
    for at, term in enumerate(terms(text[:MAX_CHARS])):
        if term in wanted:
            found.setdefault(term, []).append(at)
    return found


def _rarity(having: int, count: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _nearness(found: dict[str, list[int]], pairs: Sequence[tuple[str, str]]) -> float:
    """The share of neighbouring words of the question that stand near each other here too."""
    if not pairs:
        return 0.0
    near = sum(
        any(abs(one - other) <= NEAR for one in found.get(first, ()) for other in found.get(second, ()))
        for first, second in pairs
    )
    return near / len(pairs)
