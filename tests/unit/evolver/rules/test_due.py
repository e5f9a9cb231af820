"""The effects of time and use on a memory: the seed's numbers (2.3.2.4, 2.3.2.5), each limit on both sides."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.vocabulary import Provenance
from services.evolver.rules.due import Received, apply_job, calibrate, count_received, decide_due, fuse, verdict
from shared.domain.decay import DECAY, MemoryStats, effective
from shared.policy import CalibrationPolicy, ConfidencePolicy, EvolutionPolicy, Policy
from shared.policy.compose import weigh_age
from tests.unit.evolver.rules.kept import NOW, ago, kept

POLICY = Policy()
CAPS = ConfidencePolicy()


@pytest.mark.parametrize(
    "worn",
    [
        {"last_validated_at": ago(900), "created_at": ago(900)},
        {"miss_count": 90, "injection_count": 90},
        {"injection_count": 20, "correction_count": 9},
    ],
    ids=["old", "missed", "rejected"],
)
def test_a_pinned_memory_is_unchanged(worn: dict[str, Any]) -> None:
    assert decide_due(kept(**worn), NOW, POLICY) is not None
    assert decide_due(kept(**worn, pinned=True), NOW, POLICY) is None
    assert fuse(kept(**worn, pinned=True), POLICY) is None
    over = decide_due(kept(**worn, pinned=True, valid_until=ago(1)), NOW, POLICY)
    assert over is not None
    assert over.job == "expiry"


@pytest.mark.parametrize(
    ("days", "left"),
    [(-1, 1.0), (0, 1.0), (29.99, 1.0), (30, 0.85), (89, 0.85), (90, 0.6), (179.9, 0.6), (180, 0.3), (365, 0.3)],
)
def test_time_reduces_confidence(days: float, left: float) -> None:
    """OC124, OC125, OC127, OC128, OC130, OC131."""
    assert weigh_age(DECAY, ago(days), NOW) == left


def test_policy_sets_the_effects_of_time_and_reception() -> None:
    steps = CalibrationPolicy(rejected_uses=2, rejected_below=0.5, rejected_step=0.5, evicted_below=0.4)
    seen = Received(2, 0.4, 1)
    assert (verdict(seen), verdict(seen, steps)) == (None, "rejected")
    assert calibrate(0.8, "rejected", 1.0, steps) == (pytest.approx(0.3), True)
    policy = Policy(confidence=ConfidencePolicy(decay=((0, 0.2),)))
    fresh = kept(confidence=0.9, last_validated_at=NOW, created_at=NOW)
    assert decide_due(fresh, NOW, POLICY) is None
    found = decide_due(fresh, NOW, policy)
    assert found is not None
    assert found.job == "outdated"


def test_age_counts_from_the_last_validation_or_else_from_creation() -> None:
    assert effective(kept(confidence=1.0, last_validated_at=ago(100), created_at=ago(200)), NOW) == 0.6
    assert effective(kept(confidence=1.0, last_validated_at=None, created_at=ago(200)), NOW) == 0.3


@pytest.mark.parametrize(
    ("before", "provenance", "seen", "confidence", "evicted"),
    [
        (0.75, "analysis", Received(10, 0.85, 0), 0.8, False),  # OC133
        (0.95, "confirmed_by_user", Received(12, 0.9, 0), 1.0, False),  # OC134
        (0.35, "observation", Received(5, 0.2, 0), 0.15, True),  # OC136
        (0.12, "observation", Received(5, 0.5, 2), 0.1, False),  # OC137
        (0.9, "confirmed_by_user", Received(5, 0.0, 5), 0.7, False),
        (0.6, "observation", Received(10, 0.85, 0), 0.6, False),
        (0.05, "observation", Received(5, 0.0, 3), 0.05, True),
        (0.4, "observation", Received(5, 0.2, 3), 0.2, False),
    ],
)
def test_calibration(before: float, provenance: Provenance, seen: Received, confidence: float, evicted: bool) -> None:
    found = verdict(seen)
    assert found is not None
    assert calibrate(before, found, CAPS.provenance_cap(provenance)) == (pytest.approx(confidence), evicted)


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (Received(9, 1.0, 0), None),
        (Received(10, 0.8, 0), None),
        (Received(10, 0.81, 0), "praised"),
        (Received(4, 0.0, 4), None),
        (Received(5, 0.3, 1), None),
        (Received(5, 0.3, 2), "corrected"),
        (Received(5, 0.29, 2), "rejected"),
        (Received(20, 0.9, 2), "corrected"),
        (Received(100, None, 0), None),
        (Received(100, None, 1), None),
    ],
)
def test_one_rule_applies_with_the_strongest_negative_first(seen: Received, found: str | None) -> None:
    assert verdict(seen) == found


@pytest.mark.parametrize(
    ("counts", "before", "seen"),
    [
        ((10, 9, 1), {}, Received(10, 0.9, 1)),
        ((10, 0, 0), {}, Received(10, None, 0)),
        ((10, 1, 0), {}, Received(10, None, 0)),
        ((15, 9, 3), {"injection_count": 10, "positive_count": 8, "correction_count": 0}, Received(5, 0.25, 3)),
        ((15, 9, 0), {"injection_count": 15, "positive_count": 9, "correction_count": 2}, Received(0, None, 0)),
    ],
)
def test_reception_counts_since_the_last_calibration_and_none_is_neutral(
    counts: tuple[int, int, int], before: dict[str, int], seen: Received
) -> None:
    injections, positives, corrections = counts
    figures = {"injection_count": injections, "positive_count": positives, "correction_count": corrections}
    assert count_received(kept(**figures, calibrated=before)) == seen


STRANGE: dict[str, Any] = {"provenance_class": "confirmed_by_user"}


@pytest.mark.parametrize(
    ("figures", "job"),
    [
        ({}, None),
        ({"valid_until": NOW}, "expiry"),
        ({"valid_until": ago(-0.01)}, None),
        ({"miss_count": 20, "injection_count": 20}, "misses"),
        ({"miss_count": 19, "injection_count": 19}, None),
        ({"miss_count": 20, "injection_count": 21}, None),
        ({"miss_count": 20, "injection_count": 20, "positive_count": 1}, None),
        ({"miss_count": 20, "injection_count": 20, "pinned": True}, None),
        ({"miss_count": 20, "injection_count": 20, **STRANGE}, None),
        ({"injection_count": 5, "correction_count": 2}, "calibration"),
        ({"injection_count": 5, "correction_count": 2, "fused_at": NOW, "confidence": 0.1}, None),
        ({"injection_count": 2, "correction_count": 2}, None),  # OC143
        ({"injection_count": 3, "correction_count": 3}, "fuse"),  # OC145
        ({"injection_count": 3, "correction_count": 1}, None),  # OC145
        ({"injection_count": 3, "correction_count": 3, **STRANGE}, "fuse"),
        ({"injection_count": 3, "correction_count": 3, "fused_at": NOW}, None),
        ({"confidence": 0.5, "last_validated_at": ago(179)}, None),
        ({"confidence": 0.5, "last_validated_at": ago(180)}, "outdated"),
        ({"confidence": 0.9, "last_validated_at": ago(400)}, None),
        ({"confidence": 0.2}, "outdated"),
        ({"confidence": 0.1, "fused_at": NOW}, None),
        ({"confidence": 0.2, "epistemic_type": "outdated"}, None),
        ({"epistemic_type": "outdated", "epistemic_prev": "fact"}, "refreshed"),
        ({"epistemic_type": "outdated"}, None),
        ({"valid_until": ago(1), "miss_count": 20, "injection_count": 20}, "expiry"),
    ],
)
def test_due_changes(figures: dict[str, Any], job: str | None) -> None:
    found = decide_due(kept(**figures), NOW, POLICY)
    assert (found.job if found else None) == job


def apply_due(before: MemoryStats) -> MemoryStats:
    """The memory when nothing more is due."""
    while before.status == "active" and (wish := decide_due(before, NOW, POLICY)) is not None:
        before = apply_job(before, wish.job, wish.detail, NOW, POLICY)
    return before


def test_an_expired_memory_ends_at_its_end_date() -> None:
    ended = apply_due(kept(valid_until=ago(3)))
    assert (ended.status, ended.invalid_at) == ("expired", ago(3))


def test_a_memory_that_missed_too_often_ends_now() -> None:
    ended = apply_due(kept(miss_count=20, injection_count=20))
    assert (ended.status, ended.invalid_at) == ("expired", NOW)


def test_an_evicted_memory_is_hidden_with_the_time_of_eviction() -> None:
    ended = apply_due(kept(confidence=0.35, injection_count=5, correction_count=2))
    assert (ended.status, ended.invalid_at) == ("candidate_evict", NOW)
    assert ended.confidence == pytest.approx(0.15)


def test_a_calibration_without_new_receptions_changes_nothing() -> None:
    once = apply_due(kept(confidence=0.9, **STRANGE, injection_count=5, correction_count=2))
    assert once.confidence == pytest.approx(0.7)
    assert apply_due(once) == once
    assert decide_due(replace(once, injection_count=20), NOW, POLICY) is None


def test_a_fused_memory_has_minimum_confidence_and_records_the_previous_one() -> None:
    blown = apply_due(kept(confidence=0.75, **STRANGE, injection_count=3, correction_count=3))
    assert (blown.fused_at, blown.fused_from, blown.confidence) == (NOW, 0.75, 0.1)
    assert not blown.shown
    assert blown.status == "active"


def test_policy_sets_the_number_of_rejections() -> None:
    strict = POLICY.model_copy(update={"evolution": EvolutionPolicy(fuse_strikes=1)})
    assert fuse(kept(correction_count=1), strict)
    assert fuse(kept(correction_count=1, status="retracted"), strict) is None


def test_an_outdated_memory_records_its_previous_confidence_and_regains_it() -> None:
    old = apply_due(kept(confidence=0.5, epistemic_type="fact", last_validated_at=ago(200)))
    assert (old.epistemic_type, old.epistemic_prev, old.status) == ("outdated", "fact", "active")
    again = apply_due(replace(old, last_validated_at=NOW))
    assert (again.epistemic_type, again.epistemic_prev) == ("fact", None)


TOLD = {"told_at": ago(0).isoformat()}


@pytest.mark.parametrize(
    ("effect", "confidence", "validated"),
    [({"positives": 1, "step": 1}, 0.52, True), ({"corrections": 1, "step": -1}, 0.45, False)],
)
def test_a_reception_changes_the_visible_confidence(effect: dict[str, int], confidence: float, validated: bool) -> None:
    moved = apply_job(kept(), "feedback", {"effect": effect, **TOLD}, NOW, POLICY)
    assert moved.confidence == confidence
    assert (moved.last_validated_at == NOW) is validated
    fused = apply_job(kept(confidence=0.1, fused_at=NOW), "feedback", {"effect": effect, **TOLD}, NOW, POLICY)
    assert fused.confidence == 0.1


@pytest.mark.parametrize(("provenance", "most"), [("observation", 0.6), ("analysis", 0.8)])
def test_no_confidence_exceeds_its_provenance(provenance: Provenance, most: float) -> None:
    """OC139, OC140."""
    praised = kept(confidence=most, provenance_class=provenance, injection_count=10, positive_count=10)
    assert apply_due(praised).confidence == most
    claimed = kept(confidence=0.45, flags=("self_benefit",), injection_count=10, positive_count=10)
    assert apply_due(claimed).confidence == 0.5
