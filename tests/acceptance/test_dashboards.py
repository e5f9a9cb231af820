"""Every query of every dashboard and alert runs on a real Prometheus that scrapes a running system."""

import json
import subprocess
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

from shared.metrics.catalogue import ENTRIES
from tests.acceptance.test_model import ANSWER, SAID
from tests.ollama.server import ScriptedOllama
from tests.rag.server import Rag
from tests.system.agents import serving_agents
from tests.system.databases import Databases
from tests.system.dead_letters import break_intake
from tests.system.erasures import completed, erase
from tests.system.person import Person
from tests.system.prometheus import DEPLOYED, MISSING, Prometheus, find_program, watching
from tests.system.running import System, policy_file, running, settings_for

pytestmark = pytest.mark.skipif(not find_program("prometheus") or not find_program("promtool"), reason=MISSING)
BOARDS = sorted((DEPLOYED.parent / "grafana" / "dashboards").glob("*.json"))
POLICY: dict[str, Any] = {
    "compose": {"planner": "model", "planner_deadline_ms": 2500, "reranker": "lexical"},
    "delivery": {"retry_delays_ms": [5], "fuse_share": 1.0},
    "erasure": {"check_every_s": 0.2},
    "evolution": {"every_s": 0.5},
    "knowledge": {"ask": "always"},
    "models": {"currency": "EUR", "prices": {"qwen3": {"read": 1000.0, "written": 2000.0}}},
}
PLAN = orjson.dumps({"intent": "recommend", "confidence": 0.8, "purpose": "qa", "resources": False, "entities": []})
PLAN = PLAN[:-1] + b',"time":null,"queries":[{"text":"green tea","mode":"hybrid","weight":0.8}]}'


def answer(body: dict[str, Any]) -> str:
    """Returns a plan to planner questions, and otherwise an item that quotes the text."""
    return PLAN.decode() if "queries" in json.dumps(body.get("format")) else ANSWER


@pytest.fixture(scope="module")
async def watched(
    databases: Databases, kafka: str, ollama: ScriptedOllama, one_rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[tuple[System, Prometheus]]:
    """A system in which every event that the dashboards show has occurred, faults included, and its Prometheus."""
    folder = tmp_path_factory.mktemp("prometheus")
    ollama.answer = answer
    models = {"ollama_url": ollama.url, "embedding_dimension": 64, "knowledge_url": one_rag.url}
    settings = settings_for(databases.fresh(), kafka, policy=policy_file(folder, **POLICY), **models)
    async with (
        running(settings) as system,
        serving_agents("http://127.0.0.1:1"),
        watching(system, folder) as prometheus,
    ):
        person = Person(system)
        for _ in range(2):  # a model's first sample is no increase because it had no series before
            await ask_models(person, ollama)
            await prometheus.scrape()
        with pytest.MonkeyPatch.context() as patch:
            await break_intake(person, patch, "I like rye bread.")
        await completed(person, await erase(person, "all"))
        await prometheus.scrape()
        yield system, prometheus


async def ask_models(person: Person, ollama: ScriptedOllama) -> None:
    """A turn is observed and queried; one model answer is repaired, one is unreadable; an encoder is unavailable."""
    ollama.script("prose", "well", at="/api/chat")
    await person.think(SAID)
    await person.compose("Which tea do I prefer?")
    ollama.script("prose", at="/api/chat")
    await person.think("I live in Oslo.")
    ollama.script("http_500", at="/api/embed")
    package = await person.compose("Where do I live?", deadline_ms=1000)
    assert package.degraded_reason
    ollama.script("well", at="/api/chat")
    ollama.script("well", at="/api/embed")


def queries() -> list[tuple[str, str, str]]:
    """Dashboard, panel and expression of every query."""
    boards = [(path.stem, json.loads(path.read_text("utf-8"))) for path in BOARDS]
    return [
        (name, panel["title"], target["expr"])
        for name, board in boards
        for panel in board["panels"]
        for target in panel.get("targets", ())
    ]


async def test_every_query_of_every_panel_returns_data(watched: tuple[System, Prometheus]) -> None:
    _, prometheus = watched
    asked = queries()
    assert {board for board, _, _ in asked} == {"pipeline", "compose", "erasure", "models"}
    empty = [each for each in asked if not await prometheus.query(each[2])]
    assert not empty


async def test_the_panels_show_the_events(watched: tuple[System, Prometheus]) -> None:
    _, prometheus = watched
    by_title = {(board, title): expression for board, title, expression in queries()}
    for place in (
        ("pipeline", "Dead letters"),
        ("pipeline", "Published a second"),
        ("compose", "Compose: what was missing"),
        ("compose", "Candidates of an arm, on average"),
        ("compose", "Tokens of a package, by slot"),
        ("erasure", "Rows erased a second"),
        ("models", "Model calls: failures"),
        ("models", "Cost an hour"),
        ("models", "Cost, last day"),
    ):
        assert max(await prometheus.query(by_title[place])) > 0, place


async def test_every_alert_runs_and_the_first_dead_letter_fires_one(watched: tuple[System, Prometheus]) -> None:
    _, prometheus = watched
    alerts = {alert.name: alert.expr for entry in ENTRIES for alert in entry.alerts}
    called = {name for name, expression in alerts.items() if await prometheus.query(expression)}
    assert "DeadLetters" in called
    assert not called & {"ServiceMissing", "OutboxStalled", "ConsumerStalled", "ErasureResidue", "ErasureEscalated"}
    rules = await prometheus.rules()
    assert {rule["name"] for rule in rules} == set(alerts)
    assert {rule["health"] for rule in rules} <= {"ok", "unknown"}
    assert not [rule for rule in rules if rule.get("lastError")]


@pytest.mark.parametrize("what", ["rules", "config"])
def test_promtool_accepts_the_deployed_files(what: str) -> None:
    file = DEPLOYED / {"rules": "alerts.yml", "config": "prometheus.yml"}[what]
    checked = subprocess.run(["promtool", "check", what, str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
