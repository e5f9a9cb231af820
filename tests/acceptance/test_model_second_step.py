"""Results of the rules never wait for a model, whose part follows as a second step, once, or not at all."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from schemas.topics import OBSERVATION_RECORDED, TURN_EXTRACT, TURN_OUTCOME
from services.cli.supervisor import Supervisor
from shared.metrics.models import MODEL_TURNS_SKIPPED
from tests.ollama.server import CHAT, ScriptedOllama
from tests.system.databases import OPTIONS, Databases
from tests.system.erasures import completed, erase, found
from tests.system.kafka import of_tenant
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.usefixtures("patterns")
AT_ONCE_S = 6.0
SAID = {
    "zh": ("我喜欢喝龙井茶。周六日泡泳池的日子。", "龙井茶", "周六日泡泳池", "周六日泡泳池的日子"),
    "en": (
        "I prefer green tea. Oh, those weekends at the pool.",
        "green tea",
        "Usually at the pool on weekends",
        "Oh, those weekends at the pool",
    ),
}
TAKEN_BACK = {
    "zh": ("开玩笑的。", "我再也不去泳池了。", "忘掉我说过的关于泳池的事。"),
    "en": ("Just kidding.", "I no longer go to the pool.", "Forget what I said about the pool."),
}
BY_MODEL = "SELECT count(*) FROM observations WHERE user_id = %(u)s AND detector LIKE 'model:%%'"
languages = pytest.mark.parametrize("language", SAID)


def answer(body: dict[str, Any]) -> str:
    """The one item of the turn that the rules do not find; for a summary, no change."""
    said = body["messages"][1]["content"]
    if "new_messages" in said:
        return '{"items": [], "done": []}'
    turn = json.dumps(json.loads(said.split("<data>")[1].split("</data>")[0])["turn"], ensure_ascii=False)
    items = [
        {
            "type": "pattern",
            "content": content,
            "provenance": "observation",
            "confidence": 0.6,
            "epistemic_type": "fact",
            "quote": quote,
        }
        for _, _, content, quote in SAID.values()
        if quote in turn
    ]
    return json.dumps({"items": items}, ensure_ascii=False)


Opened = Callable[..., Any]


@pytest.fixture
def opened(databases: Databases, kafka: str, ollama: ScriptedOllama, tmp_path: Path) -> Opened:
    """A system of one test with a reset scripted model and these policy slices."""
    ollama.reset()
    ollama.answer = answer

    def open_one(services: tuple[str, ...] | None = None, **slices: Any) -> Any:
        policy = policy_file(tmp_path, **slices)
        settings = settings_for(
            databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64, policy=policy, data=tmp_path / "d"
        )
        return running(settings, services) if services else running(settings)

    return open_one


@pytest.fixture
async def system(opened: Opened) -> AsyncGenerator[System]:
    """Every service."""
    async with opened() as all_services:
        yield all_services


async def has(person: Person, words: str) -> bool:
    """Whether a memory of the user contains this."""
    return any(words in content for content in await person.contents())


@languages
async def test_results_of_the_rules_appear_at_once_and_those_of_a_slow_model_follow(
    person: Person, ollama: ScriptedOllama, language: str
) -> None:
    said, by_rules, by_model, _ = SAID[language]
    await person.say("-", session="warm")
    ollama.slow_s = 8.0
    ollama.script("slow", at="/api/chat")
    began = time.monotonic()
    outcome = await person.say(said)
    assert (outcome["status"], len(outcome["written"])) == ("derived", 1)
    assert await has(person, by_rules)
    assert time.monotonic() - began < AT_ONCE_S
    assert not await has(person, by_model)
    later = await person.thought(outcome["turn_id"])
    assert time.monotonic() - began > ollama.slow_s
    assert await has(person, by_rules)
    assert await has(person, by_model)
    assert later["written"][0] == outcome["written"][0]
    assert [each["type"] for each in later["written"][1:]] == ["pattern"]
    assert [e["reason"] for e in later["retention_explain"] if e["reason"] in ("model_read", "model: pattern")]
    by = await list_events(person, OBSERVATION_RECORDED.name)
    assert len([each for each in by if each["turn_id"] == outcome["turn_id"]]) == 2, "each step has its own event"
    outcomes = [each for each in await list_events(person, TURN_OUTCOME.name) if each["turn_id"] == outcome["turn_id"]]
    assert len(outcomes) == 1, "a turn has one outcome, whatever is added to it"


async def list_events(person: Person, topic: str) -> list[dict[str, Any]]:
    """The events of this user on the topic."""
    stored = await of_tenant(person.system.bootstrap, person.tenant_id, topic)
    return [each.envelope.payload for each in stored]


async def test_a_hanging_model_delays_nothing(opened: Opened, ollama: ScriptedOllama) -> None:
    ollama.slow_s = 60.0
    ollama.script("slow", at="/api/chat")
    async with opened(observer={"model_deadline_s": 10.0}) as system:
        person = Person(system)
        receipts: list[dict[str, Any]] = []
        for n, (said, by_rules, *_) in enumerate(SAID.values()):
            began = time.monotonic()
            receipts.append(await person.commit(said, session=f"s{n}", end_session=True))
            outcome = await person.outcome(receipts[-1]["turn_id"])
            assert outcome["summary"]["model_id"] == "rules-1"
            assert await has(person, by_rules)
            assert time.monotonic() - began < AT_ONCE_S
        for receipt in receipts:
            reasons = [e.get("reason") for e in (await person.thought(receipt["turn_id"]))["retention_explain"]]
            assert "model_unavailable" in reasons
        assert person.number(BY_MODEL) == 0


@contextmanager
def pause_step(system: System, turn_id: str) -> Generator[None]:
    """The second step of the turn is paused."""
    with psycopg.connect(system.dsn, options=OPTIONS) as conn:
        conn.execute("SELECT FROM turns WHERE turn_id = %s FOR UPDATE", (turn_id,))
        try:
            yield
        finally:
            conn.rollback()


WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND starts_with(application_name, 'smartbrain:') AND cardinality(pg_blocking_pids(pid)) > 0
"""
WITHOUT_OBSERVER = ("compose", "relay", "analyzer", "evolver", "erasure", "governor")


@languages
async def test_an_observer_killed_between_answer_and_save_adds_once(
    opened: Opened, ollama: ScriptedOllama, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str
) -> None:
    said, by_rules, by_model, _ = SAID[language]
    monkeypatch.setenv("SMARTBRAIN_POLICY", str(policy_file(tmp_path)))
    monkeypatch.setenv("SMARTBRAIN_OLLAMA_URL", ollama.url)
    monkeypatch.setenv("SMARTBRAIN_EMBEDDING_DIMENSION", "64")
    ollama.slow_s = 3.0
    ollama.script("slow", "well", at="/api/chat")
    async with opened(WITHOUT_OBSERVER) as system:
        person = Person(system)
        with Supervisor(system.settings, services=("observer",)) as supervisor:
            await asyncio.to_thread(supervisor.start)
            outcome = await person.say(said)
            with pause_step(system, outcome["turn_id"]):
                await wait_for(lambda: system.number(WAITING), "the model's part is about to be written")
                supervisor.processes["observer"].child.kill()
                await asyncio.to_thread(supervisor.processes["observer"].child.wait)
            assert by_rules in " ".join(await person.contents())
            supervisor.launch("observer")
            await person.thought(outcome["turn_id"])
        assert len([content for content in await person.contents() if by_model in content]) == 1
        assert person.number(BY_MODEL) == 1
        assert len(ollama.asked("/api/chat")) >= 2
        reasons = [each["reason"] for each in (await person.outcome(outcome["turn_id"]))["retention_explain"]]
        assert reasons.count("model_read") == 1


@languages
@pytest.mark.parametrize("scope", ["all", "personal", "session"])
async def test_a_turn_erased_during_the_model_call_leaves_nothing(
    person: Person, ollama: ScriptedOllama, language: str, scope: str
) -> None:
    said, _, by_model, _ = SAID[language]
    ollama.slow_s = 3.0
    ollama.script("slow", "well", at="/api/chat")
    outcome = await person.say(said)
    await asyncio.wait_for(ollama.slow_began.wait(), 30)
    await completed(person, await erase(person, scope, **({"session_ids": ["s1"]} if scope == "session" else {})))
    had = "SELECT count(*) FROM model_usage WHERE user_id = %(u)s"
    if scope != "all":
        await wait_for(lambda: person.number(had), "what was asked for nothing is counted")
    await asyncio.sleep(1.0)
    await person.system.settled()
    assert await person.contents() == []
    log = {"conversation_events"} if scope == "personal" else set[str]()
    assert found(person.system.dsn, by_model).keys() <= log
    assert person.number(BY_MODEL) == 0
    assert not [e for e in (await told_of(person, outcome)) if str(e.get("reason")).startswith("model")]


async def told_of(person: Person, outcome: dict[str, Any]) -> list[dict[str, Any]]:
    """The current outcome of the turn, if any of it remains."""
    seen = (await person.get(f"/v1/turns/{outcome['turn_id']}/outcome")).json()
    return (seen.get("outcome") or {}).get("retention_explain", [])


@languages
@pytest.mark.parametrize("n", range(3))
async def test_a_memory_retracted_during_the_model_call_is_not_learnt_late(
    person: Person, ollama: ScriptedOllama, language: str, n: int
) -> None:
    said, _, by_model, _ = SAID[language]
    ollama.slow_s = 4.0
    ollama.script("slow", "well", at="/api/chat")
    first = await person.say(said)
    await asyncio.wait_for(ollama.slow_began.wait(), 30)
    await person.say(TAKEN_BACK[language][n])
    later = await person.thought(first["turn_id"])
    assert not await has(person, by_model)
    assert "model: taken back since" in [each["reason"] for each in later["retention_explain"]]


@languages
async def test_turns_that_waited_too_long_are_skipped_newest_first_and_counted(
    opened: Opened, ollama: ScriptedOllama, language: str
) -> None:
    _, _, by_model, _ = SAID[language]
    texts = [f"{SAID[language][0]} ({n})" for n in range(6)]
    async with opened(observer={"model_lag_max_s": 5.0}) as system:
        person = Person(system)
        before = MODEL_TURNS_SKIPPED.labels("late")._value.get()  # pyright: ignore[reportPrivateUsage] # there is no public access
        ollama.slow_s = 2.2
        ollama.script("slow", at="/api/chat")
        await system.stop("observer")
        receipts = [await person.commit(text, session=f"s{n}") for n, text in enumerate(texts)]
        waiting = "SELECT count(*) FROM event_outbox"
        await wait_for(lambda: not system.number(waiting), "every turn waits for the observer")
        await system.stop("relay")
        await system.start("observer")
        told_of = f"{waiting} WHERE aggregatetype = '{TURN_EXTRACT.name}'"
        await wait_for(lambda: system.number(told_of) == len(texts), "every turn is to be read by a model")
        await system.start("relay")
        outcomes = [await person.thought(receipt["turn_id"]) for receipt in receipts]
        skipped = ["model_skipped" in [e["reason"] for e in each["retention_explain"]] for each in outcomes]
        assert any(skipped)
        assert not skipped[-1], "the newest turn is asked about"
        assert skipped == sorted(skipped, reverse=True), "the older turns are let go"
        counted = MODEL_TURNS_SKIPPED.labels("late")._value.get() - before  # pyright: ignore[reportPrivateUsage]
        assert counted == skipped.count(True)
        assert all(each["status"] == "derived" for each in outcomes)
        assert await has(person, by_model)
        assert CHAT in {row["model"] for row in system.rows("SELECT model FROM model_cache")}
