"""Signals of the final score: recency, decayed confidence, provenance, frequency, advice (seed 004 2.3.2.4, 4.1)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from schemas.memory_types import types_with
from schemas.vocabulary import Intent, Provenance
from services.compose.rules.candidates import Candidate, Factors, Frequency, weigh_odds
from shared.domain.decay import DECAY, Steps, age_days, confidence_effective, step


def _provenance_weights() -> dict[Provenance, float]:
    return {"observation": 0.6, "analysis": 0.8, "confirmed_by_user": 1.0, "tool": 0.9}


@dataclass(frozen=True, slots=True)
class SignalPolicy:
    """The seed's tables; recency reads `valid_at`, decay reads `last_validated_at` (X53)."""

    recency: Steps = ((0, 1.2), (7, 1.0), (30, 0.8), (90, 0.6))
    decay: Steps = DECAY
    provenance: Mapping[Provenance, float] = field(default_factory=_provenance_weights)
    frequency_min: int = 5
    frequency_good: float = 0.7
    frequency_bad: float = 0.3
    frequency_up: float = 1.1
    frequency_down: float = 0.7
    turn_confidence: float = 0.6
    turn_provenance: float = 0.6


DEFAULT_SIGNALS = SignalPolicy()


def frequency(injections: int, positives: int, corrections: int, misses: int) -> Frequency:
    """Well received is an injection that the answer used and nobody corrected, and in any case one that was praised."""
    if not injections:
        return Frequency()
    well = max(injections - misses - corrections, positives)
    return Frequency(injections, min(max(well / injections, 0.0), 1.0))


def frequency_factor(frequency: Frequency, policy: SignalPolicy = DEFAULT_SIGNALS) -> float:
    """Up where injected often and well received, down where badly, else 1 (seed 004 section 4.1, step 1.3)."""
    if frequency.injections < policy.frequency_min:
        return 1.0
    if frequency.positive_rate > policy.frequency_good:
        return policy.frequency_up
    return policy.frequency_down if frequency.positive_rate < policy.frequency_bad else 1.0


def factors(candidate: Candidate, relevance: float, now: datetime, policy: SignalPolicy = DEFAULT_SIGNALS) -> Factors:
    """All signals of a memory; what was said and what a document says are judged by relevance alone."""
    if candidate.is_resource:
        return Factors(relevance)
    if candidate.memory_id is None:
        return Factors(relevance, confidence=policy.turn_confidence, provenance=policy.turn_provenance)
    validated = candidate.last_validated_at or candidate.valid_at
    return Factors(
        relevance=relevance,
        recency=step(policy.recency, age_days(candidate.valid_at, now)),
        confidence=confidence_effective(candidate.confidence, age_days(validated, now), policy.decay),
        provenance=policy.provenance.get(candidate.provenance, 0.6),
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
