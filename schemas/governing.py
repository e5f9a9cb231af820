"""What a user does to their memories by hand: two made one, many at once."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, ExternalId, Instant
from schemas.memory_item import Words
from schemas.turn_events import MERGED_MOST

BULK_MOST = 100
"""So many memories at most are named at once."""
BulkAction = Literal["forget", "pin", "unpin", "restore"]


class MergeRequest(Contract):
    """The others become one with the memory that is kept: in its words, or in those that are given."""

    keep: UUID
    others: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=MERGED_MOST)]
    content: Words | None = None
    idempotency_key: ExternalId | None = None


class BulkRequest(Contract):
    """One act for many memories: what is to be erased is named to `POST /v1/erasures` instead."""

    action: BulkAction
    memory_ids: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=BULK_MOST)]
    idempotency_key: ExternalId | None = None


class BulkRefusal(Contract):
    """A memory that the act does not reach, and why."""

    memory_id: UUID
    code: str
    problem: str


class BulkReceipt(Contract):
    """What became of each memory that was named; `receipt_id` is none where the act reaches none of them."""

    action: BulkAction
    receipt_id: UUID | None = None
    turn_id: UUID | None = None
    written_at: Instant | None = None
    accepted: tuple[UUID, ...] = ()
    refused: tuple[BulkRefusal, ...] = ()
