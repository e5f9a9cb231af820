"""An experiment is assigned by the caller: its variant is applied if possible, reported if not, and named in the
result.
"""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for

EXPERIMENT = "0193a1f0-5c1e-7c3a-9b7e-2f6d8a4c1b20"
ROUTING = "experiment_context.dimensions.brain_routing"
pytestmark = pytest.mark.usefixtures("patterns")
SAID = {"zh": "周六日泡泳池的日子。", "en": "Weekends usually find me at the pool."}
SAYS = {"zh": "周六日泡泳池", "en": "Usually at the pool on weekends"}


def variant(**dimensions: str) -> dict[str, Any]:
    return {"experiment_id": EXPERIMENT, "variant": "treatment_a", "dimensions": dimensions}


def answer(body: dict[str, Any]) -> str:
    """An item that the rules do not find, in the language of the turn; to the planner, a query."""
    said = body["messages"][1]["content"]
    found = [language for language, text in SAID.items() if text in said]
    if "queries" in json.dumps(body["format"]):
        return json.dumps({"intent": "preference_check", "confidence": 0.9, "queries": [{"text": "swimming pool"}]})
    items = [
        {
            "type": "pattern",
            "content": SAYS[language],
            "provenance": "observation",
            "confidence": 0.6,
            "epistemic_type": "fact",
            "quote": SAID[language],
        }
        for language in found
    ]
    return json.dumps({"items": items}, ensure_ascii=False)


@pytest.fixture(scope="module")
async def system(
    databases: Databases, kafka: str, ollama: ScriptedOllama, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """Every service, with a model; planning by rules unless an experiment selects another planner."""
    ollama.reset()
    ollama.answer = answer
    folder: Path = tmp_path_factory.mktemp("policy")
    policy = policy_file(folder, compose={"planner_deadline_ms": 2000, "deadline_ms": 5000})
    settings = settings_for(databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64, policy=policy)
    async with running(settings) as all_services:
        yield all_services


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize(("wanted", "asked"), [("extract-1", "extract-1"), ("extract-99", "extract-4")])
async def test_a_turn_is_observed_with_the_variants_prompt_and_says_so(
    person: Person, language: str, wanted: str, asked: str
) -> None:
    outcome = await person.think(SAID[language], experiment_context=variant(prompt_version=wanted))
    (told,) = [each for each in outcome["retention_explain"] if each.get("reason") == "experiment"]
    assert (told["experiment_id"], told["variant"]) == (EXPERIMENT, "treatment_a")
    assert told["prompt_version"] == asked
    unknown = [each for each in outcome["retention_explain"] if each.get("reason") == "prompt_version_unknown"]
    assert len(unknown) == (wanted != asked)
    (memory,) = await person.memories()
    assert memory["content"] == SAYS[language]
    assert memory["provenance"]["pattern"] == asked
    assert memory["provenance"]["experiment"] == {"experiment_id": EXPERIMENT, "variant": "treatment_a"}


async def test_a_turn_without_an_experiment_mentions_none(person: Person) -> None:
    outcome = await person.think(SAID["en"], experiment_context=None)
    assert not [each for each in outcome["retention_explain"] if each.get("reason") == "experiment"]
    (memory,) = await person.memories()
    assert "experiment" not in memory["provenance"]


@pytest.mark.parametrize("question", ["周末我通常做什么？", "What do I usually do at weekends?"])
@pytest.mark.parametrize(
    ("routing", "planner", "ignored"),
    [("rules", "rules", ()), ("model", "model", ()), ("coin", "rules", (ROUTING,)), (None, "rules", ())],
)
async def test_a_request_is_planned_by_the_variants_planner_and_says_so(
    person: Person, ollama: ScriptedOllama, question: str, routing: str | None, planner: str, ignored: tuple[str, ...]
) -> None:
    before = len(ollama.asked("/api/chat"))
    context = variant(**({"brain_routing": routing} if routing else {}))
    package = await person.compose(question, request_id="req-7", deadline_ms=5000, experiment_context=context)
    told = package.generation_metadata
    assert told
    assert (str(told.experiment_id), told.variant, told.trace_id) == (EXPERIMENT, "treatment_a", "req-7")
    assert (told.planner, told.ignored) == (planner, ignored)
    assert package.debug
    assert set(ignored) <= set(package.debug.ignored)
    assert (len(ollama.asked("/api/chat")) > before) == (planner == "model")


async def test_a_package_without_an_experiment_has_no_such_metadata(person: Person) -> None:
    assert (await person.compose("What do I like?")).generation_metadata is None


@pytest.mark.parametrize(
    "context",
    [{"experiment_id": "x", "variant": "a"}, {"experiment_id": EXPERIMENT}, variant() | {"variant": "two words"}],
)
async def test_an_experiment_context_without_a_name_is_refused(person: Person, context: dict[str, Any]) -> None:
    refused = await person.post("/v1/turns", person.turn("I like tea.", experiment_context=context))
    assert (refused.status_code, refused.json()["details"][0]["field"].split(".")[0]) == (422, "experiment_context")
