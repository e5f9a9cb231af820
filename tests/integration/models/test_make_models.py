"""The provider of the settings, and its metrics."""

import time

import pytest
from prometheus_client import REGISTRY

from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.factory import make_models
from shared.models.measured import Measured
from shared.models.none import NoModels
from tests.integration.models.conftest import Clock, prompt
from tests.ollama.server import ScriptedOllama


async def test_without_settings_there_are_no_models_and_a_warning() -> None:
    models = make_models(None, "qwen3", "qwen3-embedding", None, 1024, time.monotonic)
    assert (models.embedding_model_id, models.dimension, models.chat_model_id) == (None, None, None)
    assert (await models.probe()).missing == ("embedding: not_configured", "chat: not_configured")
    with pytest.raises(ModelUnavailable):
        await models.ask(prompt())
    await models.close()


async def test_a_server_provides_both_models(server: ScriptedOllama) -> None:
    models = make_models(server.url, "qwen3", "qwen3-embedding", None, 64, time.monotonic)
    assert (models.embedding_model_id, models.dimension, models.chat_model_id) == ("qwen3-embedding@64", 64, "qwen3")
    assert len((await models.embed(["龙井茶"], deadline_s=5))[0]) == 64
    await models.close()


async def test_a_malformed_answer_is_counted_and_is_no_success(server: ScriptedOllama) -> None:
    labels = {"model": "qwen3", "reason": "malformed"}
    before = REGISTRY.get_sample_value("smartbrain_model_failures_total", labels) or 0
    models = make_models(server.url, "qwen3", None, None, 64, time.monotonic)
    server.script("wrong_schema")
    with pytest.raises(MalformedAnswer):
        await models.ask(prompt())
    assert REGISTRY.get_sample_value("smartbrain_model_failures_total", labels) == before + 1
    await models.close()


async def test_two_providers_each_report_their_own_part(server: ScriptedOllama, clock: Clock) -> None:
    chat = make_models(server.url, "qwen3", None, None, 64, clock)
    models = Measured(NoModels(), chat, clock)
    found = await models.probe()
    assert (found.embedding, found.chat, found.missing) == (False, True, ("embedding: not_configured",))
    assert (await models.ask(prompt())).value.items == ["龙井茶", "light mode"]
    await models.close()
