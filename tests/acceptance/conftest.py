"""What the tests with a model or with knowledge share."""

from collections.abc import AsyncGenerator

import pytest

from tests.ollama.server import ScriptedOllama, serve_ollama
from tests.rag.server import Rag, serve_rag
from tests.system.running import rest


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


@pytest.fixture(scope="module", autouse=True)
async def quiet(request: pytest.FixtureRequest) -> None:
    """The shared system rests while a file is tested that does not ask for it."""
    if not any("one_system" in item.fixturenames for item in request.session.items if item.path == request.path):
        await rest()
