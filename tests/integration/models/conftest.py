"""A scripted server and a provider that asks it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from shared.models.ollama import OllamaModels
from shared.models.prompt import Prompt
from tests.ollama.server import CHAT, EMBEDDING, ScriptedOllama, serve_ollama


class Likes(BaseModel):
    """What the test prompts ask for."""

    items: list[str]


@dataclass
class Clock:
    """A clock that moves when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def prompt(deadline_s: float = 5.0) -> Prompt[Likes]:
    """A small question."""
    return Prompt("likes", "1", "List what the user likes.", "我喜欢喝龙井茶。", Likes, 100, deadline_s)


@pytest.fixture(scope="session")
async def one_server() -> AsyncIterator[ScriptedOllama]:
    """One server for all tests of this folder."""
    async with serve_ollama() as running:
        yield running


@pytest.fixture
def server(one_server: ScriptedOllama, monkeypatch: pytest.MonkeyPatch) -> ScriptedOllama:
    """The scripted server as new, reached directly whatever proxy the environment names."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    one_server.reset()
    one_server.answer = '{"items": ["龙井茶", "light mode"]}'
    return one_server


@pytest.fixture
def clock() -> Clock:
    """Monotonic seconds in the test's hands."""
    return Clock()


@pytest.fixture
async def models(server: ScriptedOllama, clock: Clock) -> AsyncIterator[OllamaModels]:
    """The provider, with retries that do not wait long."""
    provider = OllamaModels(
        server.url,
        chat_model=CHAT,
        embedding_model=EMBEDDING,
        dimension=64,
        clock=clock,
        retry_delays_s=(0.001, 0.001, 0.001),
    )
    yield provider
    await provider.close()
