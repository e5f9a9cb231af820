"""The knowledge side behind one interface: SmartRAG over HTTP, or none."""

from collections.abc import Callable, Sequence

from schemas.retrieval_plan import RetrievalPlan
from shared.knowledge.port import (
    NOTHING,
    NOTHING_AT_ALL,
    Bundle,
    IngestReceipt,
    Knowledge,
    KnowledgeCapabilities,
    KnowledgeUnavailable,
    Resource,
    Scope,
)


class NoKnowledge:
    """Finds nothing and accepts nothing."""

    configured = False

    async def capabilities(self) -> KnowledgeCapabilities:
        """None."""
        return NOTHING_AT_ALL

    async def learn(self, *, deadline_s: float) -> KnowledgeCapabilities:
        """Raises KnowledgeUnavailable: there is no server."""
        del deadline_s
        raise KnowledgeUnavailable("not_configured")

    async def retrieve(self, plan: RetrievalPlan, scope: Scope, *, deadline_s: float) -> Bundle:
        """The empty bundle."""
        del plan, scope, deadline_s
        return NOTHING

    async def ingest(self, resource: Resource, scope: Scope, *, key: str, deadline_s: float) -> IngestReceipt:
        """Raises KnowledgeUnavailable: there is no server."""
        del resource, scope, key, deadline_s
        raise KnowledgeUnavailable("not_configured")

    async def delete(
        self, scope: Scope, document_ids: Sequence[str], *, keys: Sequence[str] = (), deadline_s: float
    ) -> None:
        """Has nothing to delete."""
        del scope, document_ids, keys, deadline_s

    async def close(self) -> None:
        """Has nothing to close."""


def make_knowledge(url: str | None, token: str | None, clock: Callable[[], float]) -> Knowledge:
    """The knowledge side of these settings; `clock` gives monotonic seconds."""
    if not url:
        return NoKnowledge()
    from shared.knowledge.smartrag import SmartRag

    return SmartRag(url, token, clock)
