"""The port to the knowledge side, whatever implements it, and why it gives no answer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from pydantic import JsonValue

from schemas.retrieval_plan import RetrievalPlan, SourceType
from schemas.vocabulary import Language, SearchMode
from shared.errors import TransientError

Reason = Literal[
    "not_configured", "circuit_open", "timeout", "connection", "server_error", "refused", "redirected", "too_large",
    "malformed",
]  # fmt: skip
Degraded = Literal["knowledge_timeout", "knowledge_stores_unavailable", "knowledge_answer_malformed"]


class KnowledgeUnavailable(TransientError):  # noqa: N818 # a state of affairs, said as one
    """The knowledge side was not queried, or returned nothing usable; `reason` says why, without quoting it."""

    def __init__(self, reason: Reason, problem: str = "") -> None:
        super().__init__(f"knowledge unavailable: {reason}{f' ({problem})' if problem else ''}")
        self.reason: Reason = reason

    @property
    def degraded(self) -> Degraded:
        """The reason as a package names it."""
        if self.reason == "timeout":
            return "knowledge_timeout"
        return (
            "knowledge_answer_malformed"
            if self.reason in ("malformed", "too_large")
            else "knowledge_stores_unavailable"
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """The requester of knowledge or the owner of ingested documents; policy may withhold the user."""

    tenant_id: str
    org_id: str = ""
    profile_id: str = ""
    user_id: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeCapabilities:
    """The capabilities of the server, with defaults for missing fields."""

    modes: frozenset[SearchMode] = frozenset({"exact", "semantic", "hybrid"})
    ingest: bool = True
    separates_users: bool = False
    """Documents are ingested and deleted in the name of an organisation and a user."""


NOTHING_AT_ALL = KnowledgeCapabilities(frozenset(), ingest=False)


@dataclass(frozen=True, slots=True)
class KnowledgeSection:
    """One section of a document, checked and truncated; `score` is None if the server gave none."""

    id: str
    source_uri: str
    text: str
    document_id: str | None = None
    section_id: str | None = None
    title: str = ""
    source_type: str = "other"
    language: Language = "other"
    mode: SearchMode = "hybrid"
    query: int = 0
    score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    org_tier: str = ""
    dated: datetime | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """The results in their final order, and the fields that the server did not apply."""

    sections: tuple[KnowledgeSection, ...] = ()
    ignored: tuple[str, ...] = ()
    left_out: int = 0
    """Invalid results: without text or address, or beyond the requested number."""
    foreign: int = 0
    """Results of other owners, which the server should not have returned."""


NOTHING = Bundle()


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource to ingest; `content` is None if only its description is known."""

    source_type: SourceType
    source_uri: str
    title: str
    language: Language
    content: str | None
    meta: Mapping[str, JsonValue]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class IngestReceipt:
    """The server has the resource, under this id if it gives one."""

    document_id: str | None = None


AnswerKey = tuple[Scope, int, str]
"""Tenant, organisation, profile and user; the version of their knowledge; the plan."""


def to_answer_key(scope: Scope, version: int, plan: RetrievalPlan) -> AnswerKey:
    """The cache key: equal for the same question on the same knowledge; contains no word of the question."""
    question = plan.model_dump_json(exclude={"request_id", "debug"})
    return (scope, version, hashlib.sha256(question.encode()).hexdigest())


class Knowledge(Protocol):
    """Optional by contract: the caller continues without it. KnowledgeUnavailable gives the reason."""

    @property
    def configured(self) -> bool:
        """Whether a server is configured."""
        ...

    async def capabilities(self) -> KnowledgeCapabilities:
        """The known capabilities of the server, without waiting."""
        ...

    async def learn(self, *, deadline_s: float) -> KnowledgeCapabilities:
        """The capabilities of the server, requested now unless they are recent."""
        ...

    async def retrieve(self, plan: RetrievalPlan, scope: Scope, *, deadline_s: float) -> Bundle:
        """The results of the plan."""
        ...

    async def ingest(self, resource: Resource, scope: Scope, *, key: str, deadline_s: float) -> IngestReceipt:
        """Ingests the resource; the same key again changes nothing."""
        ...

    async def delete(
        self, scope: Scope, document_ids: Sequence[str], *, keys: Sequence[str] = (), deadline_s: float
    ) -> None:
        """Deletes the documents by id or by the key of their ingest; a missing document counts as deleted."""
        ...

    async def close(self) -> None:
        """Closes connections."""
        ...
