"""The complete path to models: on the scripted server, or with `make test-ollama` on a named one.

These tests hold even for models with random weights: they check that an answer is valid and arrives, not its quality.
"""

import json
import math
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from ollama import AsyncClient

from services.analyzer import prompts as analyzer
from services.compose import prompts as compose
from services.observer import prompts as observer
from shared.models.errors import ModelUnavailable
from shared.models.ollama import OllamaModels
from shared.models.ollama_errors import same_model
from shared.models.prompt import Prompt
from tests.ollama import schemas
from tests.ollama.named import named_server
from tests.ollama.server import CHAT, EMBEDDING, RERANKER, ScriptedOllama

pytestmark = pytest.mark.ollama
PATIENCE_S = 280.0
"""The time limit of a model on a small machine."""
SHORT_S = 0.15
TEXTS = ("我喜欢喝龙井茶。", "I like green tea.")
SAID = {"zh": "我搬到苏州了，以后别再按杭州查天气。", "en": "I moved to Lyon; nothing over 500 please."}


def questions(text: str) -> dict[str, Prompt[Any]]:
    """Every prompt of the product, about this text."""
    said = [observer.PromptMessage("user", text)]
    shown = [observer.ShownLine("g1", "goals", "tea"), observer.ShownLine("t1", "tasks", "tea", "todo")]
    return {
        **{name: ask(said, []) for name, ask in observer.EXTRACT.items()},
        **{name: ask(shown, said) for name, ask in observer.SUMMARY.items()},
        **{
            name: ask(text, [analyzer.MemoryOption("m1", "profile", "杭州")]) for name, ask in analyzer.ANALYSIS.items()
        },
        compose.VERSION: compose.make_plan_prompt(text, [], date(2026, 1, 2)),
        compose.RANK_VERSION: compose.make_rank_prompt(text, list(TEXTS)),
    }


@pytest.fixture
def where(request: pytest.FixtureRequest, server: ScriptedOllama) -> dict[str, Any]:
    """The server and its models."""
    server.answer = lambda body: json.dumps(schemas.example(body["format"]), ensure_ascii=False)
    scripted = {"chat_model": CHAT, "embedding_model": EMBEDDING, "rerank_model": RERANKER}
    return named_server(request.config) or {"ollama_url": server.url, "embedding_dimension": 64, **scripted}


def provider(where: dict[str, Any], **models: str) -> OllamaModels:
    """A provider with these models, or others."""
    given: dict[str, Any] = {**where, **models}
    return OllamaModels(
        given["ollama_url"],
        chat_model=given["chat_model"],
        embedding_model=given["embedding_model"],
        rerank_model=given["rerank_model"],
        dimension=given["embedding_dimension"],
        clock=time.monotonic,
    )


@pytest.fixture
async def path(where: dict[str, Any]) -> AsyncIterator[OllamaModels]:
    """The provider."""
    models = provider(where)
    yield models
    await models.close()


@pytest.fixture
async def client(where: dict[str, Any]) -> AsyncIterator[AsyncClient]:
    """The server's own client, to query its state."""
    opened = AsyncClient(where["ollama_url"])
    yield opened
    await opened.close()


@pytest.fixture
async def reranker(path: OllamaModels) -> OllamaModels:
    """The provider, if the server has its reranker, which is in no public library."""
    seen = await path.probe()
    if missing := [each for each in seen.missing if each.startswith("rerank")]:
        pytest.skip(f"{path.rerank_model_id}: {missing[0]}")
    return path


async def test_the_server_has_the_models_of_the_settings(path: OllamaModels) -> None:
    seen = await path.probe()
    assert [each for each in seen.missing if not each.startswith("rerank")] == []
    assert seen.dimension == path.dimension


async def test_vectors_have_the_requested_size_and_are_reproducible(path: OllamaModels) -> None:
    first = await path.embed(TEXTS, deadline_s=PATIENCE_S)
    again = await path.embed(TEXTS[1:], deadline_s=PATIENCE_S)
    assert [len(each) for each in first] == [path.dimension] * 2
    assert math.isclose(sum(x * x for x in first[0]), 1, rel_tol=1e-6)
    assert sum(a * b for a, b in zip(first[1], again[0], strict=True)) > 0.99


async def test_a_text_beyond_the_context_has_a_vector(path: OllamaModels, server: ScriptedOllama) -> None:
    server.context_characters = 300
    (vector,) = await path.embed(["龙井茶" * 30_000], deadline_s=PATIENCE_S)
    assert len(vector) == path.dimension


async def test_callers_that_cannot_wait_cause_the_model_to_load(
    where: dict[str, Any], path: OllamaModels, client: AsyncClient, server: ScriptedOllama
) -> None:
    await client.embed(where["embedding_model"], ["tea"], keep_alive=0)
    server.load_s = 2 * SHORT_S
    for _ in range(12):
        try:
            await path.embed(TEXTS, deadline_s=SHORT_S)
        except ModelUnavailable as error:
            assert error.reason == "timeout"  # noqa: PT017 # a fast server is valid as well
    assert len(await path.embed(TEXTS, deadline_s=PATIENCE_S)) == len(TEXTS)
    assert path.embedding_guard.breaker.state == "closed"


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("version", questions(""))
async def test_every_prompt_gets_a_valid_answer(path: OllamaModels, version: str, language: str) -> None:
    prompt = questions(SAID[language])[version]
    answer = await path.ask(replace(prompt, deadline_s=PATIENCE_S))
    assert isinstance(answer.value, prompt.answer)
    assert answer.spent.calls >= 1


@pytest.mark.parametrize("query", ["我喜欢喝什么茶？", "Which tea do I like?"])
async def test_each_text_gets_a_score(reranker: OllamaModels, query: str) -> None:
    scores = await reranker.rerank(query, TEXTS, deadline_s=PATIENCE_S)
    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 for score in scores)


async def test_chat_and_rerank_with_one_model_keep_its_context(where: dict[str, Any], client: AsyncClient) -> None:
    models = provider(where, rerank_model=where["chat_model"])
    seen: set[int | None] = set()
    for _ in range(2):
        await models.ask(replace(compose.make_rank_prompt("tea?", TEXTS), deadline_s=PATIENCE_S))
        seen |= await contexts(client, where["chat_model"])
        try:
            await models.rerank("tea?", TEXTS, deadline_s=PATIENCE_S)
        except Exception as error:  # noqa: BLE001 # a chat model may give neither yes nor no; the call counts
            assert "neither yes nor no" in str(error)  # noqa: PT017
        seen |= await contexts(client, where["chat_model"])
    assert len(seen) == 1
    await models.close()


async def contexts(client: AsyncClient, model: str) -> set[int | None]:
    """The context length with which the server holds the model."""
    held = (await client.ps()).models
    return {each.context_length for each in held if same_model(each.model, model)}


async def test_a_permanent_error_is_reported_after_one_call(where: dict[str, Any]) -> None:
    models = provider(where, chat_model=where["embedding_model"], embedding_model="smartbrain-none")
    with pytest.raises(ModelUnavailable) as missing:
        await models.embed(TEXTS, deadline_s=PATIENCE_S)
    with pytest.raises(ModelUnavailable) as cannot:
        await models.ask(replace(compose.make_rank_prompt("tea?", TEXTS), deadline_s=PATIENCE_S))
    assert (missing.value.reason, cannot.value.reason) == ("model_missing", "bad_request")
    await models.close()
