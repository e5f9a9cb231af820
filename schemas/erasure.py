"""Erasure as its users ask for it and see it (seed 004 section 3.1.1, R132-R142)."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasChoices, Field, StringConstraints

from schemas.base import NO_NUL, NULL, WORDS_PATTERN, Contract, ExternalId, Instant, JsonSchemaValue, Reason, has, when
from schemas.vocabulary import ErasureScope, TombstoneStatus

MOST = 1000
"""So many sessions or memories may be named in one request."""
Key = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=NO_NUL)]


class ErasureRequest(Contract):
    """What is to be erased of one user, for good. A request on the topic `turn.commit` is known by its `scope`.

    `all`: everything. `personal`: everything that was learnt of the user or made searchable; the log of what was said
    stays, and nothing is learnt from it again. `session`: these sessions, and what was learnt in them. `items`: these
    memories with all their versions, and the words that they came from.
    """

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    scope: ErasureScope
    session_ids: tuple[ExternalId, ...] = Field(default=(), max_length=MOST)
    memory_ids: tuple[UUID, ...] = Field(
        default=(), max_length=MOST, validation_alias=AliasChoices("memory_ids", "item_ids")
    )
    requested_by: ExternalId | None = None
    """Who asks, where it is not the user: then a reason is needed. With a key it comes from the key."""
    reason: Reason | None = None
    profile: Annotated[str, StringConstraints(max_length=64)] | None = None
    """The legal profile whose deadline holds; policy's own without it."""
    idempotency_key: Key | None = None

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """Sessions with their scope alone, memories with theirs, a reason where another asks than the user."""
        memories = ("memory_ids", "item_ids")
        no_memories = {"properties": {name: {"maxItems": 0} for name in memories}}
        return (
            when("scope", "session", has("session_ids", minItems=1), {"properties": {"session_ids": {"maxItems": 0}}}),
            when("scope", "items", has(*memories, minItems=1), no_memories),
            {"anyOf": [{"properties": {"requested_by": NULL}}, has("reason", pattern=WORDS_PATTERN)]},
        )


class DeletionReceipt(Contract):
    """The erasure is in force: nothing of it is shown or learnt from; its rows go by `estimated_completion`."""

    receipt_id: UUID
    tombstone_id: UUID
    scope: ErasureScope
    status: TombstoneStatus
    item_count: int
    """Memories that it covers."""
    row_count: int
    """Rows of all tables that it has hidden, emptied or removed so far."""
    requested_at: Instant
    estimated_completion: Instant
    deadline_at: Instant
    profile: str


class ErasureStep(Contract):
    """One store of an erasure: how many rows went, and when it was done."""

    step: str
    affected: int
    done_at: Instant | None = None
    detail: dict[str, Any] = Field(default_factory=dict)


class ErasureView(DeletionReceipt):
    """An erasure and where it stands; `proof` is there once it is completed."""

    session_ids: tuple[str, ...] = ()
    memory_ids: tuple[UUID, ...] = ()
    requested_by: str
    reason: str | None = None
    attempts: int = 0
    error: str | None = None
    escalated_at: Instant | None = None
    completed_at: Instant | None = None
    history: tuple[dict[str, Any], ...] = ()
    steps: tuple[ErasureStep, ...] = ()
    proof: dict[str, Any] | None = None


class ErasurePage(Contract):
    """A user's erasures, newest first."""

    erasures: tuple[ErasureView, ...]


class ErasureRequeue(Contract):
    """An operator has an escalated erasure tried again."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    requested_by: ExternalId
    reason: Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=NO_NUL)]


class ForgetRequest(Contract):
    """What `DELETE /v1/memories` erases: the memories named, else all that was learnt (X39)."""

    memory_ids: tuple[UUID, ...] = Field(
        default=(), max_length=MOST, validation_alias=AliasChoices("memory_ids", "item_ids")
    )
    reason: Reason | None = None
    idempotency_key: Key | None = None


class ResidueView(Contract):
    """A scan of every text column of every table for what an erasure covers."""

    tombstone_id: UUID
    status: TombstoneStatus
    rows_left: int
    left: dict[str, int]
    tables: int
    columns: int
    kept_without_words: dict[str, int]
