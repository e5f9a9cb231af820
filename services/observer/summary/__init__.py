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
    ends_stage,
    find_reason,
    to_summary_policy,
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
    "ends_stage",
    "find_reason",
    "load",
    "summarise",
    "to_summary_policy",
    "with_items",
]
