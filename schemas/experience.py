"""What an agent has learnt of its own tools and retrieval (seed 004 section 2.3, R063)."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, Instant, JsonObject


class ExperienceView(Contract):
    """One thing learnt, of a tool (`tool:<name>`) or of recalled memories (`retrieval:evidence`, `retrieval:core`).

    `shared`: learnt from several users, seen by all of the tenant; else from this user's receipts, seen by nobody else.
    """

    experience_id: UUID
    type: Literal["agent_experience"] = "agent_experience"
    key: str
    shared: bool
    figures: JsonObject
    confidence: float = Field(ge=0, le=1)
    updated_at: Instant


class ExperiencePage(Contract):
    """What the agent of one tenant has learnt, the surest first."""

    experience: tuple[ExperienceView, ...]
