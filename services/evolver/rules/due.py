"""The jobs that time and use make due for a memory, and the memory after each job. Pure."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from services.evolver.rules import Effect, step_confidence
from shared.domain.decay import Due, Job, MemoryStats, effective
from shared.policy import CalibrationPolicy, Policy

Verdict = Literal["rejected", "corrected", "praised"]
STEPS = CalibrationPolicy()
"""The default policy."""
_COUNTED = ("injection_count", "positive_count", "correction_count")


@dataclass(frozen=True, slots=True)
class Received:
    """The reception of a memory since its last calibration; the rate is None with too few receptions."""

    injections: int
    positive_rate: float | None
    corrections: int


def count_received(kept: MemoryStats, steps: CalibrationPolicy = STEPS) -> Received:
    """The share of praise among judged receptions; unjudged ones are neutral."""
    injections, positives, corrections = (
        max(getattr(kept, name) - kept.calibrated.get(name, 0), 0) for name in _COUNTED
    )
    judged = positives + corrections
    return Received(injections, positives / judged if judged >= steps.verdicts_least else None, corrections)


def verdict(seen: Received, steps: CalibrationPolicy = STEPS) -> Verdict | None:
    """The one rule of R060 that applies, the strongest negative first."""
    rate = seen.positive_rate
    if seen.injections >= steps.rejected_uses and rate is not None and rate < steps.rejected_below:
        return "rejected"
    if seen.injections >= steps.rejected_uses and seen.corrections >= steps.corrected_least:
        return "corrected"
    if seen.injections >= steps.praised_uses and rate is not None and rate > steps.praised_above:
        return "praised"
    return None


def calibrate(confidence: float, received: Verdict, cap: float, steps: CalibrationPolicy = STEPS) -> tuple[float, bool]:
    """The confidence after the rule, and whether the memory is evicted: only rejected ones are."""
    if received == "praised":
        return max(confidence, min(round(confidence + steps.praised_step, 4), cap)), False
    loss = steps.rejected_step if received == "rejected" else steps.corrected_step
    after = min(confidence, max(round(confidence - loss, 4), steps.least))
    return after, received == "rejected" and after < steps.evicted_below


def decide_due(stats: MemoryStats, now: datetime, policy: Policy) -> Due | None:
    """The next due change of an active memory; None if there is none.

    A pinned one ends only at its end date.
    """
    if stats.pinned:
        return _expiry(stats, now)
    return (
        _expiry(stats, now)
        or _misses(stats, policy)
        or _calibration(stats, policy)
        or fuse(stats, policy)
        or _decay(stats, now, policy)
    )


def _expiry(stats: MemoryStats, now: datetime) -> Due | None:
    over = stats.valid_until is not None and stats.valid_until <= now
    return Due("expiry", (stats.memory_id,)) if over else None


def _misses(stats: MemoryStats, policy: Policy) -> Due | None:
    """Not used once in this many injections."""
    hits = stats.injection_count - stats.miss_count
    if stats.miss_count < policy.evolution.misses_most or hits > 0 or stats.positive_count:
        return None
    if stats.provenance_class == "confirmed_by_user":
        return None
    return Due("misses", (stats.memory_id,), {"misses": stats.miss_count})


def _calibration(stats: MemoryStats, policy: Policy) -> Due | None:
    steps = policy.evolution.calibration
    seen = count_received(stats, steps)
    received = verdict(seen, steps) if stats.shown else None
    if received is None:
        return None
    after, evicted = calibrate(round(stats.confidence, 4), received, _cap(stats, policy), steps)
    moved = {"from": round(stats.confidence, 4), "to": after, "evicted": evicted}
    return Due("calibration", (stats.memory_id,), {"rule": received, **asdict(seen), **moved})


def fuse(stats: MemoryStats, policy: Policy) -> Due | None:
    """Hides a memory that was rejected too often since the user last confirmed it."""
    if (
        stats.status != "active"
        or stats.pinned
        or stats.fused_at
        or stats.correction_count < policy.evolution.fuse_strikes
    ):
        return None
    detail = {"strikes": stats.correction_count, "from": round(stats.confidence, 4)}
    return Due("fuse", (stats.memory_id,), detail)


def _decay(stats: MemoryStats, now: datetime, policy: Policy) -> Due | None:
    """A memory of low confidence answers only questions about the past; when it recovers, all questions."""
    left = effective(stats, now, policy.confidence.decay)
    low, marked = left < policy.evolution.outdated_below, stats.epistemic_type == "outdated"
    if not stats.shown or low == marked or (marked and stats.epistemic_prev is None):
        return None
    return Due("outdated" if low else "refreshed", (stats.memory_id,), {"effective": round(left, 4)})


def _cap(stats: MemoryStats, policy: Policy) -> float:
    return policy.confidence.provenance_cap(stats.provenance_class, stats.flags)


def apply_job(stats: MemoryStats, job: Job, detail: dict[str, Any], at: datetime, policy: Policy) -> MemoryStats:
    """The memory after this change at that time; deterministic."""
    match job:
        case "feedback":
            return apply_effect(stats, Effect(**detail["effect"]), datetime.fromisoformat(detail["told_at"]), policy)
        case "fuse":
            least = policy.feedback.least_confidence
            return replace(stats, fused_at=at, fused_from=stats.confidence, confidence=min(stats.confidence, least))
        case "calibration":
            steps = policy.evolution.calibration
            confidence, evicted = calibrate(round(stats.confidence, 4), detail["rule"], _cap(stats, policy), steps)
            counted = {name: getattr(stats, name) for name in _COUNTED}
            fresh = replace(stats, confidence=confidence, calibrated=counted)
            # an eviction candidate is hidden until somebody restores it: shown, it would do more harm
            return replace(fresh, status="candidate_evict", invalid_at=at) if evicted else fresh
        case "outdated":
            return replace(stats, epistemic_type="outdated", epistemic_prev=stats.epistemic_type)
        case "refreshed":
            return replace(stats, epistemic_type=stats.epistemic_prev or stats.epistemic_type, epistemic_prev=None)
        case "expiry":
            return replace(stats, status="expired", invalid_at=stats.valid_until)
        case "misses":
            return replace(stats, status="expired", invalid_at=at)
        case "consolidation":
            return stats


def apply_effect(stats: MemoryStats, effect: Effect, told_at: datetime, policy: Policy) -> MemoryStats:
    step = effect.step if stats.fused_at is None else 0
    validated = max(stats.last_validated_at or told_at, told_at) if effect.positives else stats.last_validated_at
    return replace(
        stats,
        injection_count=stats.injection_count + effect.injections,
        positive_count=stats.positive_count + effect.positives,
        correction_count=stats.correction_count + effect.corrections,
        miss_count=max(stats.miss_count + effect.misses, 0),
        confidence=round(step_confidence(stats.confidence, step, _cap(stats, policy), policy.feedback), 4),
        last_validated_at=validated,
    )
