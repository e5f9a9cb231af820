"""What compose and the librarian go by when they speak to the knowledge side."""

from typing import Literal

from pydantic import Field

from shared.policy.base import Slice


class KnowledgePolicy(Slice):
    """When the knowledge side (SmartRAG) is asked, what it may be told, and what goes there."""

    ask: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="When it is asked. `auto`: the planner decides (documents, rules, the world; not small talk or"
        " oneself)",
    )
    deadline_ms: int = Field(
        default=300, ge=1, description="Time for one question, never beyond the request's own deadline"
    )
    top_k: int = Field(default=12, ge=1, le=200, description="Results asked for")
    weight: float = Field(default=1.0, ge=0, le=10, description="What a place in its answer counts for in fusion")
    send_user: bool = Field(
        default=True,
        description="Whether it is told the user's id; false: no user's things are offered to it either, unless"
        " `ingest_shared`",
    )
    precedence: bool = Field(
        default=True,
        description="Whether a rule of the enterprise keeps a preference that it forbids out of the package",
    )
    cache_s: float = Field(default=300.0, ge=0, description="How long an answer may be used again; 0: never")
    cache_size: int = Field(default=2000, ge=0, description="Answers kept by each compose process")
    ingest: tuple[Literal["url", "file", "artifact", "tool"], ...] = Field(
        default=("url", "file", "artifact", "tool"), description="What of turns is offered to it; empty: nothing"
    )
    ingest_shared: bool = Field(
        default=False,
        description="Whether it is offered things of users though it does not keep users apart: everybody of the"
        " tenant then finds those of which it does not repeat the `owner`",
    )
    ingest_deadline_s: float = Field(default=10.0, gt=0, description="Time for one offer")
    ingest_attempts: int = Field(default=8, ge=1, description="Attempts after which a resource is set aside as failed")
    ingest_max_chars: int = Field(default=200_000, ge=1, description="Longer contents are cut here")
