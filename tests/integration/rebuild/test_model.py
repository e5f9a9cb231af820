"""A rebuild makes no model call: it uses stored answers, whatever model or prompt is configured now."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from shared.policy import Policy
from tests.integration.rebuild.test_rebuild import heard, subject, told
from tests.ollama.server import NOT_JSON, ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import System, running, settings_for

SAID = {
    "我周末都去爬山。": ("周末爬山", "爬山", "我周末都去爬山"),
    "About the other day: I go bouldering at weekends.": ("Bouldering at weekends", "bouldering", "I go bouldering"),
    "顺便说一下，我妈妈做的菜我都爱吃。": ("爱吃妈妈做的菜", "妈妈做的菜", "我妈妈做的菜我都爱吃"),
}


def answer(body: dict[str, Any]) -> str:
    """The model's answer for a message of the table; for a message about robots an unreadable one."""
    asked = "\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
    if "robots" in asked:
        return NOT_JSON
    items = [
        {
            "type": "goal",
            "content": content,
            "value": value,
            "quote": quote,
            "provenance": "observation",
            "confidence": 0.6,
            "epistemic_type": "fact",
        }
        for text, (content, value, quote) in SAID.items()
        if text in asked
    ]
    return json.dumps({"items": items}, ensure_ascii=False)


@pytest.fixture
async def modelled(databases: Databases, kafka: str, server: ScriptedOllama) -> AsyncGenerator[System]:
    """A complete system whose observer uses the scripted model."""
    server.answer = answer
    settings = settings_for(databases.fresh(), kafka, ollama_url=server.url, embedding_dimension=64)
    async with running(settings) as system:
        yield system


async def test_a_models_items_are_found_again_without_a_call(modelled: System, server: ScriptedOllama) -> None:
    person = Person(modelled)
    for text in (*SAID, "Tell me about robots. I like tea.", *SAID):
        await person.think(text)
    found = modelled.number("SELECT count(*) FROM observations WHERE detector LIKE 'model:%%'")
    assert found >= len(SAID)
    asked = len(server.asked("/api/chat"))
    rt = modelled["compose"].rt
    report = await rebuild(modelled.dsn, rt.settings, rt.policy, subject(person), apply=False, say=heard)
    assert (told(report), report.missed) == ({}, {"extract": 1})
    assert "model:qwen3" in list_detectors(modelled)
    assert len(server.asked("/api/chat")) == asked


async def test_another_current_model_or_prompt_changes_nothing(modelled: System, server: ScriptedOllama) -> None:
    person = Person(modelled)
    third, first, second = SAID
    await person.think(first)
    await person.think(second)
    await modelled.change("UPDATE model_cache SET model = 'before', input_hash = 'x' || input_hash")
    await modelled.change(
        'UPDATE memory_items SET provenance = provenance || \'{"detector": "model:before"}\''
        " WHERE provenance ->> 'detector' LIKE 'model:%%'"
    )
    await person.think(third)
    asked = len(server.asked("/api/chat"))
    policy = Policy()
    today = policy.model_copy(
        update={"observer": policy.observer.model_copy(update={"extract_prompt": "extract-1", "use_model": False})}
    )
    rt = modelled["compose"].rt
    report = await rebuild(modelled.dsn, rt.settings, today, subject(person), apply=False, say=heard)
    assert (told(report), report.missed) == ({}, {})
    assert {"model:before", "model:qwen3"} <= list_detectors(modelled)
    assert report.other_policy == 3
    assert len(server.asked("/api/chat")) == asked


@pytest.mark.parametrize(("n", "taken_back"), [(0, "开玩笑的。"), (1, "Just kidding.")])
async def test_a_memory_retracted_during_the_model_call_is_not_found_again(
    modelled: System, server: ScriptedOllama, n: int, taken_back: str
) -> None:
    person = Person(modelled)
    server.slow_s = 3.0
    server.script("slow", "well", at="/api/chat")
    first = await person.say(list(SAID)[n])
    await asyncio.wait_for(server.slow_began.wait(), 30)
    await person.think(taken_back)
    later = await person.thought(first["turn_id"])
    assert "model: taken back since" in [each["reason"] for each in later["retention_explain"]]
    assert modelled.number("SELECT count(*) FROM observations WHERE detector LIKE 'model:%%'") == 0
    rt = modelled["compose"].rt
    report = await rebuild(modelled.dsn, rt.settings, rt.policy, subject(person), apply=False, say=heard)
    assert (told(report), report.missed) == ({}, {})


def list_detectors(system: System) -> set[str]:
    """The detectors of the memories."""
    return {row["d"] for row in system.rows("SELECT provenance ->> 'detector' AS d FROM memory_items")}
