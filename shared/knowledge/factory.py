"""The knowledge side behind one interface: SmartRAG over HTTP, or none."""

from collections.abc import Callable

from shared.knowledge.port import Knowledge


def make_knowledge(url: str | None, token: str | None, clock: Callable[[], float]) -> Knowledge:
    """The knowledge side of these settings; `clock` gives monotonic seconds."""
    if not url:
        from shared.knowledge.none import NoKnowledge

        return NoKnowledge()
    from shared.knowledge.smartrag import SmartRag

    return SmartRag(url, token, clock)
