"""What a turn says that is worth keeping: read by language alone, without a model; observer and compose share it."""

from shared.extraction.model import (
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
from shared.extraction.observe import observe

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
