"""Extracts from a turn what is worth keeping, by language alone and without a model; observer and compose share it."""

from shared.extraction.model import (
    Feedback,
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    ReadingNote,
    RefText,
    Refusal,
    StructuredStatement,
    ToolText,
    TurnText,
)
from shared.extraction.observe import observe

__all__ = [
    "Feedback",
    "Mention",
    "MessageText",
    "Observation",
    "ObserveContext",
    "ObservePolicy",
    "Observed",
    "ReadingNote",
    "RefText",
    "Refusal",
    "StructuredStatement",
    "ToolText",
    "TurnText",
    "observe",
]
