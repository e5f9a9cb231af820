"""A user decides whether a model may read messages and rerank results, in both languages."""

import json
from typing import Any

import pytest

from tests.acceptance.conftest import WithModel
from tests.acceptance.test_settings import chosen
from tests.ollama.server import ScriptedOllama
from tests.system.person import Person

pytestmark = pytest.mark.kafka
LATE_S = 30.0


def answer(body: dict[str, Any]) -> str:
    """The model finds, changes and plans nothing; it ranks the last passage first."""
    user = body["messages"][1]["content"]
    data = json.loads(user.split("<data>")[1].split("</data>")[0]) if "<data>" in user else {}
    if "passages" in data:
        return json.dumps({"ids": [each["id"] for each in reversed(data["passages"])]})
    return '{"items": [], "done": [], "wrong": []}'


def is_asked_about(ollama: ScriptedOllama, words: str) -> bool:
    """Whether the chat model was shown these words."""
    return any(words in json.dumps(each, ensure_ascii=False) for each in ollama.asked("/api/chat"))


@pytest.mark.parametrize(
    ("first", "second"), [("I live in Oslo.", "I like jasmine tea."), ("我住在苏州。", "我喜欢喝茉莉花茶。")]
)
async def test_a_model_reads_only_if_allowed(
    with_model: WithModel, ollama: ScriptedOllama, first: str, second: str
) -> None:
    async with with_model(late_s=LATE_S) as system:
        ollama.answer = answer
        person = Person(system)
        await chosen(person, auto_mode="rules")
        await person.say(first, end_session=True)
        await system.settled()
        assert not is_asked_about(ollama, first.rstrip(".。"))
        await chosen(person, auto_mode=None)
        await person.think(second)
        assert is_asked_about(ollama, second.rstrip(".。"))


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (
            ("I like jasmine tea.", "I like green tea.", "My sister grows tea.", "I bought a tea pot."),
            "Which tea do I like?",
        ),
        (("我喜欢喝茉莉花茶。", "我喜欢喝龙井茶。", "我姐姐种茶。", "我买了一个茶壶。"), "我喜欢喝什么茶？"),
    ],
)
async def test_a_model_reranks_only_if_allowed(
    with_model: WithModel, ollama: ScriptedOllama, texts: tuple[str, ...], question: str
) -> None:
    async with with_model(late_s=LATE_S) as system:
        ollama.answer = answer
        person = Person(system)
        await chosen(person, auto_mode="rules")
        await person.say(*texts)
        assert await reranked_by(person, question) is False
        await chosen(person, llm_rerank=True)
        assert await reranked_by(person, question)
        await chosen(person, llm_rerank=False)
        assert await reranked_by(person, question) is False


async def reranked_by(person: Person, question: str) -> str | bool:
    """Which reranker ordered the results for the question."""
    package = await person.compose(question, session="another")
    assert package.debug
    return package.debug.explain.rerank
