"""`embed` and `probe` against the scripted server."""

import math

import pytest

from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.ollama import OllamaModels
from tests.integration.models.conftest import Clock
from tests.ollama.server import Mode, ScriptedOllama


async def test_vectors_are_ordered_and_of_length_one(models: OllamaModels, server: ScriptedOllama) -> None:
    both = await models.embed(["我喜欢喝龙井茶", "light mode"], deadline_s=5)
    (second,) = await models.embed(["light mode"], deadline_s=5)
    assert [len(v) for v in both] == [64, 64]
    assert math.isclose(math.sqrt(sum(x * x for x in both[0])), 1)
    assert both[1] == second
    asked = server.asked("/api/embed")[0]
    assert (asked["truncate"], asked["dimensions"]) == (False, 64)


async def test_an_empty_list_makes_no_call(models: OllamaModels, server: ScriptedOllama) -> None:
    assert await models.embed([], deadline_s=5) == []
    assert server.requests == []


async def test_a_text_beyond_the_context_is_represented_by_its_beginning(
    models: OllamaModels, server: ScriptedOllama
) -> None:
    server.context_characters = 300
    long = "龙井茶" * 200
    vectors = await models.embed(["short", long], deadline_s=5)
    assert vectors == await models.embed(["short", long[:300]], deadline_s=5)


@pytest.mark.parametrize("mode", ["empty", "cut_off"])
async def test_a_missing_or_short_vector_is_malformed(models: OllamaModels, server: ScriptedOllama, mode: Mode) -> None:
    server.script(mode)
    with pytest.raises(MalformedAnswer):
        await models.embed(["龙井茶"], deadline_s=5)


@pytest.mark.parametrize(
    ("mode", "reason", "asked"),
    [
        ("prose", "bad_response", 4),
        ("broken_json", "bad_response", 4),
        ("wrong_schema", "bad_response", 4),
        ("http_500", "server_error", 4),
        ("slow", "timeout", 1),
    ],
)
async def test_a_failing_server_is_unavailable(
    models: OllamaModels, server: ScriptedOllama, mode: Mode, reason: str, asked: int
) -> None:
    server.script(mode)
    with pytest.raises(ModelUnavailable) as caught:
        await models.embed(["龙井茶"], deadline_s=0.5 if mode == "slow" else 20.0)
    assert (caught.value.reason, len(server.asked("/api/embed"))) == (reason, asked)


async def test_a_missed_short_deadline_does_not_open_the_circuit(models: OllamaModels, server: ScriptedOllama) -> None:
    server.script("slow")
    for _ in range(6):
        with pytest.raises(ModelUnavailable):
            await models.embed(["龙井茶"], deadline_s=0.02)
    assert models.embedding_guard.breaker.state == "closed"


async def test_a_probe_reports_what_works(models: OllamaModels) -> None:
    found = await models.probe()
    assert (found.embedding, found.dimension, found.chat, found.missing) == (True, 64, True, ())


async def test_a_probe_names_what_is_missing(models: OllamaModels, server: ScriptedOllama) -> None:
    server.models = ("qwen3",)
    found = await models.probe()
    assert (found.embedding, found.chat, found.missing) == (False, True, ("embedding: model_missing",))


async def test_a_missing_embedding_model_is_reported(server: ScriptedOllama, clock: Clock) -> None:
    models = OllamaModels(server.url, chat_model="qwen3", embedding_model=None, dimension=64, clock=clock)
    assert models.dimension is None
    with pytest.raises(ModelUnavailable) as caught:
        await models.embed(["龙井茶"], deadline_s=1)
    assert caught.value.reason == "not_configured"
    await models.close()
