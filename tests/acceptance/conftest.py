"""What the tests with a model or with knowledge share."""

from collections.abc import AsyncGenerator

import pytest

from tests.ollama.server import ScriptedOllama, serve_ollama
from tests.rag.server import Rag, serve_rag


@pytest.fixture(scope="module")
async def ollama() -> AsyncGenerator[ScriptedOllama]:
    """A scripted server."""
    async with serve_ollama() as server:
        yield server


@pytest.fixture(scope="module")
async def one_rag() -> AsyncGenerator[Rag]:
    """A knowledge server."""
    async with serve_rag() as server:
        yield server
