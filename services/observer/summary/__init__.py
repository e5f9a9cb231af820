"""The rolling summary of a session: when it is due, and its content. Pure rules, no model."""

from services.observer.summary.model import (
    Count,
    Reason,
    Redact,
    Section,
    Summary,
    SummaryFact,
    SummaryItem,
    SummaryMessage,
    SummaryPolicy,
    SummaryRef,
    SummaryState,
    SummaryTurn,
    TaskState,
    state_of,
    to_summary_policy,
    trigger,
)
from services.observer.summary.stored import dump, load
from services.observer.summary.summarise import block, summarise, with_items

__all__ = [
    "Count",
    "Reason",
    "Redact",
    "Section",
    "Summary",
    "SummaryFact",
    "SummaryItem",
    "SummaryMessage",
    "SummaryPolicy",
    "SummaryRef",
    "SummaryState",
    "SummaryTurn",
    "TaskState",
    "block",
    "dump",
    "load",
    "state_of",
    "summarise",
    "to_summary_policy",
    "trigger",
    "with_items",
]
