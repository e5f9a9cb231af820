"""The effect of reception on a memory. Pure."""

from dataclasses import dataclass
from typing import Literal

from schemas.events import FeedbackRecorded
from shared.policy import FeedbackPolicy


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one reception on each named memory; `step` is the direction in which confidence changes."""

    injections: int = 0
    positives: int = 0
    corrections: int = 0
    misses: int = 0
    step: Literal[-1, 0, 1] = 0


NO_EFFECT = Effect()


def effect_of(feedback: FeedbackRecorded) -> Effect:
    """The answer counts the injection, and a miss if it used nothing of it; praise and blame apply to used memories.

    A message that refers to a memory cancels its miss. A degraded package does not count.
    """
    if feedback.degraded:
        return NO_EFFECT
    if feedback.judged_by == "reply":
        return Effect(injections=1, misses=0 if feedback.utilized else 1)
    if not feedback.utilized:
        return NO_EFFECT
    match feedback.signal:
        case "positive_confirm":
            return Effect(positives=1, step=1)
        case "correction" | "negative":
            return Effect(corrections=1, step=-1)
        case "neutral":
            return Effect(misses=-1) if feedback.utilization_signal == "keyword_match" else NO_EFFECT


def step_confidence(confidence: float, step: Literal[-1, 0, 1], cap: float, policy: FeedbackPolicy) -> float:
    """The confidence one step up, within the cap, or down, within the minimum; never in the other direction."""
    if step > 0:
        return max(confidence, min(confidence + policy.positive_step, cap))
    if step < 0:
        return min(confidence, max(confidence - policy.correction_step, policy.least_confidence))
    return confidence
