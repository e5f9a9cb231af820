"""What of a user's turns went to the knowledge side, and how that side says that it has changed (seed 004 4.4)."""

from typing import Literal
from uuid import UUID

from schemas.base import Contract, ExternalId, Instant, Reason

ResourceState = Literal["pending", "ingested", "skipped", "failed"]


class ResourceView(Contract):
    """A reference or product of a turn; `source_uri` is null once it has been erased, `reason` says why it is where."""

    resource_id: UUID
    turn_id: UUID
    session_id: str
    ref_type: Literal["url", "file", "artifact", "tool"]
    source_type: str
    source_uri: str | None = None
    title: str | None = None
    state: ResourceState
    reason: str | None = None
    attempts: int = 0
    document_id: str | None = None
    requested_at: Instant
    settled_at: Instant | None = None


class ResourcePage(Contract):
    """Some resources of one user, newest first."""

    resources: tuple[ResourceView, ...]


class KnowledgeChanged(Contract):
    """Knowledge has changed beside us: of a tenant, one organisation of it, or one profile; absent means all.

    `requested_by` comes from the key; it is on record with `reason`.
    """

    tenant_id: ExternalId = "default"
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None
    requested_by: ExternalId | None = None
    reason: Reason | None = None


class KnowledgeVersion(Contract):
    """How often what was named has changed by now."""

    version: int
