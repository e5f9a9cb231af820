"""The policy of compose and the librarian for the knowledge side."""

from typing import Literal

from pydantic import Field

from shared.policy.base import Slice


class KnowledgePolicy(Slice):
    """When the knowledge side (SmartRAG) is queried, and which data it gets."""

    ask: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="When it is queried. `auto`: the planner decides (documents, rules, the world; not small "
        "talk or questions about oneself)",
    )
    deadline_ms: int = Field(default=300, ge=1, description="Time for one query, within the deadline of the request")
    top_k: int = Field(default=12, ge=1, le=200, description="Number of requested results")
    weight: float = Field(default=1.0, ge=0, le=10, description="Weight of its results in fusion")
    send_user: bool = Field(
        default=True,
        description="Whether requests include the user's id; false: no user documents are ingested either, "
        "unless `ingest_shared`",
    )
    precedence: bool = Field(
        default=True,
        description="Whether an enterprise rule keeps contradicting preferences out of the package",
    )
    cache_s: float = Field(default=300.0, ge=0, description="How long answers are cached; 0: not at all")
    cache_size: int = Field(default=2000, ge=0, description="Cached answers per compose process")
    ingest: tuple[Literal["url", "file", "artifact", "tool"], ...] = Field(
        default=("url", "file", "artifact", "tool"), description="Parts of turns that are ingested; empty: none"
    )
    ingest_shared: bool = Field(
        default=False,
        description="Whether user documents are ingested even if the server does not separate users: everybody "
        "in the tenant then finds documents without a repeated `owner`",
    )
    ingest_deadline_s: float = Field(default=10.0, gt=0, description="Time for one ingest")
    ingest_attempts: int = Field(default=8, ge=1, description="Attempts after which a resource is marked as failed")
    ingest_max_chars: int = Field(default=200_000, ge=1, description="Maximum length of ingested content")
