"""Behaviour of a real server besides answering: loading, reloading, lost schemas, truncation, permanent errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from ollama import AsyncClient
from pydantic import BaseModel

from shared.models.errors import ModelUnavailable
from shared.models.loads import HELD_S, PATIENCE_S
from shared.models.ollama import OllamaModels
from tests.integration.models.conftest import Clock, prompt
from tests.ollama.server import CHAT, EMBEDDING, NOT_JSON, RERANKER, ScriptedOllama
from tests.system.wait import wait_for

LIKES = ["龙井茶", "light mode"]
Make = Callable[..., OllamaModels]


@pytest.fixture
async def make(server: ScriptedOllama, clock: Clock) -> AsyncIterator[Make]:
    """Creates providers with any models, and closes them."""
    made: list[OllamaModels] = []

    def provider(chat: str | None = CHAT, embedding: str | None = EMBEDDING, rerank: str | None = None) -> OllamaModels:
        made.append(
            OllamaModels(
                server.url,
                chat_model=chat,
                embedding_model=embedding,
                dimension=64,
                clock=clock,
                rerank_model=rerank,
                retry_delays_s=(0.001, 0.001, 0.001),
            )
        )
        return made[-1]

    yield provider
    for each in made:
        await each.close()


CALLS: dict[str, Callable[[OllamaModels, float], Awaitable[object]]] = {
    "embed": lambda models, deadline_s: models.embed(["龙井茶"], deadline_s=deadline_s),
    "chat": lambda models, deadline_s: models.ask(replace(prompt(deadline_s), once=True)),
    "rerank": lambda models, deadline_s: models.rerank("tea?", ["龙井茶"], deadline_s=deadline_s),
}


@pytest.mark.parametrize("kind", CALLS)
async def test_callers_that_cannot_wait_for_a_load_cause_it_anyway(
    make: Make, server: ScriptedOllama, clock: Clock, kind: str
) -> None:
    models = make(rerank=RERANKER)
    server.load_s = 0.3
    for loads in (1, 2):  # at the start, and after an idle time
        late = 0
        for _ in range(12):
            try:
                await CALLS[kind](models, 0.05)
            except ModelUnavailable as error:
                assert error.reason == "timeout"  # noqa: PT017 # both results are valid until it is loaded
                late += 1
        assert late, "the model was not to be there at once"
        await CALLS[kind](models, 5.0)
        assert (len(server.loads), server.loads_given_up) == (loads, 0)
        clock.now += HELD_S + 300
        server.in_memory.clear()


async def test_a_model_that_the_server_unloaded_is_loaded_again(make: Make, server: ScriptedOllama) -> None:
    models = make()
    await models.embed(["龙井茶"], deadline_s=5)
    server.in_memory.clear()
    server.load_s = 0.3
    for _ in range(2):  # the first call detects it, the second causes the load
        with pytest.raises(ModelUnavailable):
            await models.embed(["龙井茶"], deadline_s=0.05)
    await wait_for(lambda: len(server.loads) == 2)
    assert server.loads_given_up <= 1
    assert await models.embed(["龙井茶"], deadline_s=5)


async def test_deadlines_missed_during_a_load_open_no_circuit(
    make: Make, server: ScriptedOllama, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.models.guard.SHORT_DEADLINE_S", 0.0)
    models = make()
    server.load_s = 30.0
    for _ in range(6):
        with pytest.raises(ModelUnavailable):
            await models.ask(prompt(deadline_s=0.03))
    assert models.chat_guard.breaker.state == "closed"
    clock.now += PATIENCE_S
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await models.ask(prompt(deadline_s=0.03))
    assert models.chat_guard.breaker.state == "open", "a load that never ends is a server that is not well"


async def test_a_failed_load_is_reported_to_each_waiting_caller(make: Make, server: ScriptedOllama) -> None:
    models = make(embedding="nomic")
    calls = [models.embed(["龙井茶"], deadline_s=5) for _ in range(3)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert [each.reason for each in found if isinstance(each, ModelUnavailable)] == ["model_missing"] * 3
    assert len({id(each) for each in found}) == 3


async def test_closing_ends_a_load(make: Make, server: ScriptedOllama) -> None:
    models = make()
    server.load_s = 30.0
    waiting = asyncio.create_task(models.embed(["龙井茶"], deadline_s=20))
    await wait_for(lambda: models.embedding_guard.breaker.state == "closed" and server._loading.locked())  # pyright: ignore[reportPrivateUsage] # whether the server has begun
    await models.close()
    with pytest.raises(ModelUnavailable):
        await waiting
    await wait_for(lambda: server.loads_given_up == 1)


@pytest.mark.parametrize("reranker", [CHAT, f"{CHAT}:latest"])
async def test_chat_and_rerank_with_one_model_load_it_once(make: Make, server: ScriptedOllama, reranker: str) -> None:
    server.models += (reranker,)
    models = make(rerank=reranker)
    for _ in range(3):
        await models.ask(prompt())
        await models.rerank("tea?", ["龙井茶"], deadline_s=5)
    assert server.loads == [(CHAT, 8192)]
    assert models.rerank_model_id == reranker


async def test_a_separate_reranker_needs_less_context(make: Make, server: ScriptedOllama) -> None:
    models = make(rerank=RERANKER)
    for _ in range(2):
        await models.ask(prompt())
        await models.rerank("tea?", ["龙井茶"], deadline_s=5)
    assert sorted(server.loads) == [(CHAT, 8192), (RERANKER, 4096)]


@pytest.mark.parametrize(
    ("parser", "can", "path"),
    [
        ("qwen3.5", ("completion", "thinking"), "/api/generate"),
        ("qwen3-coder", ("completion", "tools"), "/api/chat"),
        (None, ("completion", "thinking"), "/api/chat"),
        (None, ("completion",), "/api/chat"),
    ],
)
async def test_the_schema_holds_for_models_with_their_own_parser(
    make: Make, server: ScriptedOllama, parser: str | None, can: tuple[str, ...], path: str
) -> None:
    server.capabilities[CHAT] = can
    server.parsers = {CHAT: parser} if parser else {}
    answer = await make().ask(prompt())
    assert (answer.value.items, answer.repaired) == (LIKES, False)
    (asked,) = server.asked(path)
    assert (asked["think"], asked["format"]["type"]) == (False, "object")


async def test_the_scripted_server_loses_the_schema_like_the_real_one(server: ScriptedOllama) -> None:
    """Otherwise the test above would prove nothing."""
    server.parsers = {CHAT: "qwen3.5"}
    client, schema = AsyncClient(server.url), {"type": "object"}
    chatted = await client.chat(CHAT, [{"role": "user", "content": "tea?"}], format=schema, think=False)  # pyright: ignore[reportUnknownMemberType] # its `tools` takes an untyped callable
    assert chatted.message.content == NOT_JSON
    assert (await client.generate(CHAT, "tea?", format=schema, think=False)).response == server.answer
    await client.close()


async def test_a_repair_of_one_text_names_the_error(make: Make, server: ScriptedOllama) -> None:
    server.parsers = {CHAT: "qwen3.5"}
    server.script("wrong_schema", "well")
    assert (await make().ask(prompt())).repaired
    first, again = server.asked("/api/generate")
    assert first["system"] == again["system"] == prompt().system
    assert again["prompt"].startswith(first["prompt"])
    assert "Answer again" in again["prompt"]


async def test_a_repetitive_answer_is_cut_off(make: Make, server: ScriptedOllama) -> None:
    server.script("repeating", "well")
    assert (await make().ask(prompt())).repaired
    first, again = server.asked("/api/chat")
    assert "cut off" in again["messages"][-1]["content"]
    assert again["options"]["num_predict"] == 2 * first["options"]["num_predict"]


async def test_a_truncated_prompt_is_repeated_with_more_context(make: Make, server: ScriptedOllama) -> None:
    server.counts = (8190, 60)
    assert (await make().ask(prompt())).value.items == LIKES
    assert [asked["options"]["num_ctx"] for asked in server.asked("/api/chat")] == [8192, 16384]


@pytest.mark.parametrize(("own", "asked"), [(4096, 1), (8192, 1), (12_000, 2), (131_072, 3)])
async def test_a_prompt_beyond_any_context_is_refused_and_never_answered_in_part(
    make: Make, server: ScriptedOllama, own: int, asked: int
) -> None:
    server.counts = (200_000, 60)
    server.own_context = own
    models = make()
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt())
    assert caught.value.reason == "bad_request"
    assert f"{min(own, 32_768)} tokens of {CHAT}" in str(caught.value)
    assert len(server.asked("/api/chat")) == asked
    assert caught.value.spent.calls == asked


class Anything(BaseModel):
    """An answer whose field has no type."""

    anything: Any


class Deadly(BaseModel):
    """An answer whose schema crashes a real runner."""

    items: list[str]
    model_config = {"json_schema_extra": {"properties": {"items": {"type": "string", "pattern": r"^\d$"}}}}


async def test_a_refused_schema_is_not_sent_again(make: Make, server: ScriptedOllama) -> None:
    models = make()
    for _ in range(6):
        with pytest.raises(ModelUnavailable) as caught:
            await models.ask(replace(prompt(), answer=Anything))  # type: ignore[arg-type] # another answer
        assert caught.value.reason == "bad_request"
        assert "invalid JSON schema" in caught.value.problem
    assert len(server.asked("/api/chat")) == 6
    assert models.chat_guard.breaker.state == "closed"


async def test_a_crashed_runner_is_retried(make: Make, server: ScriptedOllama) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        await make().ask(replace(prompt(), answer=Deadly))  # type: ignore[arg-type] # another answer
    assert caught.value.reason == "server_error"
    assert "unexpectedly stopped" in caught.value.problem
    assert len(server.killed_by) == 4


async def test_a_model_without_embeddings_is_asked_once(make: Make, server: ScriptedOllama) -> None:
    models = make(embedding=CHAT)
    for n in range(6):
        with pytest.raises(ModelUnavailable) as caught:
            await models.embed(["龙井茶"], deadline_s=5)
        assert (caught.value.reason, len(server.asked("/api/embed"))) == ("bad_request", n + 1)
    assert models.embedding_guard.breaker.state == "closed"


@pytest.mark.parametrize("text", ["", " ", "\n\u3000"])
async def test_an_empty_text_is_not_sent(make: Make, server: ScriptedOllama, text: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        await make().embed(["龙井茶", text], deadline_s=5)
    assert (caught.value.reason, caught.value.problem) == ("bad_request", "nothing to embed in text 1")
    assert server.requests == []


async def test_a_probe_uses_the_capabilities_of_a_model(make: Make, server: ScriptedOllama) -> None:
    found = await make(chat=EMBEDDING, embedding=CHAT, rerank=EMBEDDING).probe()
    assert (found.embedding, found.chat, found.rerank) == (False, False, False)
    assert found.missing == (
        f"embedding: bad_request ({CHAT} does not support embedding, it supports completion, tools, thinking)",
        f"chat: bad_request ({EMBEDDING} does not support completion, it supports embedding)",
        f"rerank: bad_request ({EMBEDDING} does not support completion, it supports embedding)",
    )
    assert server.loads == []


async def test_a_probe_reports_a_model_with_too_few_dimensions(server: ScriptedOllama, clock: Clock) -> None:
    models = OllamaModels(server.url, chat_model=None, embedding_model=EMBEDDING, dimension=2048, clock=clock)
    assert "embedding: bad_request (qwen3-embedding returns 1024 dimensions, not 2048)" in (
        (await models.probe()).missing
    )
    await models.close()


async def test_a_probe_covers_the_reranker_if_there_is_one(make: Make, server: ScriptedOllama) -> None:
    assert (await make(rerank=RERANKER).probe()).rerank
    server.models = (CHAT, EMBEDDING)
    found = await make(rerank=RERANKER).probe()
    assert (found.rerank, found.missing) == (False, ("rerank: model_missing",))
    assert not (await make().probe()).rerank
