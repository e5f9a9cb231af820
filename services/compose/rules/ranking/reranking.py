"""Which candidates a reranker sees, how its scores are used, and the lexical reranker."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from services.compose.rules.candidates import Candidate
from services.compose.rules.ranking.fuse import FusePolicy, compute_relevances, merge_candidates
from shared.language import segment
from shared.language.segment import query_terms, terms


@dataclass(frozen=True, slots=True)
class RerankPassage:
    """The text of a candidate for a reranker, and its relevance by fusion, 0 to 1."""

    text: str
    relevance: float


def choose_shortlist(
    candidates: Iterable[Candidate], policy: FusePolicy, most: int, held: frozenset[str] = frozenset()
) -> tuple[list[Candidate], list[RerankPassage]]:
    """The best by fusion of memories, messages and resources, in order; `held` keep their positions and are not
    reranked."""
    unheld = [each for each in merge_candidates(candidates) if each.key not in held]
    pool = [each for each in unheld if each.probability >= policy.least_score]
    scored = list(zip(pool, compute_relevances(pool, policy), strict=True))
    best = sorted(scored, key=lambda pair: (-round(pair[1], 9), pair[0].key))[:most]
    return [each for each, _ in best], [RerankPassage(to_shown_text(each), relevance) for each, relevance in best]


def to_shown_text(candidate: Candidate) -> str:
    """The text with its speaker and title, if any."""
    before = candidate.name or candidate.title
    return f"{before}: {candidate.text}" if before else candidate.text


def rescore_candidates(
    candidates: Iterable[Candidate], judged: Sequence[Candidate], scores: Sequence[float]
) -> list[Candidate]:
    """The candidates with the reranker's scores."""
    by_key = {each.key: score for each, score in zip(judged, scores, strict=True)}
    return [replace(each, rerank_score=by_key.get(each.key)) for each in merge_candidates(candidates)]


def score_order(order: Sequence[int]) -> list[float]:
    """Scores for an order: 1 for the first, then down in equal steps."""
    count = len(order)
    scores = [0.0] * count
    for rank, place in enumerate(order):
        scores[place] = (count - rank) / count
    return scores


MAX_TERMS = 24
MAX_CHARS = 1000
NEAR = 4
"""The most positions between two words that count as near."""
WORDS, NEARNESS = 0.2, 0.05
"""The weights of shared words and of their nearness; relevance by fusion has the rest."""


def score_words(query: str, passages: Sequence[RerankPassage]) -> list[float]:
    """One score from 0 to 1 per passage; the relevance by fusion if no passage shares a word."""
    query_words = query_terms(query, MAX_TERMS)
    places = [_find_places(each.text, query_words) for each in passages]
    weights = {term: _compute_rarity(sum(term in held for held in places), len(passages)) for term in query_words}
    weights = {term: weight for term, weight in weights.items() if any(term in held for held in places)}
    total = sum(weights.values())
    if not total:
        return [each.relevance for each in passages]
    pairs = [pair for pair in pairwise(query_words) if pair[0] in weights and pair[1] in weights]
    return [
        (1 - WORDS - NEARNESS) * each.relevance
        + WORDS * sum(weights[term] for term in held) / total
        + NEARNESS * _score_nearness(held, pairs)
        for each, held in zip(passages, places, strict=True)
    ]


def _find_places(text: str, asked: Sequence[str]) -> dict[str, list[int]]:
    wanted = set(asked)
    places: dict[str, list[int]] = {}
    for at, term in enumerate(terms(text[:MAX_CHARS])):
        if term in wanted:
            places.setdefault(term, []).append(at)
    return places


def _compute_rarity(having: int, count: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _score_nearness(places: dict[str, list[int]], pairs: Sequence[tuple[str, str]]) -> float:
    """The share of adjacent words of the question that are near each other in the passage."""
    if not pairs:
        return 0.0
    near = sum(
        any(abs(one - other) <= NEAR for one in places.get(first, ()) for other in places.get(second, ()))
        for first, second in pairs
    )
    return near / len(pairs)


Id = TypeVar("Id", bound=Hashable)


def rank_by_terms(query: str, texts: Sequence[tuple[Id, str]]) -> list[Id]:
    """The texts that hold a term of the query, those with most terms first."""
    wanted = set(segment.query_terms(query))
    met = [(len(wanted.intersection(segment.terms(text))), each) for each, text in texts] if wanted else []
    return [each for hits, each in sorted(met, key=lambda one: -one[0]) if hits]
