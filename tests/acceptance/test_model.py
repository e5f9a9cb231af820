"""With Ollama more is found; whatever it does wrong, nothing that the rules found is lost."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.ollama.server import Mode, ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

QUOTE = "Some generator hums at the harbour office"
SAID = f"I prefer green tea. {QUOTE}."
ANSWER = orjson.dumps(
    {
        "items": [
            {
                "type": "decision",
                "key": None,
                "content": "Some generator hums at the harbour office.",
                "value": None,
                "provenance": "observation",
                "confidence": 0.6,
                "epistemic_type": "fact",
                "related_existing_memory_id": None,
                "correction_of": None,
                "quote": QUOTE,
            }
        ]
    }
).decode()


@pytest.fixture
async def system(
    request: pytest.FixtureRequest, databases: Databases, kafka: str, ollama: ScriptedOllama, tmp_path: Path
) -> AsyncGenerator[System]:
    """Every service, with a model that has all the time that it may need, unless it is to be late."""
    ollama.reset()
    ollama.slow_s = 3.0
    ollama.answer = ANSWER
    late = "slow" in request.node.name
    policy = policy_file(tmp_path, observer={"model_deadline_s": 1.0 if late else 20.0})
    settings = settings_for(databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64, policy=policy)
    async with running(settings) as all_services:
        yield all_services


async def test_the_model_adds_to_what_the_rules_find(person: Person) -> None:
    outcome = await person.say(SAID)
    assert outcome["status"] == "derived"
    found = await person.contents()
    assert any("green tea" in content for content in found)
    assert any("generator" in content for content in found)


@pytest.mark.parametrize("mode", ["prose", "broken_json", "wrong_schema", "empty", "http_500", "slow", "cut_off"])
async def test_a_model_that_fails_costs_nothing_that_the_rules_found(
    person: Person, ollama: ScriptedOllama, mode: Mode
) -> None:
    ollama.script(mode)
    outcome = await person.say(SAID)
    assert outcome["status"] == "derived"
    assert any("green tea" in content for content in await person.contents())
    assert person.system.number("SELECT count(*) FROM quarantine") == 0
    assert await person.system.settled() == 1


pytestmark = pytest.mark.usefixtures("patterns")
CHANGES = {
    "zh": ("喝咖啡", "柜子里如今全是龙井，咖啡罐空着。", "如今柜子里是龙井", "咖啡", "龙井"),
    "en": (
        "Drinks coffee",
        "The coffee machine gathers dust; the cupboard is all oolong.",
        "All oolong",
        "coffee",
        "oolong",
    ),
}


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("language", CHANGES)
async def test_a_change_that_only_the_model_sees_ends_what_is_no_surer_and_nothing_else(
    person: Person, ollama: ScriptedOllama, language: str, confirmed: bool
) -> None:
    before, said, content, old, new = CHANGES[language]
    item = {"type": "preference", "key": "pref:food:coffee", "text": before, "value": old, "confirmed": confirmed}
    ollama.answer = '{"items": []}'
    await person.say("-", items=[item])
    (first,) = await person.memories()

    def changed(body: dict[str, Any]) -> str:
        data = json.loads(body["messages"][1]["content"].split("<data>")[1].split("</data>")[0])
        (known,) = data["known_memories"]
        found = {
            "type": "preference",
            "key": None,
            "content": content,
            "value": new,
            "provenance": "confirmed_by_user",
            "confidence": 1.0,
            "epistemic_type": "preference",
            "related_existing_memory_id": known["id"],
            "correction_of": old,
            "quote": said,
        }
        return json.dumps({"items": [found]}, ensure_ascii=False)

    ollama.answer = changed
    outcome = await person.say(said)
    active = {m["content"] for m in await person.memories()}
    if confirmed:
        assert active == {first["content"]}
        assert [each["kind"] for each in outcome["conflicts"]] == ["open"]
    else:
        assert active == {content}
        (one,) = await person.memories()
        assert (one["version"], one["supersedes"], one["confidence"]) == (2, [first["memory_id"]], 0.4)
    urgent = person.system.number(
        "SELECT count(*) FROM observations WHERE detector LIKE 'model:%%' AND priority <> 'normal'"
    )
    assert urgent == 0


async def test_chunks_get_vectors_and_are_found_by_them(person: Person) -> None:
    await person.say("The ferry to the islands leaves at nine.", session="first")
    missing = "SELECT count(*) FROM memory_chunks WHERE active AND embedding_model_id IS NULL"
    await wait_for(lambda: not person.system.number(missing), "every chunk has a vector")
    package = await person.compose("ferry islands leaves", session="second")
    assert "ferry" in shown(package)
    assert not [reason for reason in package.degraded_reason if "embedding" in reason or "vector" in reason]
    assert package.debug
    assert any(arm.arm.startswith("vector") and arm.candidates for arm in package.debug.explain.arms)


async def test_an_embedding_model_that_went_away_is_named(person: Person, ollama: ScriptedOllama) -> None:
    await person.say("The ferry to the islands leaves at nine.", session="first")
    ollama.script("http_500")
    package = await person.compose("When does the ferry leave?", session="second")
    assert "embedding_unavailable" in package.degraded_reason
    assert "ferry" in shown(package)
