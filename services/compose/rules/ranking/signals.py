"""Signals of the final score: recency, decayed confidence, provenance, frequency, advice (seed 004 2.3.2.4, 4.1)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.memory_types import types_with
from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, Factors, Frequency, weigh_odds
from shared.domain.decay import DECAY, age_days, confidence_effective, step
from shared.policy import RankingPolicy
from shared.policy.ranking import Steps

DEFAULT_RANKING = RankingPolicy()


@dataclass(frozen=True, slots=True)
class SignalPolicy:
    """The seed's tables, as policy has them; recency reads `valid_at`, decay reads `last_validated_at` (X53)."""

    ranking: RankingPolicy = DEFAULT_RANKING
    decay: Steps = DECAY


DEFAULT_SIGNALS = SignalPolicy()


def frequency(injections: int, positives: int, corrections: int, misses: int) -> Frequency:
    """Well received is an injection that the answer used and nobody corrected, and in any case one that was praised."""
    if not injections:
        return Frequency()
    well = max(injections - misses - corrections, positives)
    return Frequency(injections, min(max(well / injections, 0.0), 1.0))


def frequency_factor(frequency: Frequency, policy: SignalPolicy = DEFAULT_SIGNALS) -> float:
    """Up where injected often and well received, down where badly, else 1 (seed 004 section 4.1, step 1.3)."""
    limits = policy.ranking.frequency
    if frequency.injections < limits.least:
        return 1.0
    if frequency.positive_rate > limits.good:
        return limits.up
    return limits.down if frequency.positive_rate < limits.bad else 1.0


def factors(candidate: Candidate, relevance: float, now: datetime, policy: SignalPolicy = DEFAULT_SIGNALS) -> Factors:
    """All signals of a memory; what was said and what a document says are judged by relevance alone."""
    if candidate.is_resource:
        return Factors(relevance)
    ranking = policy.ranking
    if candidate.memory_id is None:
        return Factors(relevance, confidence=ranking.turn_confidence, provenance=ranking.turn_provenance)
    validated = candidate.last_validated_at or candidate.valid_at
    return Factors(
        relevance=relevance,
        recency=step(ranking.recency, age_days(candidate.valid_at, now)),
        confidence=confidence_effective(candidate.confidence, age_days(validated, now), policy.decay),
        provenance=ranking.provenance.weight_of(candidate.provenance),
        frequency=frequency_factor(candidate.frequency, policy),
    )


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
