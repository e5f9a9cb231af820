"""Metadata of a session and its messages is returned unchanged and deleted with them."""

from typing import Any

import pytest
from psycopg import sql

from shared.db import owner
from shared.domain.subjects import Subject
from shared.store import rebuild
from shared.store.schema import scratch
from tests.system.databases import rows
from tests.system.erasures import completed, erase, found, mine
from tests.system.person import Json, Person, user
from tests.system.running import System

SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
SAID: dict[str, tuple[str, Json, Json]] = {
    "zh": ("我对花生过敏。", {"channel": "微信", "title": "我对花生过敏"}, {"id": "消息-1", "locale": "zh-CN"}),
    "en": (
        "I am allergic to peanuts.",
        {"channel": "web", "title": "I am allergic to peanuts"},
        {"id": "msg-1", "locale": "en-GB", "parts": [1, {"deep": True}]},
    ),
}
languages = pytest.mark.parametrize("language", SAID)


async def commit(person: Person, text: str, metadata: Json | None, meta: Json | None, session: str = "s1") -> Json:
    """The result of a turn with this message and this metadata."""
    message = user(text) | ({} if meta is None else {"meta": meta})
    body = {**person.whose, "session_id": session, "messages": [message]}
    answer = await person.post("/v1/turns", body if metadata is None else {**body, "metadata": metadata})
    assert answer.status_code == 201, answer.text
    await person.outcome(answer.json()["turn_id"])
    return answer.json()


async def read_metadata(person: Person, session: str = "s1") -> Any:
    return (await person.get(f"/v1/sessions/{session}")).json()["metadata"]


async def metas(person: Person, turn_id: str) -> list[Any]:
    return [event["meta"] for event in (await person.get(f"/v1/turns/{turn_id}")).json()["events"]]


@languages
async def test_metadata_is_returned_unchanged_and_not_learnt_from(person: Person, language: str) -> None:
    text, metadata, meta = SAID[language]
    made = await commit(person, text, metadata, meta)
    assert made["ignored_fields"] == []
    assert await read_metadata(person) == metadata
    assert await metas(person, made["turn_id"]) == [meta]
    (row,) = mine(person, "messages")
    assert row["meta_json"] == meta
    listed = (await person.get("/v1/sessions")).json()["sessions"]
    assert [each["metadata"] for each in listed] == [metadata]
    assert len(await person.memories()) == 1
    await commit(person, "谢谢。" if language == "zh" else "Thanks a lot.", None, None)
    assert await read_metadata(person) == metadata, "a turn that says nothing of it leaves it"
    await commit(person, "再见。" if language == "zh" else "Good bye.", {"channel": "mail"}, None)
    assert await read_metadata(person) == {"channel": "mail"}
    await commit(person, "好。" if language == "zh" else "Fine.", {}, None)
    assert await read_metadata(person) == {}


async def test_a_secret_in_metadata_is_blanked_and_named(person: Person) -> None:
    meta = {"note": f"my key is {SECRET}", "password": "hunter2hunter2"}
    made = await commit(person, "Hello there.", {"auth": [f"Bearer {SECRET}"]}, meta)
    assert {each["field"] for each in made["redacted"]} >= {
        "metadata.auth.0", "messages.0.meta.note", "messages.0.meta.password",
    }  # fmt: skip
    assert found(person.system.dsn, SECRET, "hunter2hunter2") == {}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"metadata": {"a": "x" * 9000}}, "metadata"),
        ({"metadata": ["a"]}, "metadata"),
        ({"metadata": {"a\x00": 1}}, "metadata"),
        ({"messages": [{**user("hi"), "meta": {"a": "长" * 3000}}]}, "messages.0.meta"),
        ({"messages": [user("hi"), {**user("hi"), "meta": "web"}]}, "messages.1.meta"),
        ({"org_id": ""}, "org_id"),
    ],
)
async def test_invalid_metadata_is_refused_by_field(person: Person, wrong: Json, field: str) -> None:
    answer = await person.post("/v1/turns", {**person.turn("Hello."), **wrong})
    assert answer.status_code == 422
    assert answer.json()["details"][0]["field"] == field


@languages
@pytest.mark.parametrize("scope", ["all", "session"])
async def test_metadata_is_erased_with_its_session(person: Person, language: str, scope: str) -> None:
    text, metadata, meta = SAID[language]
    await commit(person, text, metadata, meta)
    await commit(person, "Good evening.", {"channel": "phone"}, {"id": "other"}, session="s2")
    receipt = await erase(person, scope, **({"session_ids": ["s1"]} if scope == "session" else {}))
    assert [each["metadata_json"] for each in mine(person, "sessions", "session_id = 's1'")] == [{}], "at once"
    assert [each["meta_json"] for each in mine(person, "conversation_events", "session_id = 's1'")] == [None]
    await completed(person, receipt)
    left = mine(person, "sessions", "session_id = 's2'")
    assert [each["metadata_json"] for each in left] == ([{"channel": "phone"}] if scope == "session" else [{}])


@languages
async def test_an_erased_memory_leaves_no_words_in_metadata(person: Person, language: str) -> None:
    text, metadata, _ = SAID[language]
    words = metadata["title"]
    made = await commit(person, text, metadata, {"preview": f"{words}!", "id": "m1"})
    await commit(person, "Good evening.", {"title": f"{words}?"}, None, session="s2")
    (memory,) = await person.memories()
    await completed(person, await erase(person, "items", memory_ids=[memory["memory_id"]]))
    said = [each["metadata_json"] for each in mine(person, "sessions")]
    assert [words in str(each) for each in said] == [False, False]
    assert {"channel": metadata["channel"]}.items() <= (await read_metadata(person)).items()
    ((meta,),) = [await metas(person, made["turn_id"])]
    assert (words in meta["preview"], meta["id"]) == (False, "m1")


async def test_a_copy_of_the_log_contains_the_metadata(person: Person, system: System) -> None:
    text, metadata, meta = SAID["en"]
    await commit(person, text, metadata, meta)
    subject = Subject(person.tenant_id, person.user_id)
    async with scratch(system.dsn) as schema, owner(system.dsn) as conn:
        await conn.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
        await rebuild.copy_log(conn, subject)
        session = rows(system.dsn, f"SELECT metadata_json FROM {schema}.sessions")  # noqa: S608 # constant text
        assert [each["metadata_json"] for each in session] == [metadata]
        event = rows(system.dsn, f"SELECT meta_json FROM {schema}.conversation_events")  # noqa: S608 # constant text
        assert [each["meta_json"] for each in event] == [meta]
