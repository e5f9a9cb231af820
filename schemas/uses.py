"""Where a memory was used: the packages that carried it, and how each was received."""

from typing import Literal
from uuid import UUID

from schemas.base import Contract, Instant
from schemas.vocabulary import FeedbackSignal, FeedbackVerdict, UtilizationSignal


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
