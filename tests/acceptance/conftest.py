"""What the tests with a model share."""

from collections.abc import AsyncGenerator

import pytest

from tests.ollama.server import ScriptedOllama, serve_ollama


@pytest.fixture(scope="module")
async def ollama() -> AsyncGenerator[ScriptedOllama]:
    """A scripted server, reached directly whatever proxy the environment names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("no_proxy", "127.0.0.1")
        async with serve_ollama() as server:
            yield server
