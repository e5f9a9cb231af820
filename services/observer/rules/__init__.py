"""The observer's rules: what a turn says that is worth keeping, by language alone and without a model."""

from services.observer.rules.model import (
    Explain,
    Feedback,
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    RefText,
    Refusal,
    StructuredItem,
    ToolText,
    TurnText,
)
from services.observer.rules.observe import observe

__all__ = [
    "Explain",
    "Feedback",
    "Mention",
    "MessageText",
    "Observation",
    "ObserveContext",
    "ObservePolicy",
    "Observed",
    "RefText",
    "Refusal",
    "StructuredItem",
    "ToolText",
    "TurnText",
    "observe",
]
