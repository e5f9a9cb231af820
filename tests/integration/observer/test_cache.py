"""A model is asked once about the same words of a user: answers are cached by input hash, secrets blanked."""

import json
from typing import Any

import pytest

from services.observer import revise_summary
from shared.errors import TransientError
from shared.model_calls.calls import AnswerKey, digest
from shared.store import outbox
from tests.integration.observer.test_usage import Bench, bench_with
from tests.ollama.server import ScriptedOllama
from tests.system.person import Person

assert bench_with  # a fixture

SAID = {
    "zh": ("上次聊到的那件事：我周末都去爬山。", "爬山", "我周末都去爬山", "用户周末都去爬山"),
    "en": ("About the other day: I go bouldering at weekends.", "bouldering", "I go bouldering", "Goes bouldering"),
}
DECIDED = {"zh": "我们决定用 PostgreSQL 做主存储。", "en": "We decided to launch in Norway first."}
LANGUAGES = pytest.mark.parametrize("language", SAID)


def make_answer(language: str, **more: Any) -> str:
    """The model's items for the message."""
    _, value, quote, content = SAID[language]
    item = {
        "type": "goal",
        "content": content,
        "value": value,
        "quote": quote,
        "provenance": "observation",
        "confidence": 0.6,
        "epistemic_type": "fact",
    }
    return json.dumps({"items": [{**item, **more}]}, ensure_ascii=False)


def list_items(bench: Bench, person: Person) -> list[dict[str, Any]]:
    """The model's items, turn by turn."""
    return bench.system.rows(
        "SELECT kind, text, value, related_memory_id FROM observations WHERE user_id = %(u)s"
        " AND detector LIKE 'model:%%' ORDER BY created_at, turn_id",
        u=person.user_id,
    )


@LANGUAGES
async def test_the_same_words_are_asked_about_once(bench_with: Any, server: ScriptedOllama, language: str) -> None:
    server.answer = make_answer(language)
    async with bench_with() as bench:
        person, other = Person(bench.system), Person(bench.system)
        text = SAID[language][0]
        await bench.observe(person, await bench.said(person, text, text))
        assert len(server.asked("/api/chat")) == 1
        await bench.observe(person, await bench.said(person, text, session="s2"))
        assert len(server.asked("/api/chat")) == bench.used(person)["calls"] == 1
        kept = list_items(bench, person)
        assert [row["text"] for row in kept] == [SAID[language][3]] * 3
        await bench.observe(other, await bench.said(other, text))
        assert len(server.asked("/api/chat")) == 2, "another user's answers are nobody else's"


@LANGUAGES
async def test_an_answer_survives_a_batch_that_could_not_be_saved(
    bench_with: Any, server: ScriptedOllama, language: str
) -> None:
    server.answer = make_answer(language)
    async with bench_with() as bench:
        person = Person(bench.system)
        events = await bench.said(person, SAID[language][0])
        await bench.system.change("ALTER TABLE memory_chunks RENAME TO elsewhere")
        with pytest.raises(Exception, match="schema lacks"):
            await bench.observe(person, events)
        await bench.system.change("ALTER TABLE elsewhere RENAME TO memory_chunks")
        await bench.observe(person, events)
        assert len(server.asked("/api/chat")) == bench.used(person)["calls"] == 1
        assert [row["text"] for row in list_items(bench, person)] == [SAID[language][3]]


@LANGUAGES
@pytest.mark.parametrize("amid", [False, True])
async def test_a_summary_answer_survives_it_too(
    bench_with: Any, server: ScriptedOllama, monkeypatch: pytest.MonkeyPatch, language: str, amid: bool
) -> None:
    ask_for_changes = revise_summary.ask_for_changes

    async def broken(*given: Any) -> None:
        await ask_for_changes(*given)
        raise TransientError("the second of two summaries")

    async with bench_with() as bench:
        person = Person(bench.system)
        events = await bench.said(person, DECIDED[language])
        with monkeypatch.context() as patched:
            patched.setattr(*((revise_summary, "ask_for_changes", broken) if amid else (outbox, "put", fail_write)))
            with pytest.raises(TransientError):
                await bench.observe(person, events)
        await bench.observe(person, events)
        used = bench.system.rows("SELECT purpose, calls FROM model_usage ORDER BY purpose")
        assert [(row["purpose"], row["calls"]) for row in used] == [("extract", 1), ("summary", 1)]
        assert len(server.asked("/api/chat")) == 2


async def fail_write(*_: Any) -> None:
    """Every write fails."""
    raise TransientError("away")


async def test_a_cached_answer_uses_no_daily_share(bench_with: Any, server: ScriptedOllama) -> None:
    server.answer, server.counts = make_answer("en"), (7900, 200)
    async with bench_with(model_tokens_per_day=8000) as bench:
        person = Person(bench.system)
        text = SAID["en"][0]
        await bench.observe(person, await bench.said(person, text, text, SAID["zh"][0]))
        assert bench.notes(person) == [["model_budget_used_up"]] * 2 + [[]]
        assert len(server.asked("/api/chat")) == 1
        server.answer = make_answer("zh")
        await bench.observe(person, await bench.said(person, SAID["zh"][0], session="s2"))
        assert bench.notes(person)[3:] == [[]]
        assert len(server.asked("/api/chat")) == 1


async def test_secrets_and_unreadable_answers_are_not_cached(bench_with: Any, server: ScriptedOllama) -> None:
    secret = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56"
    server.answer = make_answer("en", content=f"The API key is {secret}", value="身份证 11010519491231002X")
    async with bench_with() as bench:
        person = Person(bench.system)
        await bench.observe(person, await bench.said(person, SAID["en"][0]))
        (kept,) = bench.system.rows("SELECT answer::text AS answer FROM model_cache")
        assert secret not in kept["answer"]
        assert "11010519491231002X" not in kept["answer"]
        assert SAID["en"][2] in kept["answer"]
        server.script("prose")
        await bench.observe(person, await bench.said(person, SAID["zh"][0]))
        assert bench.system.number("SELECT count(*) FROM model_cache") == 1


async def test_a_cached_change_names_the_same_memory_again(bench_with: Any, server: ScriptedOllama) -> None:
    async with bench_with() as bench:
        person = Person(bench.system)
        await bench.system.change(
            "INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, key, content_text,"
            " content_hash, status, confidence, provenance_class, assertion, valid_at) VALUES (%(t)s, %(u)s,"
            " '01920000-0000-7000-8000-000000000001', gen_random_uuid(), 1, 'preference', 'pref:x', 'likes chess',"
            " 'x', 'active', 0.5, 'observation', 'declared', now())",
            t=person.tenant_id,
            u=person.user_id,
        )
        known = "01920000-0000-7000-8000-000000000001"
        server.answer = make_answer("en", related_existing_memory_id=known)
        for _ in range(2):
            await bench.observe(person, await bench.said(person, SAID["en"][0]))
        assert [str(row["related_memory_id"]) for row in list_items(bench, person)] == [known, known]
        server.answer = make_answer("zh", related_existing_memory_id="01920000-0000-7000-8000-00000000000f")
        await bench.observe(person, await bench.said(person, SAID["zh"][0]))
        assert [row["related_memory_id"] for row in list_items(bench, person)][2:] == [None]


def test_an_input_hash_covers_words_prompt_and_model() -> None:
    words = digest([("user", "我喜欢喝茶", None)])
    assert words == digest([("user", "我喜欢喝茶", None)]) != digest([("user", "I like tea", None)])
    one = AnswerKey("extract", "extract-2", "qwen3", words)
    others = [
        AnswerKey("summary", "extract-2", "qwen3", words),
        AnswerKey("extract", "extract-1", "qwen3", words),
        AnswerKey("extract", "extract-2", "qwen4", words),
        AnswerKey("extract", "extract-2", "qwen3", digest("")),
    ]
    assert len({one.hash, *(each.hash for each in others)}) == 5
