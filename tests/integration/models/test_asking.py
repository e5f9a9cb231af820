"""`ask` against a server with every known fault."""

import asyncio
import time
from dataclasses import replace

import pytest

from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.ollama import OllamaModels
from tests.integration.models.conftest import Clock, prompt
from tests.ollama.server import Mode, ScriptedOllama

LIKES = ["龙井茶", "light mode"]


async def test_a_valid_answer_is_parsed_and_traced(models: OllamaModels) -> None:
    answer = await models.ask(prompt())
    assert answer.value.items == LIKES
    assert (answer.model_id, answer.prompt_version, answer.repaired) == ("qwen3", "1", False)


async def test_the_request_sets_all_options_explicitly(models: OllamaModels, server: ScriptedOllama) -> None:
    await models.ask(prompt())
    (asked,) = server.asked("/api/chat")
    assert asked["think"] is False
    assert asked["stream"] is False
    assert asked["options"] == {"temperature": 0, "num_predict": 100, "num_ctx": 8192}
    assert asked["format"]["properties"]["items"]["type"] == "array"


async def test_a_long_prompt_gets_a_larger_context(models: OllamaModels, server: ScriptedOllama) -> None:
    await models.ask(replace(prompt(), user="龙井茶" * 2000))
    (asked,) = server.asked("/api/chat")
    assert asked["options"]["num_ctx"] == 16384


async def test_thoughts_and_fences_are_removed(models: OllamaModels, server: ScriptedOllama) -> None:
    server.script("think_tags")
    answer = await models.ask(prompt())
    assert (answer.value.items, answer.repaired) == (LIKES, False)


@pytest.mark.parametrize("mode", ["prose", "broken_json", "wrong_schema", "empty", "cut_off"])
async def test_an_invalid_answer_is_repaired_once(models: OllamaModels, server: ScriptedOllama, mode: Mode) -> None:
    server.script(mode, "well")
    answer = await models.ask(prompt())
    assert (answer.value.items, answer.repaired) == (LIKES, True)
    _, repair = server.asked("/api/chat")
    assert "Answer again" in repair["messages"][-1]["content"]
    assert repair["options"]["num_predict"] == (200 if mode == "cut_off" else 100)


@pytest.mark.parametrize("mode", ["prose", "broken_json", "wrong_schema", "empty", "cut_off"])
async def test_a_second_invalid_answer_is_malformed_and_includes_its_text(
    models: OllamaModels, server: ScriptedOllama, mode: Mode
) -> None:
    server.script(mode)
    with pytest.raises(MalformedAnswer) as caught:
        await models.ask(prompt())
    assert len(server.asked("/api/chat")) == 2
    assert caught.value.raw in {"", "Sure! The user likes tea, and I would remember that.", *_bodies()}
    assert "龙井" not in str(caught.value)


def _bodies() -> set[str]:
    good = '{"items": ["龙井茶", "light mode"]}'
    return {good[:-1] + ", oops", '{"colour": ["blue"]}', good[: len(good) // 2]}


async def test_malformed_answers_do_not_change_the_circuit(
    models: OllamaModels, server: ScriptedOllama, clock: Clock
) -> None:
    server.script("prose")
    for _ in range(6):
        with pytest.raises(MalformedAnswer):
            await models.ask(prompt())
    assert models.chat_guard.breaker.state == "closed"
    server.script("http_500")
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await models.ask(prompt())
    clock.now += 300
    server.script("prose")
    with pytest.raises(MalformedAnswer):
        await models.ask(prompt())
    assert models.chat_guard.breaker.state == "open"


async def test_a_transient_500_is_retried_within_the_call(models: OllamaModels, server: ScriptedOllama) -> None:
    server.script("http_500", "http_500", "http_500", "well")
    assert (await models.ask(prompt())).value.items == LIKES


@pytest.mark.parametrize("mode", ["http_500", "prose", "cut_off"])
async def test_a_prompt_without_repeats_is_neither_retried_nor_repaired(
    models: OllamaModels, server: ScriptedOllama, mode: Mode
) -> None:
    server.script(mode, "well")
    with pytest.raises((ModelUnavailable, MalformedAnswer)):
        await models.ask(replace(prompt(), once=True))
    assert len(server.asked("/api/chat")) == 1


async def test_a_permanent_500_is_unavailable_after_three_retries(models: OllamaModels, server: ScriptedOllama) -> None:
    server.script("http_500")
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt())
    assert caught.value.reason == "server_error"
    assert len(server.asked("/api/chat")) == 4


async def test_a_slow_answer_ends_at_the_deadline(models: OllamaModels, server: ScriptedOllama) -> None:
    server.script("slow")
    started = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt(deadline_s=0.1))
    assert caught.value.reason == "timeout"
    assert time.monotonic() - started < 10


async def test_a_missing_model_is_not_retried(models: OllamaModels, server: ScriptedOllama) -> None:
    server.models = ()
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt())
    assert caught.value.reason == "model_missing"
    assert len(server.requests) == 1


async def test_an_open_circuit_makes_no_call_until_a_probe_succeeds(
    models: OllamaModels, server: ScriptedOllama, clock: Clock
) -> None:
    server.script("http_500")
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await models.ask(prompt())
    asked = len(server.requests)
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt())
    assert (caught.value.reason, len(server.requests)) == ("circuit_open", asked)
    clock.now += 300
    server.script("well")
    assert (await models.ask(prompt())).value.items == LIKES
    assert models.chat_guard.breaker.state == "closed"


async def test_a_cancelled_probe_releases_its_slot(models: OllamaModels, server: ScriptedOllama, clock: Clock) -> None:
    server.script("http_500")
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await models.ask(prompt())
    clock.now += 300
    server.script("slow")
    probe = asyncio.create_task(models.ask(prompt()))
    await asyncio.wait_for(server.slow_began.wait(), 60)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    server.script("well")
    assert (await models.ask(prompt())).value.items == LIKES


async def test_a_refused_connection_is_a_connection_problem(clock: Clock) -> None:
    models = OllamaModels(
        "http://127.0.0.1:9", chat_model="qwen3", embedding_model=None, dimension=64, clock=clock, retry_delays_s=()
    )
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt())
    assert caught.value.reason == "connection"
    await models.close()
