"""The shared scripted server."""

from collections.abc import AsyncIterator

import pytest

from tests.ollama.server import ScriptedOllama, serve_ollama
from tests.system.running import rest


@pytest.fixture(scope="session")
async def one_server() -> AsyncIterator[ScriptedOllama]:
    """One server for all tests."""
    async with serve_ollama() as running:
        yield running


@pytest.fixture
def server(one_server: ScriptedOllama, monkeypatch: pytest.MonkeyPatch) -> ScriptedOllama:
    """The scripted server, reset; its address ignores any proxy in the environment."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    one_server.reset()
    return one_server


@pytest.fixture(scope="module", autouse=True)
async def quiet(request: pytest.FixtureRequest) -> None:
    """The shared system pauses during a file that does not use it."""
    if not any("one_system" in item.fixturenames for item in request.session.items if item.path == request.path):
        await rest()
