"""Memory as of a past time, over HTTP and on the command line."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import uvicorn
from typer.testing import CliRunner

from services.cli import app
from services.compose.manage import memories
from tests.system.conflicts import contradicted
from tests.system.person import Json, Person
from tests.system.running import System
from tests.system.wait import wait_for

MOVES = pytest.mark.parametrize(
    ("first", "second", "old", "new", "word"),
    [
        ("我住在上海。", "我搬家了，现在住在北京。", "上海", "北京", "上海"),
        ("I live in Oslo.", "I live in Rome now.", "Oslo", "Rome", "living"),
    ],
    ids=["zh", "en"],
)
LANGUAGES = pytest.mark.parametrize(
    ("text", "other"),
    [("我喜欢喝茶。", "不对，我喜欢喝咖啡，不是茶。"), ("I like tea.", "No, I like coffee, not tea.")],
    ids=["zh", "en"],
)


async def list_as_of(person: Person, as_of: str, **query: str) -> Json:
    answer = await person.get("/v1/memories", as_of=as_of, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


@MOVES
async def test_the_old_memory_holds_until_the_correction_and_the_new_one_after(
    person: Person, first: str, second: str, old: str, new: str, word: str
) -> None:
    await person.say(first, created_at="2026-02-10T09:00:00Z")
    await person.say(second, created_at="2026-03-10T09:00:00Z")
    assert (await list_as_of(person, "2026-02-09"))["memories"] == []
    for moment in ("2026-02-10", "2026-03-01", "2026-03-10T08:59:59Z", "2026-03-10T16:59:59+08:00"):
        page = await list_as_of(person, moment, type="profile")
        (then,) = page["memories"]
        assert old in then["content"], moment
        assert (then["status"], page["count"]) == ("superseded", 1)
        assert page["as_of"] <= "2026-03-10T08:59:59Z"
    for moment in ("2026-03-10T09:00:00Z", "2026-03-10", datetime.now(UTC).date().isoformat()):
        (then,) = (await list_as_of(person, moment, type="profile"))["memories"]
        assert new in then["content"], moment
    assert [old in m["content"] for m in (await list_as_of(person, "2026-03-01", query=word))["memories"]] == [True]
    assert (await list_as_of(person, "2026-03-11", query="zebra"))["count"] == 0
    plain = f"/v1/memories?as_of=2026-03-10T16:59:59+08:00&user_id={person.user_id}&tenant_id={person.tenant_id}"
    assert (await person.system.http.get(plain)).json()["count"] == 1
    assert (await list_as_of(person, "2026-03-01", type="preference"))["memories"] == []
    assert (await person.get("/v1/memories")).json()["as_of"] is None


async def test_retracted_and_expired_memories_hold_until_their_end(person: Person) -> None:
    at = "2026-02-10T09:00:00Z"
    await person.say("I like coffee.", created_at=at)
    await person.say("I no longer drink coffee.", created_at="2026-02-20T09:00:00Z")
    body = {**person.whose, "session_id": "s1", "created_at": at, "items": [{"type": "note", "text": "half price"}]}
    await person.outcome((await person.post("/v1/turns", body)).json()["turn_id"])
    await person.system.change(
        "UPDATE memory_items SET valid_until = '2026-02-15' WHERE tenant_id = %(t)s AND type = 'note'",
        t=person.tenant_id,
    )
    assert (await list_as_of(person, "2026-02-12"))["count"] == 2
    assert [m["type"] for m in (await list_as_of(person, "2026-02-16"))["memories"]] == ["preference"]
    assert "likes coffee" not in [m["content"] for m in (await list_as_of(person, "2026-02-21"))["memories"]]


async def test_pages_of_a_past_time_are_consecutive(person: Person) -> None:
    texts = [f"note number {n} about tulips" for n in range(5)]
    items = [{"type": "note", "text": text} for text in texts]
    body = {**person.whose, "session_id": "s1", "created_at": "2026-02-10T09:00:00Z", "items": items}
    await person.outcome((await person.post("/v1/turns", body)).json()["turn_id"])
    for query in ({}, {"query": "tulip"}):
        pages = [await list_as_of(person, "2026-02-11", limit="2", offset=str(n), **query) for n in (0, 2, 4, 6)]
        assert [page["count"] for page in pages] == [5] * 4
        assert [len(page["memories"]) for page in pages] == [2, 2, 1, 0]
        assert {m["content"] for page in pages for m in page["memories"]} == set(texts)


@pytest.mark.parametrize(
    ("now", "as_of", "means"),
    [
        ("2026-03-01T23:00:00Z", "2026-03-02", "2026-03-01T23:00:00Z"),
        ("2026-03-01T10:00:00.000001Z", "2026-03-02", "2026-03-01T10:00:00.000001Z"),
        ("2026-03-01T10:00:00Z", "2026-03-02", None),
        ("2026-03-01T23:00:00Z", "2026-03-01", "2026-03-01T23:00:00Z"),
        ("2026-03-01T23:00:00Z", "2026-02-28", "2026-02-28T23:59:59.999999Z"),
        ("2026-03-01T23:00:00Z", "2026-03-02T00:00:00Z", None),
        ("2026-03-01T23:00:00Z", "2026-03-02T07:00:00+08:00", "2026-03-01T23:00:00Z"),
        ("2026-03-01T23:00:00Z", "2026-03-03", None),
    ],
)
async def test_a_current_date_in_any_time_zone_means_now(
    person: Person, monkeypatch: pytest.MonkeyPatch, now: str, as_of: str, means: str | None
) -> None:
    monkeypatch.setattr(memories, "clock", SimpleNamespace(now=lambda: datetime.fromisoformat(now)))
    answer = await person.get("/v1/memories", as_of=as_of)
    assert (answer.status_code, answer.json().get("as_of")) == (200 if means else 422, means)


async def test_an_empty_query_lists_everything_then_as_now(person: Person) -> None:
    await person.say("I live in Oslo.", created_at="2026-02-10T09:00:00Z")
    assert len((await list_as_of(person, "2026-02-11", query=""))["memories"]) == 1
    assert len(await person.memories(query="")) == 1


@pytest.mark.parametrize(
    "as_of",
    [
        "yesterday",
        "2026-13-01",
        "",
        "0001-01-01T00:00:00+14:00",
        "2026-03-01T00:00:00Z, please",
        (datetime.now(UTC) + timedelta(days=2)).date().isoformat(),
        "2999-01-01T00:00:00Z",
    ],
)
async def test_an_invalid_or_future_time_is_refused_by_field(person: Person, as_of: str) -> None:
    answer = await person.get("/v1/memories", as_of=as_of)
    assert answer.status_code == 422, answer.text
    assert answer.json()["details"][0]["field"] == "as_of"
    assert answer.json()["message"].startswith("as_of: ")


async def test_a_status_filter_is_refused_for_a_past_time(person: Person) -> None:
    answer = await person.get("/v1/memories", as_of="2026-03-01", status="superseded")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "status")


async def test_another_users_past_is_not_visible(person: Person) -> None:
    await person.say("I live in Oslo.", created_at="2026-02-10T09:00:00Z")
    assert (await list_as_of(person, "2026-02-11"))["count"] == 1
    stranger = Person(person.system, tenant_id=person.tenant_id)
    assert (await list_as_of(stranger, "2026-02-11")) | {"as_of": None} == {"memories": [], "as_of": None, "count": 0}


@pytest.fixture(scope="module")
async def address(system: System) -> AsyncGenerator[str]:
    """The address of compose on a socket."""
    assert system["compose"].service.http
    server = uvicorn.Server(uvicorn.Config(system["compose"].service.http, port=0, lifespan="off", log_level="warning"))
    serving = asyncio.create_task(server.serve())
    await wait_for(lambda: server.started, "a socket")
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


async def smartbrain(address: str, person: Person, *args: str) -> str:
    """The output of the command for this user; it succeeds."""
    whose = ("--user", person.user_id, "--tenant", person.tenant_id)
    run = CliRunner(env={"SMARTBRAIN_URL": address}).invoke
    done = await asyncio.to_thread(run, app, [*args, *whose])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@LANGUAGES
async def test_the_command_line_shows_history_restores_and_shows_the_past(
    person: Person, address: str, text: str, other: str
) -> None:
    await person.say(text, created_at="2026-02-10T09:00:00Z", session="monday")
    (was,) = await person.memories(type="preference")
    await person.say(other, created_at="2026-03-10T09:00:00Z")
    (now,) = await person.memories(type="preference")
    told = await smartbrain(address, person, "memories", "history", was["memory_id"])
    zh = "喜欢" in text
    labels = ("取代", "动作", "会话 monday") if zh else ("superseded by", "what happened", "session monday")
    for part in (*labels, text, other, was["memory_id"], now["memory_id"], "2026-03-10 09:00:00"):
        assert part in told
    other_language = await smartbrain(
        address, person, "memories", "history", was["memory_id"], "--lang", "en" if zh else "zh"
    )
    assert ("what happened" if zh else "动作") in other_language
    as_json = json.loads(await smartbrain(address, person, "memories", "history", was["memory_id"], "--json"))
    assert [m["version"] for m in as_json["memories"]] == [1, 2]
    past = await smartbrain(address, person, "memories", "--ids", "--as-of", "2026-03-01")
    assert was["memory_id"] in past
    assert "as of 2026-03-01T23:59:59Z: 1" in past
    listed = await smartbrain(address, person, "memories", "--ids")
    assert now["memory_id"] in listed
    assert was["memory_id"] not in listed
    found = json.loads(await smartbrain(address, person, "memories", "咖啡" if zh else "coffee", "--json"))
    assert [m["memory_id"] for m in found["memories"]] == [now["memory_id"]]
    assert was["content"] in await smartbrain(address, person, "memories", "restore", was["memory_id"])
    assert await person.contents(type="preference") == [was["content"]]


@pytest.mark.parametrize(
    ("known", "said", "labels"),
    [("简洁", "啰嗦", ("已知", "说的")), ("concise", "wordy", ("known", "said"))],
    ids=["zh", "en"],
)
async def test_the_command_line_shows_and_settles_conflicts(
    person: Person, address: str, known: str, said: str, labels: tuple[str, str]
) -> None:
    conflict = await contradicted(person, known, said)
    told = await smartbrain(address, person, "conflicts")
    for part in (*labels, known, said, conflict["conflict_id"]):
        assert part in told
    settled = await smartbrain(address, person, "conflicts", "settle", conflict["conflict_id"], "--keep", "said")
    assert said in settled
    assert json.loads(await smartbrain(address, person, "conflicts", "--json")) == {"conflicts": []}
