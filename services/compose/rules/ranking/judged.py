"""Which candidates a reranker is shown, what it is shown of them, and how its scores are taken over (R082, X17)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from services.compose.rules.candidates import Candidate
from services.compose.rules.ranking.fuse import FusePolicy, merge, relevances


@dataclass(frozen=True, slots=True)
class RerankPassage:
    """What a reranker reads of a candidate, and how relevant fusion took it for, 0 to 1."""

    text: str
    relevance: float


def keys(candidates: Iterable[Candidate]) -> frozenset[str]:
    """What names these candidates."""
    return frozenset(each.key for each in candidates)


def shortlist(
    candidates: Iterable[Candidate], policy: FusePolicy, most: int, held: frozenset[str] = frozenset()
) -> tuple[list[Candidate], list[RerankPassage]]:
    """The best by fusion alone, memories, messages and resources alike, in that order; `held` keep their places."""
    found = [each for each in merge(candidates) if each.key not in held]
    pool = [each for each in found if each.probability >= policy.least_score]
    scored = list(zip(pool, relevances(pool, policy), strict=True))
    best = sorted(scored, key=lambda pair: (-round(pair[1], 9), pair[0].key))[:most]
    return [each for each, _ in best], [RerankPassage(to_shown_text(each), relevance) for each, relevance in best]


def to_shown_text(candidate: Candidate) -> str:
    """The words, with who said them and the title where there is one."""
    before = candidate.name or candidate.title
    return f"{before}: {candidate.text}" if before else candidate.text


def rescore_candidates(
    candidates: Iterable[Candidate], judged: Sequence[Candidate], scores: Sequence[float]
) -> list[Candidate]:
    """The candidates, the judged ones with their scores."""
    by_key = {each.key: score for each, score in zip(judged, scores, strict=True)}
    return [replace(each, rerank_score=by_key.get(each.key)) for each in merge(candidates)]


def by_places(order: Sequence[int]) -> list[float]:
    """Scores that put a list into this order of its places: 1 for the first, then down in equal steps."""
    count = len(order)
    scores = [0.0] * count
    for rank, place in enumerate(order):
        scores[place] = (count - rank) / count
    return scores
