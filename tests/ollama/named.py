"""The Ollama server named in the environment, for `make test-ollama`."""

from typing import Any

import pytest

from shared.settings import load


def named_server(config: pytest.Config) -> dict[str, Any] | None:
    """Its settings and models; None in any other run."""
    settings = load()
    if settings.ollama_url is None or config.getoption("markexpr") != "ollama":
        return None
    names = ("ollama_url", "chat_model", "embedding_model", "rerank_model", "embedding_dimension")
    return {name: getattr(settings, name) for name in names}
