"""With Ollama more is found; whatever the model does wrong, no result of the rules is lost."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

from tests.acceptance.conftest import SLOW, WithModel
from tests.ollama.server import Mode, ScriptedOllama
from tests.system.person import Person, shown
from tests.system.running import System
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
async def system(with_model: WithModel, ollama: ScriptedOllama) -> AsyncGenerator[System]:
    """Every service, with a model without a time limit unless it is to be late."""
    async with with_model(late_s=1.0) as all_services:
        ollama.answer = ANSWER
        yield all_services


async def test_the_model_adds_to_the_results_of_the_rules(person: Person) -> None:
    outcome = await person.think(SAID)
    assert outcome["status"] == "derived"
    assert len(outcome["written"]) == 2
    found = await person.contents()
    assert any("green tea" in content for content in found)
    assert any("generator" in content for content in found)


@pytest.mark.parametrize("mode", ["prose", "broken_json", "wrong_schema", "empty", "http_500", SLOW, "cut_off"])
async def test_a_failing_model_loses_no_result_of_the_rules(person: Person, ollama: ScriptedOllama, mode: Mode) -> None:
    ollama.script(mode)
    outcome = await person.think(SAID)
    assert outcome["status"] == "derived"
    assert [content for content in await person.contents() if "green tea" in content]
    assert person.number("SELECT count(*) FROM quarantine WHERE user_id = %(u)s") == 0
    await person.system.settled()
    assert person.number("SELECT count(*) FROM turns WHERE user_id = %(u)s") == 1


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
async def test_a_change_found_only_by_the_model_ends_nothing_of_higher_confidence(
    person: Person, ollama: ScriptedOllama, language: str, confirmed: bool
) -> None:
    before, said, content, old, new = CHANGES[language]
    item = {"type": "preference", "key": "pref:food:coffee", "text": before, "value": old, "confirmed": confirmed}
    ollama.answer = '{"items": []}'
    await person.think("-", items=[item])
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
    outcome = await person.think(said)
    active = {m["content"] for m in await person.memories()}
    if confirmed:
        assert active == {first["content"]}
        assert [each["kind"] for each in outcome["conflicts"]] == ["open"]
    else:
        assert active == {content}
        (one,) = await person.memories()
        assert (one["version"], one["supersedes"], one["confidence"]) == (2, [first["memory_id"]], 0.4)
    urgent = person.number(
        "SELECT count(*) FROM observations WHERE user_id = %(u)s AND detector LIKE 'model:%%' AND priority <> 'normal'"
    )
    assert urgent == 0


@pytest.mark.ollama
async def test_chunks_get_vectors_and_are_found_by_them(person: Person) -> None:
    await person.say("The ferry to the islands leaves at nine.", session="first")
    missing = "SELECT count(*) FROM memory_chunks WHERE user_id = %(u)s AND active AND embedding_model_id IS NULL"
    await wait_for(lambda: not person.number(missing), "every chunk has a vector")
    package = await person.compose("ferry islands leaves", session="second")
    assert "ferry" in shown(package)
    assert not [reason for reason in package.degraded_reason if "embedding" in reason or "vector" in reason]
    assert package.debug
    assert any(arm.arm.startswith("vector") and arm.candidates for arm in package.debug.explain.arms)


async def test_an_unavailable_embedding_model_is_named(person: Person, ollama: ScriptedOllama) -> None:
    await person.say("The ferry to the islands leaves at nine.", session="first")
    ollama.script("http_500")
    package = await person.compose("When does the ferry leave?", session="second")
    assert "embedding_unavailable" in package.degraded_reason
    assert "ferry" in shown(package)


@pytest.mark.policy(compose={"embed_deadline_ms": 150})
async def test_a_model_that_loads_too_long_for_packages_is_loaded_anyway(
    person: Person, ollama: ScriptedOllama
) -> None:
    await person.say("The ferry to the islands leaves at nine.", session="first")
    missing = "SELECT count(*) FROM memory_chunks WHERE user_id = %(u)s AND active AND embedding_model_id IS NULL"
    await wait_for(lambda: not person.number(missing), "every chunk has a vector")
    ollama.in_memory.clear()
    ollama.load_s = 1.0
    late = 0

    async def by_meaning() -> bool:
        nonlocal late
        package = await person.compose("ferry islands leaves", session="second")
        assert package.debug
        (arm,) = [arm for arm in package.debug.explain.arms if arm.arm == "vector"]
        assert arm.status == "ok", "static vectors serve meanwhile"
        is_late = "embedding_unavailable" in package.degraded_reason
        late += is_late
        return not is_late

    await wait_for(by_meaning, "the model is loaded though nobody waits for it")
    assert late, "the model was not to be there at once"
    assert ollama.loads_given_up <= 1
