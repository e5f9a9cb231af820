"""Fixtures of tests with a model or a knowledge side."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.ollama.named import named_server
from tests.ollama.server import ScriptedOllama, serve_ollama
from tests.rag.server import Rag, serve_rag
from tests.system.breakers import forget_failures
from tests.system.databases import Databases
from tests.system.running import System, policy_file, rest, running, settings_for, sharing


@pytest.fixture(scope="session")
async def one_ollama() -> AsyncGenerator[ScriptedOllama]:
    """The scripted model server of this process."""
    async with serve_ollama() as server:
        yield server


@pytest.fixture(scope="module")
def ollama(one_ollama: ScriptedOllama) -> ScriptedOllama:
    """The scripted model server, reset for each file."""
    one_ollama.reset()
    return one_ollama


@pytest.fixture(scope="session")
async def one_with_model(databases: Databases, kafka: str, one_ollama: ScriptedOllama) -> AsyncGenerator[System]:
    """Every service, with a model without a time limit; all tests of the process share it."""
    settings = settings_for(databases.fresh(), kafka, ollama_url=one_ollama.url, embedding_dimension=64)
    async with sharing(settings) as system:
        yield system


class WithModel(Protocol):
    """Opens a system with a reset scripted model.

    A test marked `policy` or `late_model` gets a system of its own, the latter with a model that is later than `late_s`
    allows; a test marked `ollama` gets the server that is named.
    """

    def __call__(self, *, late_s: float) -> AbstractAsyncContextManager[System]: ...


SLOW = pytest.param("slow", marks=pytest.mark.late_model)
"""The mode of a model that answers too late."""


@pytest.fixture
def with_model(
    request: pytest.FixtureRequest,
    one_with_model: System,
    databases: Databases,
    kafka: str,
    ollama: ScriptedOllama,
    tmp_path: Path,
) -> WithModel:
    """The shared system, unless a mark asks for one of its own."""

    @asynccontextmanager
    async def opened(*, late_s: float) -> AsyncGenerator[System]:
        ollama.reset()
        policy = request.node.get_closest_marker("policy")
        slices: dict[str, Mapping[str, Any]] = dict(policy.kwargs) if policy else {}
        late = request.node.get_closest_marker("late_model")
        named = named_server(request.config) if request.node.get_closest_marker("ollama") else None
        if not late and not slices and not named:
            await one_with_model.whole()
            forget_failures()
            yield one_with_model
            return
        if late:
            ollama.slow_s = 3 * late_s
            slices["observer"] = {"model_deadline_s": late_s}
        models = named or {"ollama_url": ollama.url, "embedding_dimension": 64}
        settings = settings_for(databases.fresh(), kafka, policy=policy_file(tmp_path, **slices), **models)
        async with running(settings) as own:
            yield own

    return opened


@pytest.fixture(scope="module")
async def one_rag() -> AsyncGenerator[Rag]:
    """A knowledge server."""
    async with serve_rag() as server:
        yield server


@pytest.fixture(scope="module", autouse=True)
async def quiet(request: pytest.FixtureRequest) -> None:
    """The shared system pauses during a file that does not use it."""
    if not any("one_system" in item.fixturenames for item in request.session.items if item.path == request.path):
        await rest()
