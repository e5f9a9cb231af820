"""Fuses the lists of all arms: merges, scores, diversifies, and divides the result between memory and knowledge."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from schemas.vocabulary import DropReason, SearchMode
from services.compose.rules.candidates import (
    DEFAULT_SIGNALS,
    MOST_MEMORIES,
    Candidate,
    Dropped,
    Factors,
    ListOf,
    RankedCandidate,
    SignalPolicy,
    compute_factors,
    weigh_odds,
)
from services.compose.rules.ranking.repeats import (
    DiversityPolicy,
    RepeatCandidate,
    diversify,
    drop_repeats,
    states_something,
)
from shared.screening.sanitize import DEFAULT_SANITIZE, SanitizePolicy, show

Method = Literal["probability", "rrf", "weighted_sum", "none"]
TieBreaker = Literal["recency", "source_priority", "none"]


OF_LEAST = 2.2
"""The best must have so many times the odds of the least that is shown; otherwise nothing fits."""
OF_BEST = 0.2
"""Texts less likely than this share of the best are not shown: one answer makes others less useful."""


@dataclass(frozen=True, slots=True)
class FusePolicy:
    """How candidates are ordered and how many are kept."""

    method: Method = "probability"
    rrf_k: int = 60
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    tie_breaker: TieBreaker = "recency"
    source_priority: Mapping[str, float] = field(default_factory=dict[str, float])
    signals: SignalPolicy = DEFAULT_SIGNALS
    diversity: DiversityPolicy = field(default_factory=DiversityPolicy)
    repeats: bool = False
    memory_ratio: float = 0.4
    limit: int = 12
    memories_max: int = MOST_MEMORIES
    least_score: float = 0.0
    least_best: float = 0.0
    least_share: float = 0.0
    best_beside: float = 0.0
    """The probability of the best text that is shown anyway; the candidates are measured by it."""
    lists: Mapping[str, ListOf] = field(default_factory=dict[str, ListOf])
    per_mode: Mapping[str, int] = field(default_factory=dict[str, int])
    candidates_max: int = 10_000
    sanitize: SanitizePolicy = DEFAULT_SANITIZE
    beside: RepeatCandidate | None = None
    """The texts that a package shows anyway, which are not repeated; None: nothing is shown anyway, and repeats stay.
    """
    questions: bool = False


@dataclass(frozen=True, slots=True)
class FusionResult:
    """The final order, what was dropped and why, and all scored candidates in order before dropping."""

    ranked: tuple[RankedCandidate, ...]
    dropped: tuple[Dropped, ...]
    candidates: int
    judged: tuple[RankedCandidate, ...] = ()
    found_by: Mapping[str, int] = field(default_factory=dict[str, int])

    def without(self, gone: Collection[str], reason: DropReason, rule: str) -> "FusionResult":
        """The order without the candidates with these keys, which are dropped for this reason."""
        dropped = [Dropped(each.key, reason, each.score, rule) for each in self.ranked if each.key in gone]
        ranked = tuple(each for each in self.ranked if each.key not in gone)
        return replace(self, ranked=ranked, dropped=(*self.dropped, *dropped))


def merge_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One candidate per key, with the best rank and score of every list."""
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        known = merged.get(candidate.key)
        merged[candidate.key] = candidate if known is None else join_candidates(known, candidate)
    return list(merged.values())


def join_candidates(one: Candidate, other: Candidate) -> Candidate:
    ranks, scores = dict(one.arm_ranks), dict(one.arm_scores)
    for arm, rank in other.arm_ranks.items():
        ranks[arm] = min(rank, ranks.get(arm, rank))
    for arm, score in other.arm_scores.items():
        scores[arm] = max(score, scores.get(arm, score))
    best = other if _compute_strength(other) > _compute_strength(one) else one
    reranks = [each for each in (one.rerank_score, other.rerank_score) if each is not None]
    mode: SearchMode = one.mode if one.mode == other.mode else "hybrid"
    return replace(
        best,
        arm_ranks=ranks,
        arm_scores=scores,
        rerank_score=max(reranks, default=None),
        probability=max(one.probability, other.probability),
        of_part=one.of_part or other.of_part,
        mode=mode,
    )


def _compute_strength(candidate: Candidate) -> tuple[float, float]:
    return (candidate.rerank_score or 0.0, max(candidate.arm_scores.values(), default=0.0))


def compute_rrf(candidate: Candidate, policy: FusePolicy) -> float:
    """The reciprocal rank sum of the candidate over its lists."""
    return sum(policy.weights.get(arm, 1.0) / (policy.rrf_k + rank) for arm, rank in candidate.arm_ranks.items())


def list_counted_ranks(candidate: Candidate, policy: FusePolicy) -> list[int]:
    """The ranks in lists with weight."""
    return [rank for arm, rank in candidate.arm_ranks.items() if policy.weights.get(arm, 1.0) > 0]


def compute_relevances(candidates: Sequence[Candidate], policy: FusePolicy) -> list[float]:
    """The probability that each candidate helps, or with another method a share of the best; a reranker's score
    replaces it."""
    match policy.method:
        case "probability":
            return scale_judged([(each, each.probability) for each in candidates])
        case "rrf":
            raw = [compute_rrf(each, policy) for each in candidates]
        case "weighted_sum":
            tops: Counter[str] = Counter()
            for each in candidates:
                tops |= Counter(each.arm_scores)
            raw = [
                sum(
                    policy.weights.get(arm, 1.0) * max(score, 0.0) / (tops[arm] or 1.0)
                    for arm, score in each.arm_scores.items()
                )
                for each in candidates
            ]
        case "none":
            raw = [1.0 / min(list_counted_ranks(each, policy), default=1_000) for each in candidates]
    top = max(raw, default=0.0)
    scaled = [score / top if top > 0 else 0.0 for score in raw]
    return scale_judged(list(zip(candidates, scaled, strict=True)))


BELOW_FIRST = 0.999
"""The upper bound of a reranker's score if something must come before all that it scored."""


def scale_judged(scaled: Sequence[tuple[Candidate, float]]) -> list[float]:
    """Replaces scores by the reranker's; candidates that it did not see stay before or after all others."""
    judged = [(value, each.rerank_score) for each, value in scaled if each.rerank_score is not None]
    if not judged:
        return [value for _, value in scaled]
    best, floor = max(value for value, _ in judged), max(min(score for _, score in judged), 0.0)
    most = BELOW_FIRST if any(each.rerank_score is None and value > best for each, value in scaled) else 1.0
    scores: list[float] = []
    for each, value in scaled:
        if each.rerank_score is not None:
            scores.append(min(max(each.rerank_score, 0.0), most))
        else:
            scores.append(most + (1.0 - most) * value if value > best else value * min(floor, most))
    return scores


def fuse(candidates: Iterable[Candidate], now: datetime, policy: FusePolicy) -> FusionResult:
    """Merges, orders and thins the candidates to the limit; deterministic."""
    merged = merge_candidates(candidates)
    unlikely = _find_unlikely(merged, policy)
    pool = [each for each in merged if each.key not in unlikely]
    unmet = [Dropped(key, "relevance", rule="least_score") for key in unlikely]
    ranked = [
        RankedCandidate(each, made.final, compute_rrf(each, policy), made)
        for each, relevance in zip(pool, compute_relevances(pool, policy), strict=True)
        for made in (compute_factors(each, relevance, now, policy.signals),)
    ]
    ordered = interleave_sources(sorted(ranked, key=lambda each: _sort_candidates(each, policy)))
    pooled, beyond = ordered[: policy.candidates_max], ordered[policy.candidates_max :]
    may_repeat = policy.repeats or policy.beside is not None
    remaining, dropped = diversify(pooled, policy.diversity, None if may_repeat else policy.sanitize)
    if policy.beside is not None:
        remaining, repeated = drop_repeats(
            remaining, policy.beside, policy.limit, policy.sanitize, questions=policy.questions
        )
        dropped += repeated
    places = {each.key: _list_places(each, policy) for each in merged}
    allowed, over = _apply_quotas(remaining, places, policy)
    chosen = _within_limit(allowed, policy)
    keys = {each.key for each in chosen}
    late = [Dropped(each.key, _late_reason(each), each.score) for each in allowed if each.key not in keys]
    wide = [Dropped(each.key, "budget_exceeded", each.score, "candidate_k") for each in beyond]
    weak = [
        RankedCandidate(each, 0.0, compute_rrf(each, policy), Factors(0.0)) for each in merged if each.key in unlikely
    ]
    by_mode = Counter(mode for held in places.values() for mode in {policy.lists[arm].mode for arm in held})
    out = (*unmet, *dropped, *over, *late, *wide)
    return FusionResult(tuple(chosen), out, len(merged), (*ordered, *weak), by_mode)


def _find_unlikely(candidates: Sequence[Candidate], policy: FusePolicy) -> dict[str, None]:
    """Candidates that hardly help: below the least score, or far less likely than the best.

    All of them if the best is not likely enough. The best must state something and be shown as it is: an earlier
    question is nearest to itself and answers nothing. An answer to a part of the question is measured by the best of
    that part.
    """
    weighed = sorted((c for c in candidates if any(map(is_weighed, c.arm_ranks))), key=lambda c: -c.probability)
    telling = [each for each in weighed if states_something(each, questions=policy.questions)] or weighed
    shown = next((each.probability for each in telling if not _is_held_back(each, policy.sanitize)), 0.0)
    least = policy.least_share * max(shown, policy.best_beside)
    nothing_fits = bool(telling) and telling[0].probability < policy.least_best
    far = weighed if nothing_fits else [each for each in weighed if each.probability < least and not each.of_part]
    weak = [each for each in candidates if each.probability < policy.least_score]
    return dict.fromkeys(each.key for each in (*weak, *far))


def _is_held_back(candidate: Candidate, sanitize: SanitizePolicy) -> bool:
    return bool(show(candidate.text, candidate.comes_from, sanitize).held_back)


def compute_least_best(least: float) -> float:
    """The least probability of the best, if `least` is the least that is shown."""
    return weigh_odds(least, OF_LEAST)


def is_weighed(arm: str) -> bool:
    """Whether the list was scored by all signals."""
    return arm.startswith("all#")


def _list_places(candidate: Candidate, policy: FusePolicy) -> list[str]:
    """The lists with weight that hold the candidate, by rank; among equals by weight."""
    held = [arm for arm in candidate.arm_ranks if arm in policy.lists and policy.weights.get(arm, 1.0) > 0]
    ranks, weights = candidate.arm_ranks, policy.weights
    return sorted(held, key=lambda arm: (ranks[arm], -weights.get(arm, 1.0), policy.lists[arm].query, arm))


def _apply_quotas(
    ranked: Sequence[RankedCandidate], places: Mapping[str, Sequence[str]], policy: FusePolicy
) -> tuple[list[RankedCandidate], list[Dropped]]:
    """The order in which each mode fills at most its quota.

    Each result belongs to the query that ranked it highest; if that quota is used up, to the mode with most left.
    """
    left = dict(policy.per_mode)
    within: list[RankedCandidate] = []
    over: list[Dropped] = []
    for each in ranked:
        lists = [policy.lists[arm] for arm in places[each.key]]
        by = max(lists, key=lambda of: left.get(of.mode, math.inf), default=None)
        if by is not None and left.get(by.mode, 1) <= 0:
            by = None
        if lists and by is None:
            over.append(Dropped(each.key, "budget_exceeded", each.score, f"per_mode_k.{lists[0].mode}"))
            continue
        if by is not None and by.mode in left:
            left[by.mode] -= 1
        if by is not None and (by.mode, by.query) != (each.candidate.mode, each.candidate.query):
            each = replace(each, candidate=replace(each.candidate, mode=by.mode, query=by.query))
        within.append(each)
    return within, over


def _late_reason(ranked: RankedCandidate) -> DropReason:
    signals = ranked.factors
    weakest = min(signals.relevance, signals.recency, signals.confidence)
    if ranked.candidate.memory_id is None or weakest == signals.relevance:
        return "relevance"
    return "confidence" if weakest == signals.confidence else "recency"


def _sort_candidates(ranked: RankedCandidate, policy: FusePolicy) -> tuple[float, float, str]:
    tie = 0.0
    if policy.tie_breaker == "recency":
        tie = -ranked.candidate.valid_at.timestamp()
    elif policy.tie_breaker == "source_priority":
        tie = -policy.source_priority.get(ranked.candidate.source_type, 0.0)
    return (-round(ranked.score, 9), tie, ranked.key)


def interleave_sources(ranked: Sequence[RankedCandidate]) -> list[RankedCandidate]:
    """Memories by full score and others by relevance, merged by relevance: confidence orders memories only."""
    memories = [each for each in ranked if each.candidate.memory_id]
    others = [each for each in ranked if not each.candidate.memory_id]
    merged: list[RankedCandidate] = []
    at = 0
    for memory in memories:
        while at < len(others) and others[at].factors.relevance > memory.factors.relevance:
            merged.append(others[at])
            at += 1
        merged.append(memory)
    return merged + others[at:]


def divide_limit(memory: int, resource: int, limit: int, memory_ratio: float = 0.4) -> tuple[int, int]:
    """How many of memory and knowledge are kept: by ratio, rounded down for memory; one takes what the other cannot
    fill."""
    if memory + resource <= limit:
        return memory, resource
    wanted = int(limit * memory_ratio + 1e-9)
    for_memory = min(memory, max(wanted, limit - resource))
    return for_memory, min(resource, limit - for_memory)


def _within_limit(ranked: Sequence[RankedCandidate], policy: FusePolicy) -> list[RankedCandidate]:
    memories = [each for each in ranked if each.candidate.memory_id][policy.memories_max :]
    surplus = {each.key for each in memories}
    pool = [each for each in ranked if each.key not in surplus]
    resources = sum(each.candidate.is_resource for each in pool)
    quota = dict(
        zip(
            (False, True),
            divide_limit(len(pool) - resources, resources, policy.limit, policy.memory_ratio),
            strict=True,
        )
    )
    chosen: list[RankedCandidate] = []
    for each in pool:
        side = each.candidate.is_resource
        if quota[side] > 0:
            quota[side] -= 1
            chosen.append(each)
    return chosen
