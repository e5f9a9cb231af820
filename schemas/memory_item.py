"""A memory as callers see it (seed 004 section 2.3.1, MemoryItem v1 and WriteReceipt v1; X05, X07)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AliasChoices, Field, StringConstraints, model_validator

from schemas.base import WORDS_PATTERN, Contract, ExternalId, HasWords, Instant, Json, JsonSchemaValue, has
from schemas.memory_types import MemoryTypeV1
from schemas.vocabulary import Assertion, Epistemic, FeedbackVerdict, MemoryStatus, MemoryType

Words = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=4000),
    HasWords,
    Field(json_schema_extra={"pattern": WORDS_PATTERN}),
]
"""What a user writes of one memory."""


class MemoryItem(Contract):
    """One version of one memory. `memory_id` is its name everywhere; `memory_item_id` and `item_id` are read too."""

    memory_id: UUID = Field(validation_alias=AliasChoices("memory_id", "memory_item_id", "item_id"))
    user_id: str
    memory_type: Annotated[
        MemoryTypeV1,
        Field(description="What MemoryItem v1 calls it, derived from `type`, by which memories are asked for"),
    ]
    content: str
    valid_at: Instant
    invalid_at: Instant | None = None
    confidence: float = Field(ge=0, le=1)
    source_sessions: tuple[str, ...] = ()
    superseded_by: UUID | None = None
    version: int = Field(ge=1)
    provenance: dict[str, Any]
    epistemic_type: Epistemic | None = None
    type: MemoryType
    key: str | None = None
    value: Json = None
    status: MemoryStatus = "active"
    assertion: Assertion = "declared"
    root_id: UUID | None = None
    supersedes: tuple[UUID, ...] = ()
    valid_until: Instant | None = None
    held_back: str | None = Field(
        default=None, description="The rule by which packages do not show all of it; `content` is what they show"
    )
    fused_at: Instant | None = Field(default=None, description="Since when it is shown nowhere: rejected too often")
    pinned: bool = Field(default=False, description="It leads core memory, and upkeep leaves it as it is")
    silenced_at: Instant | None = Field(default=None, description="Since when the user does not want it brought up")
    created_at: Instant | None = None


class MemoryEdit(Contract):
    """The next version of a memory, in the user's own words: its text, its value, or both."""

    text: Words | None = None
    value: Json = None
    idempotency_key: ExternalId | None = None

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """A text or a value."""
        return ({"anyOf": [has("text"), has("value")]},)

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.text is None and self.value is None:
            raise ValueError("an edit needs a text or a value")
        return self


class Settlement(Contract):
    """Which side of an open conflict holds: what was known, or what was said against it."""

    keep: Literal["known", "said"]


class WriteReceipt(Contract):
    """The fate of one write, which `GET /v1/writes/{receipt_id}` tells at any time.

    `memory_id` is the memory that it left, or that it was merged into; a write that was rejected left none (X34).
    """

    receipt_id: UUID
    memory_id: UUID | None = Field(
        default=None, validation_alias=AliasChoices("memory_id", "memory_item_id", "item_id")
    )
    written_at: Instant
    status: Literal["accepted", "rejected", "merged"]
    reason: str | None = Field(default=None, description="Why it was merged or rejected")
    settled: bool = Field(default=False, description="False: the status is what will become of it, by what is known")
    held_back: str | None = Field(
        default=None, description="The rule by which packages do not show what was written, or not all of it"
    )
    turn_id: UUID | None = None


class RememberRequest(Contract):
    """A memory that the user dictates; it takes the same path as everything else that is learnt."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    session_id: ExternalId = "remember"
    text: Words
    idempotency_key: ExternalId | None = None


class MemoryFeedback(Contract):
    """What the user says of one memory: right confirms it, wrong takes it back, not_useful counts as an answer that
    used nothing of it, never_again keeps it out of every package until `right` or the end of the feedback.

    The same verdict on the same memory of the same package counts once, and `not_useful` without one once a day.
    """

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    memory_id: UUID = Field(validation_alias=AliasChoices("memory_id", "memory_item_id", "item_id"))
    context_id: UUID | None = Field(default=None, description="The package in which the user saw it")
    verdict: FeedbackVerdict
    idempotency_key: ExternalId | None = None
