"""Summaries with a model: it adds statements; its errors neither lose nor distort lines."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.acceptance.conftest import SLOW, WithModel
from tests.acceptance.test_sessions import archive, archived, session
from tests.ollama.server import CHAT, Mode, ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Json, Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

NOTHING = '{"items": []}'
ROUNDS = 10
TALK: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "zh": (
        "我们决定用 PostgreSQL 做主存储。",
        "我们决定用 PostgreSQL 做主存储",
        "楼下的花坛换过土了。",
        "楼下的花坛换过土",
        tuple(f"我们决定第{n}批货走{way}。" for n, way in enumerate("海陆空铁河海陆空铁河", 1)),
    ),
    "en": (
        "We decided to use PostgreSQL for the ledger.",
        "We decided to use PostgreSQL for the ledger",
        "The lobby ferns belong with the front desk.",
        "Lobby ferns belong with the front desk",
        tuple(f"We decided to ship batch {n} by {way}." for n, way in enumerate(("sea", "rail") * 5, 1)),
    ),
}
languages = pytest.mark.parametrize("language", TALK)


@pytest.fixture
async def system(with_model: WithModel) -> AsyncGenerator[System]:
    """Every service, with a model without a time limit unless it is to be late."""
    async with with_model(late_s=4.0) as all_services:
        yield all_services


def read_prompt(body: Json) -> Json | None:
    """The lines and messages in the prompt for a summary; None if the prompt is another."""
    if "summary of a conversation" not in body["messages"][0]["content"]:
        return None
    return json.loads(body["messages"][1]["content"].split("<data>")[1].split("</data>")[0])


def script_summary(ollama: ScriptedOllama, *items: dict[str, Any], done: tuple[str, ...] = ()) -> None:
    """The model gives this answer to every summary prompt, and an empty one to all others."""
    good = json.dumps({"items": items, "done": done}, ensure_ascii=False)
    ollama.answer = lambda body: good if read_prompt(body) else NOTHING


def line(text: str, section: str = "tasks", id: str | None = None) -> dict[str, Any]:
    return {"id": id, "section": section, "text": text, "state": None}


async def retold(person: Person, turn_id: str) -> Json:
    """The turn's outcome, once the model has updated the summary up to it or failed."""
    told = (
        "SELECT count(*) FROM turns WHERE turn_id = %(turn)s AND outcome_at IS NOT NULL"
        " AND (outcome -> 'summary' ->> 'model_id' <> 'rules-1' OR outcome -> 'summary' -> 'notes' <> '[]')"
    )
    await wait_for(lambda: person.system.number(told, turn=turn_id), f"a model has retold {turn_id}")
    return await person.outcome(turn_id)


async def say(person: Person, *texts: str, **more: Any) -> Json:
    """The outcome of a turn with this message, once a model has read it and updated its summary."""
    turn_id = (await person.commit(*texts, **more))["turn_id"]
    await person.thought(turn_id)
    return await retold(person, turn_id)


async def summary(person: Person) -> Json:
    """The session's summary."""
    return (await session(person))["summary"]


def items(made: Json) -> list[Json]:
    return made["summary_json"]["items"]


@languages
async def test_the_model_adds_a_line_that_the_rules_do_not_find(
    person: Person, ollama: ScriptedOllama, language: str
) -> None:
    said, decided, more, line_of_it, _ = TALK[language]
    script_summary(ollama, line(line_of_it), line("The user is a lifetime member", "goals"), line("无中生有的一行"))
    await say(person, said)
    await person.think(more)
    receipt = await archive(person)
    outcome = await retold(person, receipt["turn_id"])
    assert outcome["summary"]["model_id"] == CHAT
    seen = await archived(person)
    assert [each["text"] for each in items(seen["summary"])] == [decided, line_of_it]
    assert seen["summary"]["model_id"] == seen["blocks"][0]["model_id"] == CHAT
    assert line_of_it in seen["blocks"][0]["text"]
    account = person.system.rows("SELECT purpose, calls FROM model_usage WHERE user_id = %(u)s", u=person.user_id)
    assert {row["purpose"]: row["calls"] for row in account} == {"extract": 2, "summary": 2}
    kept = person.system.rows(
        "SELECT purpose, model, prompt_version FROM model_cache WHERE user_id = %(u)s AND purpose = 'summary'",
        u=person.user_id,
    )
    assert [tuple(row.values()) for row in kept] == [("summary", CHAT, "summary-1")] * 2


BAD: tuple[Mode, ...] = ("prose", "broken_json", "wrong_schema", "empty", "http_500", "slow", "cut_off")


@languages
@pytest.mark.parametrize("mode", [*(SLOW if mode == "slow" else mode for mode in BAD), "think_tags"])
async def test_the_summary_contains_the_lines_of_the_rules_in_every_mode(
    person: Person, ollama: ScriptedOllama, language: str, mode: Mode
) -> None:
    said, decided, more, line_of_it, later = TALK[language]
    script_summary(ollama, line(line_of_it))
    await say(person, said, more)
    before = items(await summary(person))
    assert [each["text"] for each in before] == [decided, line_of_it]
    ollama.script(mode, at="/api/chat")
    await say(person, later[0])
    receipt = await archive(person)
    # the model is not shown the same text twice
    await (retold if mode in BAD else Person.outcome)(person, receipt["turn_id"])
    made = (await archived(person))["summary"]
    after = items(made)
    assert [each for each in after if each["id"] in {one["id"] for one in before}] == before, "to the letter"
    assert len(after) == 3
    assert person.number("SELECT count(*) FROM quarantine WHERE user_id = %(u)s") == 0
    outcomes = person.system.rows(
        "SELECT outcome -> 'summary' -> 'notes' AS notes FROM turns WHERE user_id = %(u)s ORDER BY seq",
        u=person.user_id,
    )
    away = mode in ("http_500", "slow")
    expected = ["model_unavailable" if away else "model_answer_malformed"] if mode in BAD else []
    assert outcomes[1]["notes"] == expected
    unread = [each["prompt"] for each in (await person.get("/v1/answers")).json()["answers"]]
    assert ("summary" in unread) == (mode in BAD and not away)


@languages
async def test_ten_rounds_with_a_model_that_rewrites_everything_keep_the_original_lines(
    person: Person, ollama: ScriptedOllama, language: str
) -> None:
    said, _, more, line_of_it, later = TALK[language]
    script_summary(ollama, line(line_of_it))
    await say(person, said, more)
    before = items(await summary(person))

    def rewrites(body: Json) -> str:
        shown = read_prompt(body)
        if shown is None:
            return NOTHING
        words = [
            line(f"{each['text'].replace('PostgreSQL', 'MongoDB')} (v2)", each["section"], each["id"])
            for each in shown["lines"]
        ]
        words += [line(each["text"][::-1], each["section"], each["id"]) for each in shown["lines"]]
        words += [line("完全无关的内容", "decisions"), line("Something else entirely", "goals", "d99")]
        return json.dumps({"items": words, "done": [each["id"] for each in shown["lines"]]}, ensure_ascii=False)

    ollama.answer = rewrites
    for text in later[:8]:
        await say(person, text)
    for _ in range(ROUNDS - 8):
        await say(person, "谢谢！" if language == "zh" else "Thanks!", end_session=True)
    after = items(await summary(person))
    assert [each for each in after if each["id"] in {one["id"] for one in before}] == before
    assert len(after) == len(before) + 8
    asked_about = [body for body in ollama.asked("/api/chat") if read_prompt(body)]
    assert len(asked_about) == ROUNDS, "the last round's question had been asked already and was answered from memory"
    assert (await session(person))["summary"]["model_id"] == CHAT


async def test_an_exhausted_token_share_leaves_the_rules_and_is_reported(
    databases: Databases, kafka: str, ollama: ScriptedOllama, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ollama.reset()
    script_summary(ollama, line(TALK["en"][3]))
    policy = policy_file(tmp_path_factory.mktemp("policy"), observer={"model_tokens_per_day": 10})
    settings = settings_for(databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64, policy=policy)
    async with running(settings) as system:
        person = Person(system)
        outcome = await say(person, TALK["en"][0])
        assert (outcome["summary"]["model_id"], outcome["summary"]["notes"]) == ("rules-1", ["model_budget_used_up"])
        assert not ollama.asked("/api/chat")
