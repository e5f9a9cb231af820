"""`rerank` against a server with every known fault."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.factory import make_models
from shared.models.measured import Measured
from shared.models.none import NoModels
from shared.models.ollama import JUDGED_AT_ONCE, OllamaModels
from tests.integration.models.conftest import Clock
from tests.ollama.server import RERANKER, Mode, ScriptedOllama

TEXTS = ["The weather is fine.", "我现在喜欢喝龙井茶。", "I prefer green tea."]


@pytest.fixture
async def judge(server: ScriptedOllama, clock: Clock) -> AsyncIterator[OllamaModels]:
    """A provider with only a reranker."""
    del server.requests[:]
    provider = OllamaModels(
        server.url, chat_model=None, embedding_model=None, dimension=64, clock=clock, rerank_model=RERANKER
    )
    yield provider
    await provider.close()


@pytest.mark.parametrize(("query", "best"), [("我喜欢喝什么茶", 1), ("Which tea do I prefer", 2)])
async def test_each_text_is_scored_separately(judge: OllamaModels, query: str, best: int) -> None:
    scores = await judge.rerank(query, TEXTS, deadline_s=5)
    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 for score in scores)
    assert max(range(len(TEXTS)), key=scores.__getitem__) == best


async def test_the_score_is_the_models_probability(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.judge = lambda _, text: 0.8 if "tea" in text else 0.25
    assert await judge.rerank("tea?", TEXTS, deadline_s=5) == pytest.approx([0.25, 0.25, 0.8])


async def test_the_request_asks_for_one_token_and_its_alternatives(judge: OllamaModels, server: ScriptedOllama) -> None:
    await judge.rerank("tea?", TEXTS[:1], deadline_s=5)
    (asked,) = server.asked("/api/generate")
    assert (asked["raw"], asked["stream"], asked["logprobs"], asked["top_logprobs"]) == (True, False, True, 20)
    assert (asked["options"]["num_predict"], asked["options"]["temperature"]) == (1, 0)
    assert asked["prompt"].startswith("<|im_start|>system\nJudge whether the Document")


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("prose", MalformedAnswer),
        ("empty", MalformedAnswer),
        ("broken_json", ModelUnavailable),
        ("wrong_schema", ModelUnavailable),
        ("cut_off", ModelUnavailable),
        ("http_500", ModelUnavailable),
    ],
)
async def test_an_invalid_judgement_is_an_error_without_retry(
    judge: OllamaModels, server: ScriptedOllama, mode: Mode, error: type[Exception]
) -> None:
    server.script(mode)
    began = time.monotonic()
    with pytest.raises(error):
        await judge.rerank("tea?", TEXTS, deadline_s=5)
    assert time.monotonic() - began < 4
    assert len(server.asked("/api/generate")) <= len(TEXTS)


async def test_one_failed_text_fails_the_whole_list(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.script("well", "prose", "well")
    with pytest.raises(MalformedAnswer):
        await judge.rerank("tea?", TEXTS, deadline_s=5)


async def test_a_slow_judge_ends_at_the_deadline_with_its_calls(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.script("slow")
    began = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        await judge.rerank("tea?", TEXTS * 10, deadline_s=0.15)
    assert caught.value.reason == "timeout"
    assert time.monotonic() - began < 10
    assert len(server.asked("/api/generate")) <= JUDGED_AT_ONCE
    server.script("well")
    assert len(await judge.rerank("tea?", TEXTS, deadline_s=5)) == len(TEXTS)


async def test_concurrent_lists_share_the_limited_calls(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.script("slow")
    server.slow_s = 0.05
    await asyncio.gather(*(judge.rerank("tea?", TEXTS, deadline_s=10) for _ in range(8)))
    assert len(server.asked("/api/generate")) == 8 * len(TEXTS)
    assert server.most_at_once == JUDGED_AT_ONCE


async def test_five_failures_open_the_circuit(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.script("http_500")
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await judge.rerank("tea?", TEXTS[:1], deadline_s=5)
    with pytest.raises(ModelUnavailable) as caught:
        await judge.rerank("tea?", TEXTS[:1], deadline_s=5)
    assert caught.value.reason == "circuit_open"
    assert len(server.asked("/api/generate")) == 5


async def test_a_missing_model_is_named(judge: OllamaModels, server: ScriptedOllama) -> None:
    server.models = ()
    with pytest.raises(ModelUnavailable) as caught:
        await judge.rerank("tea?", TEXTS, deadline_s=5)
    assert caught.value.reason == "model_missing"


async def test_an_empty_list_returns_at_once(judge: OllamaModels) -> None:
    assert await judge.rerank("tea?", [], deadline_s=5) == []


async def test_a_missing_reranker_is_reported(server: ScriptedOllama, models: OllamaModels) -> None:
    for provider in (NoModels(), models):
        with pytest.raises(ModelUnavailable) as caught:
            await provider.rerank("tea?", TEXTS, deadline_s=5)
        assert caught.value.reason == "not_configured"


async def test_a_reranker_alone_requires_the_ollama_server(server: ScriptedOllama, clock: Clock) -> None:
    provider = make_models(server.url, None, None, None, 64, clock, RERANKER)
    both = Measured(NoModels(), provider, clock)
    assert (both.rerank_model_id, provider.chat_model_id) == (RERANKER, None)
    assert len(await both.rerank("tea?", TEXTS, deadline_s=5)) == len(TEXTS)
    await both.close()
