"""Receipts as clients see them: what was injected and why, what was left out and why (seed 004 section 4.1, R123-R128).

Of each decision these fields are exposed: decision, decision_reason, context_position, utilized, user_feedback_signal.
Scores, policy versions and guardrails stay inside.
"""

from typing import Literal
from uuid import UUID

from schemas.base import Contract, Instant
from schemas.vocabulary import DropReason, FeedbackSignal, FeedbackVerdict, UtilizationSignal

DecisionReason = Literal[DropReason, "fused", "erased", "not_found", "unknown"]


class ContextPosition(Contract):
    """Where in the package: among the evidence or the pinned memories, counted from 0, and in which part of it."""

    slot: Literal["evidence", "system"]
    index: int
    zone: Literal["head", "middle", "tail"]


class ReceiptItem(Contract):
    """What became of one memory, message or resource, and `why` in a sentence.

    `utilized`: whether the answer took it up; null where no answer was heard, or where it was not injected. `verdict`:
    what the user said of it by hand, as it stood in this package.
    `text`: what it says now; null where it is not kept any more, or comes from elsewhere.
    """

    id: str
    text: str | None = None
    source_uri: str | None = None
    decision: Literal["injected", "rejected", "not_considered"]
    decision_reason: DecisionReason
    context_position: ContextPosition | None = None
    utilized: bool | None = None
    user_feedback_signal: FeedbackSignal | None = None
    verdict: FeedbackVerdict | None = None
    why: str


class ContextReceipt(Contract):
    """Every decision of one package, what is in it first, in its order; `degraded_reason` as the package gave it.

    `message`: the user's words that it was for, where they are kept and its answer was committed.
    """

    context_id: str
    session_id: str
    message: str | None = None
    request_id: str | None = None
    created_at: Instant
    degraded_reason: tuple[str, ...] = ()
    injected: int
    rejected: int
    items: tuple[ReceiptItem, ...]


class ContextSummary(Contract):
    """One package in a list; `message` as of its receipt."""

    context_id: str
    session_id: str
    message: str | None = None
    request_id: str | None = None
    created_at: Instant
    turn_id: str | None = None
    memories: int
    degraded: bool
    utilized: bool | None = None
    user_feedback_signal: FeedbackSignal | None = None


class ContextPage(Contract):
    """Some packages of one user, newest first."""

    contexts: tuple[ContextSummary, ...]


class MemoryUse(Contract):
    """A package that carried a version of the memory; `message` is what the user had said, while it is still stored.

    `used`: whether the answer took it up; null where no answer was heard. `verdict`: what the user said of it by hand.
    """

    context_id: UUID
    session_id: str
    created_at: Instant
    memory_id: UUID
    slot: Literal["core", "evidence"]
    turn_id: UUID | None = None
    message: str | None = None
    used: bool | None = None
    utilization_signal: UtilizationSignal | None = None
    user_feedback_signal: FeedbackSignal | None = None
    verdict: FeedbackVerdict | None = None


class MemoryUses(Contract):
    """The uses of a memory in all of its versions, newest first, among the user's newest packages."""

    uses: tuple[MemoryUse, ...]
