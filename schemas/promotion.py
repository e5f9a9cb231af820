"""Memories that qualify to be offered to the enterprise side, and what is decided of them (seed 004 2.3, R186)."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, ExternalId, Instant, Reason

PromotionClass = Literal["personal", "business_secret", "public"]
Visibility = Literal["store", "region", "brand", "global"]
PromotionStatus = Literal[
    "candidate", "sanitize_failed", "pending_approval", "approved", "rejected", "expired", "write_failed"
]


class PromotionView(Contract):
    """One proposal with the memory's words and the figures that it qualified by.

    What is `approved` is with the knowledge side since `written_at`; before that it is on its way, or nobody is there
    to take it. `write_failed`: it is not there, `write_reason` says why, and it can be tried again.
    """

    proposal_id: UUID
    memory_id: UUID
    content: str
    class_: PromotionClass = Field(alias="class")
    visibility: Visibility
    status: PromotionStatus
    figures: dict[str, Any]
    reason: str | None = None
    created_at: Instant
    expires_at: Instant
    decided_at: Instant | None = None
    org_id: str = Field(default="", description="The organisation that may see it; empty: all of the tenant")
    written_at: Instant | None = None
    write_reason: str | None = None


class PromotionPage(Contract):
    """The proposals of one user, newest first."""

    promotions: tuple[PromotionView, ...]


class PromotionDecision(Contract):
    """What somebody who may decide says of a proposal.

    What is personal is approved only with `consent`: the person whom it is about has agreed. What is for a store or a
    region is for one organisation: `org_id`, or the one in which it was said. `requested_by` comes from the key.
    """

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    decision: Literal["approve", "reject"]
    reason: Reason = ""
    visibility: Visibility | None = None
    consent: bool = False
    org_id: ExternalId | None = None
    requested_by: ExternalId | None = None


class PromotionRetry(Contract):
    """An operator has an approved promotion written again that could not be."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    requested_by: ExternalId | None = None
    reason: Reason | None = None
