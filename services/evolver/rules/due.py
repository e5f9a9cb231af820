"""What time and use ask to be done to a memory, and what is left of it afterwards: pure (seed 004 2.3.2.4, 2.3.2.5)."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from services.evolver.rules import Effect, step_confidence
from shared.domain.decay import Due, Job, MemoryStats, effective
from shared.policy import Policy

Verdict = Literal["rejected", "corrected", "praised"]
RISE, CORRECTED, REJECTED = 0.1, 0.15, 0.2
LEAST, EVICTED_BELOW = 0.1, 0.2
VERDICTS_LEAST = 2
"""Praise and blame of fewer receptions than this make no rate: one angry word is no verdict."""
_COUNTED = ("injection_count", "positive_count", "correction_count")


@dataclass(frozen=True, slots=True)
class Received:
    """How a memory has been received since it was last calibrated; the rate is None where too little was said."""

    injections: int
    positive_rate: float | None
    corrections: int


def count_received(kept: MemoryStats) -> Received:
    """Of the receptions that said anything, the share that was praise: what nobody judged is neutral (R059)."""
    injections, positives, corrections = (
        max(getattr(kept, name) - kept.calibrated.get(name, 0), 0) for name in _COUNTED
    )
    judged = positives + corrections
    return Received(injections, positives / judged if judged >= VERDICTS_LEAST else None, corrections)


def verdict(seen: Received) -> Verdict | None:
    """The one rule of R060 that applies, the strongest negative first."""
    rate = seen.positive_rate
    if seen.injections >= 5 and rate is not None and rate < 0.3:
        return "rejected"
    if seen.injections >= 5 and seen.corrections >= 2:
        return "corrected"
    if seen.injections >= 10 and rate is not None and rate > 0.8:
        return "praised"
    return None


def calibrate(confidence: float, found: Verdict, cap: float) -> tuple[float, bool]:
    """The confidence after the rule, and whether the memory is to be evicted: only what was rejected is (R060)."""
    if found == "praised":
        return max(confidence, min(round(confidence + RISE, 4), cap)), False
    loss = REJECTED if found == "rejected" else CORRECTED
    after = min(confidence, max(round(confidence - loss, 4), LEAST))
    return after, found == "rejected" and after < EVICTED_BELOW


def decide_due(kept: MemoryStats, now: datetime, policy: Policy) -> Due | None:
    """The next thing to be done to an active memory by itself; None where it may stay as it is."""
    return (
        _expiry(kept, now)
        or _misses(kept, policy)
        or _calibration(kept, policy)
        or fuse(kept, policy)
        or _aged(kept, now, policy)
    )


def _expiry(kept: MemoryStats, now: datetime) -> Due | None:
    over = kept.valid_until is not None and kept.valid_until <= now
    return Due("expiry", (kept.memory_id,)) if over else None


def _misses(kept: MemoryStats, policy: Policy) -> Due | None:
    """Never once of use in so many injections (R062)."""
    hits = kept.injection_count - kept.miss_count
    if kept.miss_count < policy.evolution.misses_most or hits > 0 or kept.positive_count:
        return None
    if kept.pinned or kept.provenance_class == "confirmed_by_user":
        return None
    return Due("misses", (kept.memory_id,), {"misses": kept.miss_count})


def _calibration(kept: MemoryStats, policy: Policy) -> Due | None:
    seen = count_received(kept)
    found = verdict(seen) if kept.shown else None
    if found is None:
        return None
    after, evicted = calibrate(round(kept.confidence, 4), found, _cap(kept, policy))
    moved = {"from": round(kept.confidence, 4), "to": after, "evicted": evicted}
    return Due("calibration", (kept.memory_id,), {"rule": found, **asdict(seen), **moved})


def fuse(kept: MemoryStats, policy: Policy) -> Due | None:
    """It is taken out of sight, where it was rejected too often since the user last confirmed it (R061)."""
    if kept.status != "active" or kept.fused_at or kept.correction_count < policy.evolution.fuse_strikes:
        return None
    detail = {"strikes": kept.correction_count, "from": round(kept.confidence, 4)}
    return Due("fuse", (kept.memory_id,), detail)


def _aged(kept: MemoryStats, now: datetime, policy: Policy) -> Due | None:
    """Worth too little by now, it answers questions about the past only (R056); worth enough again, all questions."""
    left = effective(kept, now)
    low, marked = left < policy.evolution.outdated_below, kept.epistemic_type == "outdated"
    if not kept.shown or low == marked or (marked and kept.epistemic_prev is None):
        return None
    return Due("outdated" if low else "refreshed", (kept.memory_id,), {"effective": round(left, 4)})


def _cap(kept: MemoryStats, policy: Policy) -> float:
    return policy.confidence.provenance_cap(kept.provenance_class, kept.flags)


def apply_job(kept: MemoryStats, job: Job, detail: dict[str, Any], at: datetime, policy: Policy) -> MemoryStats:
    """The memory after this was done to it at that time; the same for the same figures, whenever it is asked."""
    match job:
        case "feedback":
            return apply_effect(kept, Effect(**detail["effect"]), datetime.fromisoformat(detail["told_at"]), policy)
        case "fuse":
            least = policy.feedback.least_confidence
            return replace(kept, fused_at=at, fused_from=kept.confidence, confidence=min(kept.confidence, least))
        case "calibration":
            confidence, evicted = calibrate(round(kept.confidence, 4), detail["rule"], _cap(kept, policy))
            counted = {name: getattr(kept, name) for name in _COUNTED}
            fresh = replace(kept, confidence=confidence, calibrated=counted)
            # one that is a candidate is out of sight until somebody wants it back: shown, it would do more harm
            return replace(fresh, status="candidate_evict", invalid_at=at) if evicted else fresh
        case "outdated":
            return replace(kept, epistemic_type="outdated", epistemic_prev=kept.epistemic_type)
        case "refreshed":
            return replace(kept, epistemic_type=kept.epistemic_prev or kept.epistemic_type, epistemic_prev=None)
        case "expiry":
            return replace(kept, status="expired", invalid_at=kept.valid_until)
        case "misses":
            return replace(kept, status="expired", invalid_at=at)
        case "consolidation":
            return kept


def apply_effect(kept: MemoryStats, effect: Effect, told_at: datetime, policy: Policy) -> MemoryStats:
    step = effect.step if kept.fused_at is None else 0
    validated = max(kept.last_validated_at or told_at, told_at) if effect.positives else kept.last_validated_at
    return replace(
        kept,
        injection_count=kept.injection_count + effect.injections,
        positive_count=kept.positive_count + effect.positives,
        correction_count=kept.correction_count + effect.corrections,
        miss_count=max(kept.miss_count + effect.misses, 0),
        confidence=round(step_confidence(kept.confidence, step, _cap(kept, policy), policy.feedback), 4),
        last_validated_at=validated,
    )
