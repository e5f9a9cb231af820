"""The Ollama server that the environment names, where it names one."""

from typing import Any

from shared.settings import load


def named_server() -> dict[str, Any] | None:
    """The settings that say where it is and which models it is to be asked for."""
    settings = load()
    if settings.ollama_url is None:
        return None
    names = ("ollama_url", "chat_model", "embedding_model", "rerank_model", "embedding_dimension")
    return {name: getattr(settings, name) for name in names}
