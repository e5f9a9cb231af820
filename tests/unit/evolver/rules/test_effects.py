"""The effect of a reception on a memory: counts, a small bounded change of confidence, and its rank."""

from typing import Literal

import pytest

from schemas.events import FeedbackRecorded
from schemas.vocabulary import FeedbackSignal, Provenance
from services.compose.rules.candidates import compute_frequency_factor, to_frequency
from services.evolver.rules import NO_EFFECT, Effect, effect_of, step_confidence
from shared.policy import ConfidencePolicy, FeedbackPolicy

POLICY = FeedbackPolicy()


def make_event(
    judged_by: Literal["reply", "message"],
    *,
    utilized: bool,
    signal: FeedbackSignal = "neutral",
    taken_up: bool = False,
) -> FeedbackRecorded:
    """An event of this kind."""
    way = "keyword_match" if taken_up else "none"
    return FeedbackRecorded(judged_by=judged_by, utilized=utilized, signal=signal, utilization_signal=way)


@pytest.mark.parametrize(
    ("event", "effect"),
    [
        (make_event("reply", utilized=True), Effect(injections=1)),
        (make_event("reply", utilized=False), Effect(injections=1, misses=1)),
        (make_event("message", utilized=True, signal="positive_confirm"), Effect(positives=1, step=1)),
        (make_event("message", utilized=True, signal="correction"), Effect(corrections=1, step=-1)),
        (make_event("message", utilized=True, signal="negative"), Effect(corrections=1, step=-1)),
        (make_event("message", utilized=False, signal="positive_confirm"), NO_EFFECT),
        (make_event("message", utilized=False, signal="correction"), NO_EFFECT),
        (make_event("message", utilized=True, taken_up=True), Effect(misses=-1)),
        (make_event("message", utilized=True), NO_EFFECT),
        (make_event("message", utilized=False), NO_EFFECT),
        (FeedbackRecorded(signal="correction"), NO_EFFECT),
    ],
)
def test_the_effect_of_a_reception(event: FeedbackRecorded, effect: Effect) -> None:
    assert effect_of(event) == effect
    assert effect_of(event.model_copy(update={"degraded": True})) == NO_EFFECT


@pytest.mark.parametrize(
    ("confidence", "step", "cap", "after"),
    [
        (0.8, 1, 1.0, 0.82),
        (0.99, 1, 1.0, 1.0),
        (0.5, 1, 0.5, 0.5),
        (0.7, 1, 0.6, 0.7),
        (0.8, -1, 1.0, 0.75),
        (0.12, -1, 1.0, 0.1),
        (0.05, -1, 1.0, 0.05),
        (0.8, 0, 0.5, 0.8),
    ],
)
def test_a_change_stays_within_its_bounds(confidence: float, step: Literal[-1, 0, 1], cap: float, after: float) -> None:
    assert step_confidence(confidence, step, cap, POLICY) == pytest.approx(after)


@pytest.mark.parametrize(
    ("provenance", "flags", "cap"),
    [
        ("observation", (), 0.6),
        ("analysis", (), 0.8),
        ("tool", (), 0.95),
        ("confirmed_by_user", (), 1.0),
        ("confirmed_by_user", ("self_benefit",), 0.5),
    ],
)
def test_the_cap_is_that_of_the_provenance(provenance: Provenance, flags: tuple[str, ...], cap: float) -> None:
    assert ConfidencePolicy().provenance_cap(provenance, flags) == cap


@pytest.mark.parametrize(
    ("counts", "factor"),
    [
        ((0, 0, 0, 0), 1.0),
        ((4, 0, 0, 4), 1.0),
        ((5, 0, 0, 5), 0.7),
        ((10, 0, 0, 8), 0.7),
        ((10, 0, 0, 5), 1.0),
        ((10, 0, 0, 1), 1.1),
        ((10, 0, 8, 1), 0.7),
        ((10, 8, 0, 9), 1.1),
        ((5, 9, 0, 0), 1.1),
        ((5, 0, 9, 9), 0.7),
    ],
)
def test_what_is_injected_in_vain_ranks_lower(counts: tuple[int, int, int, int], factor: float) -> None:
    assert compute_frequency_factor(to_frequency(*counts)) == factor
