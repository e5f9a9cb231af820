"""The envelope of every event between services (model 4.4): ids and hashes, never user text."""

from typing import Any
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, Instant, StoredId


class Envelope(Contract):
    """One event. `idempotency_key` is the same for every delivery of the same fact."""

    event_id: UUID
    event_type: str
    payload_version: int = 1
    idempotency_key: str
    trace_id: str
    tenant_id: StoredId
    user_id: StoredId
    session_id: str | None = None
    occurred_at: Instant
    policy_version: str
    payload: dict[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """The Kafka key: events of one user stay in order."""
        return user_key(self.tenant_id, self.user_id)


def user_key(tenant_id: str, user_id: str) -> str:
    """The partition key of one user."""
    return f"{tenant_id}:{user_id}"
