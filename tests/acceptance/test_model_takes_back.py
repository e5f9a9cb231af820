"""A model withdraws results of the rules: by number, only with certainty, as a version that can be restored."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import ANALYSIS_PROPOSED, MEMORY_CHANGED, OBSERVATION_RECORDED
from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases, state
from tests.system.kafka import GROUPS, caught_up, of_tenant, publish, read
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for

SAID = {
    "zh": ("我喜欢喝龙井茶。我大学室友阿强在深圳做产品经理。", "龙井茶", "我大学室友阿强在深圳做产品经理"),
    "en": (
        "I prefer green tea. My cousin Tom works as a nurse in Bristol.",
        "green tea",
        "My cousin Tom works as a nurse in Bristol",
    ),
}
languages = pytest.mark.parametrize("language", SAID)


def quiet(*_: object) -> None:
    """Publishes no event."""


class Judge:
    """A model that calls results with these words wrong, and lists these items."""

    def __init__(self) -> None:
        self.wrong: tuple[str, ...] = tuple(said for *_, said in SAID.values())
        self.items: list[dict[str, Any]] = []
        self.form = "{}"
        self.shown: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        """The answer to one question; for a summary, no change."""
        said = body["messages"][1]["content"]
        if "new_messages" in said:
            return '{"items": [], "done": []}'
        found = json.loads(said.split("<data>")[1].split("</data>")[0]).get("found", [])
        self.shown += [each["text"] for each in found]
        wrong = [{"id": f["id"], "why": "others"} for f in found if any(w in f["text"] for w in self.wrong)]
        return self.form.replace("{}", json.dumps({"items": self.items, "wrong": wrong}, ensure_ascii=False))


@pytest.fixture
def judge(ollama: ScriptedOllama) -> Judge:
    """The model of this test."""
    ollama.reset()
    ollama.answer = judge = Judge()
    return judge


@pytest.fixture
async def system(
    databases: Databases, kafka: str, ollama: ScriptedOllama, judge: Judge, tmp_path: Path
) -> AsyncGenerator[System]:
    """Every service without redrive from state, so that only broker deliveries count."""
    policy = policy_file(tmp_path, delivery={"redrive_after_s": 3600}, evolution={"every_s": 3600})
    models = {"ollama_url": ollama.url, "embedding_dimension": 64}
    async with running(settings_for(databases.fresh(), kafka, policy=policy, **models)) as all_services:
        yield all_services


async def versions(person: Person, words: str) -> list[tuple[str, str | None]]:
    """The status of each memory with this text, and the mark of the observation that ended it."""
    found = person.system.rows(
        """SELECT m.status, (SELECT o.reason FROM observations o WHERE o.user_id = m.user_id
            AND o.related_memory_id = m.memory_id AND o.retracts) AS reason
        FROM memory_items m WHERE m.user_id = %(u)s AND strpos(m.content_text, %(words)s) > 0 ORDER BY m.version""",
        u=person.user_id,
        words=words,
    )
    return [(row["status"], row["reason"]) for row in found]


@languages
async def test_results_that_the_model_calls_wrong_are_withdrawn_and_the_rest_stays(
    person: Person, judge: Judge, language: str
) -> None:
    said, kept, wrong = SAID[language]
    first = await person.say(said)
    later = await person.thought(first["turn_id"])
    contents = await person.contents()
    assert any(kept in each for each in contents)
    assert not any(wrong in each for each in contents)
    assert await versions(person, wrong) == [("retracted", "retract:misread")]
    assert "model: others" in [each["reason"] for each in later["retention_explain"]]
    tenant = person.tenant_id
    for topic in (OBSERVATION_RECORDED, ANALYSIS_PROPOSED, MEMORY_CHANGED):
        told = await of_tenant(person.system.bootstrap, tenant, topic.name)
        assert told, "it goes the way of every find"
    changes = [e.envelope.payload for e in await of_tenant(person.system.bootstrap, tenant, MEMORY_CHANGED.name)]
    assert [each["change"] for each in changes].count("retracted") == 1


@languages
async def test_a_redelivery_does_not_end_a_restored_memory(person: Person, judge: Judge, language: str) -> None:
    said, _, wrong = SAID[language]
    first = await person.say(said)
    await person.thought(first["turn_id"])
    row = person.system.rows(
        "SELECT memory_id FROM memory_items WHERE user_id = %(u)s AND status = 'retracted'", u=person.user_id
    )
    answer = await person.system.http.post(f"/v1/memories/{row[0]['memory_id']}/restore", params=person.whose)
    await person.outcome(answer.json()["turn_id"])
    assert any(wrong in each for each in await person.contents())
    await caught_up(person.system.bootstrap)
    await person.system.settled()
    key = f"{person.tenant_id}:{person.user_id}".encode()
    everything = [record for record in await read(person.system.bootstrap, *GROUPS) if record.key == key]
    before = state(person.system.dsn)
    await publish(person.system.bootstrap, [again for record in everything for again in (record, record)])
    await publish(person.system.bootstrap, reversed(everything))
    await caught_up(person.system.bootstrap)
    await person.system.settled()
    after = state(person.system.dsn)
    for table in ("memory_items", "observations", "proposals", "conflicts", "model_cache"):
        assert after[table] == before[table], table
    assert any(wrong in each for each in await person.contents())


@languages
async def test_a_rebuild_from_the_log_and_the_stored_answers_gives_the_same_result(
    person: Person, judge: Judge, language: str
) -> None:
    said, _, wrong = SAID[language]
    first = await person.say(said)
    await person.thought(first["turn_id"])
    assert await versions(person, wrong) == [("retracted", "retract:misread")]
    rt, subject = person.system["compose"].rt, Subject(person.tenant_id, person.user_id)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, subject, apply=False, say=quiet)
    assert [*report.differences] == []


@languages
@pytest.mark.parametrize("form", ["no verdict", "not JSON", "both"])
async def test_nothing_is_withdrawn_without_a_clear_verdict(
    person: Person, judge: Judge, language: str, form: str
) -> None:
    said, kept, wrong = SAID[language]
    if form == "no verdict":
        judge.wrong = ()
    elif form == "not JSON":
        judge.form = "wrong: f1, f2"
    else:
        fact = {"class": "stated", "type": "profile", "truth": "fact", "confidence": 0.9}
        judge.items = [{**fact, "quote": wrong, "content": wrong}]
    first = await person.say(said)
    await person.thought(first["turn_id"])
    contents = await person.contents()
    assert any(kept in each for each in contents)
    assert any(wrong in each for each in contents)


STRONG = {
    "zh": ("记住：我的储物柜是42号。", "我对花生过敏。", "我不喝咖啡了，改喝乌龙茶。"),
    "en": (
        "Remember that my locker is number 42.",
        "I'm allergic to peanuts.",
        "I no longer live in Oslo, I live in Rome.",
    ),
}


@languages
@pytest.mark.parametrize("n", range(3))
async def test_the_model_is_not_asked_about_dictation_corrections_and_constraints(
    person: Person, judge: Judge, language: str, n: int
) -> None:
    judge.wrong = ("",)
    first = await person.say(STRONG[language][n])
    await person.thought(first["turn_id"])
    assert judge.shown == []
    assert await person.contents()


@languages
async def test_a_statement_repeated_before_the_model_answered_stays(
    person: Person, judge: Judge, ollama: ScriptedOllama, language: str
) -> None:
    said, _, wrong = SAID[language]
    ollama.slow_s = 4.0
    ollama.script("slow", at="/api/chat")
    first = await person.say(said)
    judge.wrong = ()
    await person.say(wrong, session="another")
    judge.wrong = (wrong,)
    await person.thought(first["turn_id"])
    assert any(wrong in each for each in await person.contents())
