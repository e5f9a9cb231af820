"""A scripted model server and its provider."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from shared.models.ollama import OllamaModels
from shared.models.prompt import Prompt
from tests.ollama.server import CHAT, EMBEDDING, ScriptedOllama


class Likes(BaseModel):
    """The answers to the test prompts."""

    items: list[str]


@dataclass
class Clock:
    """A clock that the test advances."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def prompt(deadline_s: float = 5.0) -> Prompt[Likes]:
    """A small prompt."""
    return Prompt("likes", "1", "List what the user likes.", "我喜欢喝龙井茶。", Likes, 100, deadline_s)


@pytest.fixture
def server(server: ScriptedOllama) -> ScriptedOllama:
    """The scripted server, reset, with a valid answer."""
    server.answer = '{"items": ["龙井茶", "light mode"]}'
    return server


@pytest.fixture
def clock() -> Clock:
    """Monotonic seconds that the test sets."""
    return Clock()


@pytest.fixture
async def models(server: ScriptedOllama, clock: Clock) -> AsyncIterator[OllamaModels]:
    """The provider, with short retry delays."""
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
