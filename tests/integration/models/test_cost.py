"""The cost of a model call, whatever its result, and its metrics."""

import pytest
from prometheus_client import REGISTRY

from shared.language.tokens import count
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.measured import Measured
from shared.models.ollama import OllamaModels
from tests.integration.models.conftest import Clock, prompt
from tests.ollama.server import CHAT, ScriptedOllama

PROMPT_TOKENS = count(prompt().system) + count(prompt().user)


@pytest.fixture
def measured(models: OllamaModels, clock: Clock) -> Measured:
    """The provider as services use it."""
    return Measured(models, models, clock)


def metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"smartbrain_{name}", {"purpose": "likes", "model": CHAT, **labels}) or 0.0


async def test_an_answer_includes_its_cost(models: OllamaModels, server: ScriptedOllama) -> None:
    server.counts = (321, 45)
    spent = (await models.ask(prompt())).spent
    assert (spent.calls, spent.tokens_in, spent.tokens_out, spent.tokens) == (1, 321, 45, 366)


async def test_a_repair_is_included_in_the_cost(models: OllamaModels, server: ScriptedOllama) -> None:
    server.counts = (300, 40)
    server.script("prose", "well")
    assert (await models.ask(prompt())).spent.tokens == 680


async def test_tokens_are_estimated_if_the_server_does_not_count_them(
    models: OllamaModels, server: ScriptedOllama
) -> None:
    server.counts = None
    spent = (await models.ask(prompt())).spent
    assert spent.tokens_in == PROMPT_TOKENS
    assert spent.tokens_out == count('{"items": ["龙井茶", "light mode"]}')


async def test_an_unreadable_answer_has_a_cost(models: OllamaModels, server: ScriptedOllama) -> None:
    server.counts = (300, 40)
    server.script("prose")
    with pytest.raises(MalformedAnswer) as caught:
        await models.ask(prompt())
    assert (caught.value.spent.calls, caught.value.spent.tokens) == (2, 680)


async def test_a_late_answer_costs_its_prompt_and_its_time(server: ScriptedOllama) -> None:
    seconds = iter(range(1000, 2000, 3))
    models = OllamaModels(
        server.url, chat_model=CHAT, embedding_model=None, dimension=64, clock=lambda: float(next(seconds))
    )
    server.script("slow")
    with pytest.raises(ModelUnavailable) as caught:
        await models.ask(prompt(deadline_s=1.0))
    assert (caught.value.spent.calls, caught.value.spent.tokens_in) == (1, PROMPT_TOKENS)
    assert caught.value.spent.seconds >= 3
    await models.close()


async def test_failed_calls_are_counted_and_an_open_circuit_is_not(
    models: OllamaModels, server: ScriptedOllama
) -> None:
    server.script("http_500")
    for n in range(6):
        with pytest.raises(ModelUnavailable) as caught:
            await models.ask(prompt())
        assert (caught.value.spent.calls, caught.value.spent.tokens) == ((4, 0) if n < 5 else (0, 0))


async def test_every_call_is_counted_by_its_result(measured: Measured, server: ScriptedOllama) -> None:
    names = ("answered", "malformed", "server_error")
    before = {name: metric("model_calls_total", outcome=name) for name in names}
    tokens = metric("model_tokens_total", direction="in"), metric("model_tokens_total", direction="out")
    repairs = metric("model_repairs_total")
    server.counts = (100, 10)
    server.script("well", "prose", "well", "prose", "prose", "http_500")
    await measured.ask(prompt())
    await measured.ask(prompt())
    for failure in (MalformedAnswer, ModelUnavailable):
        with pytest.raises(failure):
            await measured.ask(prompt())
    after = {name: metric("model_calls_total", outcome=name) - before[name] for name in names}
    assert after == {"answered": 2, "malformed": 1, "server_error": 1}
    assert metric("model_tokens_total", direction="in") - tokens[0] == 500
    assert metric("model_tokens_total", direction="out") - tokens[1] == 50
    assert metric("model_repairs_total") - repairs == 1


async def test_the_duration_of_calls_is_counted(server: ScriptedOllama, models: OllamaModels) -> None:
    seconds = iter(range(0, 900, 7))
    measured = Measured(models, models, lambda: float(next(seconds)))
    before = metric("model_seconds_total")
    await measured.ask(prompt())
    assert metric("model_seconds_total") - before == 7
