"""The resource side behind one door: SmartRAG over HTTP, or none."""

from collections.abc import Callable

from shared.knowledge.port import Knowledge


def make_knowledge(url: str | None, token: str | None, clock: Callable[[], float]) -> Knowledge:
    """The knowledge that these settings describe; `clock` gives monotonic seconds."""
    if not url:
        from shared.knowledge.none import NoKnowledge

        return NoKnowledge()
    from shared.knowledge.smartrag import SmartRag

    return SmartRag(url, token, clock)
