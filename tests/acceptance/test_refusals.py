"""Invalid input is refused by field on every interface and leaves nothing behind."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import orjson
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, TURN_COMMIT
from schemas.turn_events import MAX_BODY_BYTES
from shared.bus.access import KafkaAccess
from shared.bus.requests import Asker
from shared.client import SmartBrain
from shared.errors import RefusedError
from tests.system.kafka import read
from tests.system.person import Person, somebody, user
from tests.system.running import System
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

SAID = {"session_id": "s", "messages": [user("I like tea.")]}
ASKED = {"session_id": "s", "user_message": "What do I like?"}
PLAN = {"version": "0.1", "queries": [{"text": "tea", "mode": "hybrid"}]}
LONG = "x" * 129
HUGE = 99999999999999999999

FAULTS: list[tuple[str, str, Any, str]] = [
    ("POST", "/v1/turns", {**SAID, "session_id": ""}, "session_id"),
    ("POST", "/v1/turns", {**SAID, "session_id": 7}, "session_id"),
    ("POST", "/v1/turns", {**SAID, "user_id": LONG}, "user_id"),
    ("POST", "/v1/turns", {**SAID, "user_id": None}, "user_id"),
    ("POST", "/v1/turns", {**SAID, "tenant_id": ["t"]}, "tenant_id"),
    ("POST", "/v1/turns", {**SAID, "messages": []}, "body"),
    ("POST", "/v1/turns", {**SAID, "messages": "hello"}, "messages"),
    ("POST", "/v1/turns", {**SAID, "messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
    ("POST", "/v1/turns", {**SAID, "messages": [{"role": "user"}]}, "messages.0.content"),
    ("POST", "/v1/turns", {**SAID, "messages": [user("a\x00b")]}, "messages.0.content"),
    ("POST", "/v1/turns", {**SAID, "messages": [user("x" * 200_001)]}, "messages.0.content"),
    ("POST", "/v1/turns", {**SAID, "messages": [user("x")] * 65}, "messages"),
    ("POST", "/v1/turns", {**SAID, "created_at": "yesterday"}, "created_at"),
    ("POST", "/v1/turns", {**SAID, "tool_calls": [{"name": ""}]}, "tool_calls.0.name"),
    ("POST", "/v1/turns", {**SAID, "tool_calls": [{"name": "t", "status": "perhaps"}]}, "tool_calls.0.status"),
    ("POST", "/v1/turns", {**SAID, "refs": [{"ref_type": "moon", "ref_uri": "m"}]}, "refs.0.ref_type"),
    ("POST", "/v1/turns", {**SAID, "tool_calls": [{"name": "t", "args": {"a": "\x00"}}]}, "tool_calls.0.args"),
    ("POST", "/v1/turns", {**SAID, "items": [{"type": "note", "value": {"a\x00": 1}}]}, "items.0.value"),
    ("POST", "/v1/turns", {**SAID, "items": [{"type": "wish", "text": "x"}]}, "items.0.type"),
    ("POST", "/v1/turns", {**SAID, "items": [{"type": "note"}]}, "items.0"),
    ("POST", "/v1/turns", {**SAID, "items": [{"type": "note", "text": "x", "confidence": 2}]}, "items.0.confidence"),
    ("POST", "/v1/turns", {**SAID, "idempotency_key": LONG}, "idempotency_key"),
    ("POST", "/v1/turns", {**SAID, "context_id": "7"}, "context_id"),
    ("POST", "/v1/context", {**ASKED, "user_message": ""}, "user_message.content"),
    ("POST", "/v1/context", {**ASKED, "user_message": 5}, "user_message"),
    ("POST", "/v1/context", {"session_id": "s"}, "user_message"),
    ("POST", "/v1/context", {**ASKED, "deadline_ms": 0}, "deadline_ms"),
    ("POST", "/v1/context", {**ASKED, "deadline_ms": "soon"}, "deadline_ms"),
    ("POST", "/v1/context", {**ASKED, "token_limit": 1}, "token_limit"),
    ("POST", "/v1/context", {**ASKED, "budget_profile": "9k"}, "budget_profile"),
    ("POST", "/v1/retrieve", {**PLAN, "queries": []}, "queries"),
    ("POST", "/v1/retrieve", {**PLAN, "queries": [{"text": "tea", "mode": "magic"}]}, "queries.0.mode"),
    ("POST", "/v1/memories", {"text": ""}, "text"),
    ("POST", "/v1/memories", {"text": "x" * 4001}, "text"),
    ("POST", "/v1/memories", {"text": "a\x00b"}, "text"),
    ("POST", "/v1/memories", {}, "text"),
    ("POST", "/v1/memories", {"text": "我的密码是 Tulip7342moon"}, "text"),
    ("GET", "/v1/memories", {"user_id": LONG}, "user_id"),
    ("GET", "/v1/memories", {"limit": 0}, "limit"),
    ("GET", "/v1/memories", {"limit": "many"}, "limit"),
    ("GET", "/v1/memories", {"offset": -1}, "offset"),
    ("GET", "/v1/memories", {"offset": HUGE}, "offset"),
    ("GET", "/v1/memories", {"offset": HUGE, "as_of": "2026-03-01"}, "offset"),
    ("GET", "/v1/memories", {"offset": HUGE, "query": "tea"}, "offset"),
    ("GET", "/v1/conflicts", {"offset": HUGE}, "offset"),
    ("GET", "/v1/sessions", {"offset": HUGE}, "offset"),
    ("GET", "/v1/memories", {"type": "\x00"}, "type"),
    ("GET", "/v1/memories", {"type": "a\x00", "as_of": "2026-03-01"}, "type"),
    ("GET", "/v1/memories", {"status": "lost"}, "status"),
    ("GET", "/v1/memories", {"status": "retracted", "query": "tea"}, "status"),
    ("GET", "/v1/memories", {"type": "wish"}, "type"),
    ("GET", "/v1/memories", {"type": "preference,task"}, "type"),
    ("GET", "/v1/memories", {"memory_type": "preference"}, "memory_type"),
    ("GET", "/v1/memories", {"limt": 5}, "limt"),
    ("GET", "/v1/memories", {"limit": [5, 6]}, "limit"),
    ("GET", "/v1/memories", {"user_id": ["a", "b"]}, "user_id"),
    ("GET", "/v1/memories", {"user_id": " a"}, "user_id"),
    ("GET", "/v1/sessions", {"state": "open"}, "state"),
    ("GET", "/v1/sessions", {"user_id": "a\t"}, "user_id"),
    ("GET", "/v1/sessions/%20s", {}, "session_id"),
    ("GET", "/v1/conflicts", {"state": "lost"}, "state"),
    ("GET", "/v1/promotions", {"status": "lost"}, "status"),
    ("GET", "/v1/media/m%0A", {}, "media_id"),
    ("POST", "/v1/turns?dry_run=1", SAID, "dry_run"),
    ("POST", "/v1/turns", {**SAID, "user_id": " alice"}, "user_id"),
    ("POST", "/v1/turns", {**SAID, "session_id": "s\n"}, "session_id"),
    ("POST", "/v1/turns", {**SAID, "end_session": 1}, "end_session"),
    ("POST", "/v1/turns", {**SAID, "created_at": 0}, "created_at"),
    ("POST", "/v1/turns", {**SAID, "tool_calls": [{"name": "t", "created_at": "0"}]}, "tool_calls.0.created_at"),
    ("POST", "/v1/context", {**ASKED, "deadline_ms": "5"}, "deadline_ms"),
    ("POST", "/v1/context", {**ASKED, "user_message": "a\x00"}, "user_message.content"),
    ("POST", "/v1/context", {**ASKED, "token_limit": 900, "token_budget": 900}, "token_budget"),
    ("POST", "/v1/context", {**ASKED, "user_id": "alice "}, "user_id"),
    ("POST", "/v1/retrieve", {**PLAN, "tenant_id": "acme\x7f"}, "tenant_id"),
    ("POST", "/v1/retrieve", {**PLAN, "queries": [{"text": "tea\x00"}]}, "queries.0.text"),
    ("POST", "/v1/memories", {"text": "tea", "session_id": "\u3000s"}, "session_id"),
    ("POST", "/v1/erasures", {"scope": "all", "user_id": " a"}, "user_id"),
    ("POST", "/v1/erasures", {"scope": "all", "reason": "\x00"}, "reason"),
    ("POST", "/v1/erasures", {"scope": "items", "memory_ids": [], "item_ids": []}, "item_ids"),
    ("GET", "/v1/memories/seven", {}, "memory_id"),
    ("GET", "/v1/memories/seven/history", {}, "memory_id"),
    ("DELETE", "/v1/memories/seven", {}, "memory_id"),
    ("GET", "/v1/turns/seven", {}, "turn_id"),
    ("GET", "/v1/turns/seven/outcome", {}, "turn_id"),
    ("GET", "/v1/sessions/%00", {}, "session_id"),
    ("GET", f"/v1/sessions/{LONG}", {}, "session_id"),
    ("GET", "/v1/sessions/a%00/summary", {}, "session_id"),
    ("DELETE", "/v1/sessions/a%00/summary", {}, "session_id"),
    ("GET", "/v1/sessions/s/summary", {"user_id": ""}, "user_id"),
    ("DELETE", "/v1/sessions/s/summary", {"tenant_id": LONG}, "tenant_id"),
]


@pytest.mark.parametrize(("method", "path", "given", "field"), FAULTS)
async def test_an_invalid_value_is_refused_by_field(
    system: System, person: Person, method: str, path: str, given: Any, field: str
) -> None:
    whole = {**person.whose, **given}
    sent = {"content": orjson.dumps(whole)} if method == "POST" else {"params": whole}
    answer = await system.http.request(method, path, **sent, headers={"x-request-id": person.user_id})
    refusal = answer.json()
    assert answer.status_code == 422, answer.text
    assert field in [problem["field"] for problem in refusal["details"]], refusal
    assert refusal["code"]
    assert refusal["message"]
    assert refusal["request_id"] == answer.headers["x-request-id"] == person.user_id
    assert system.number("SELECT count(*) FROM turns WHERE tenant_id = %(t)s", t=person.tenant_id) == 0


@pytest.mark.parametrize(("given", "field"), [({"text": "a\x00b"}, "text"), ({"value": {"of": ["\x00"]}}, "value")])
async def test_an_edit_that_cannot_be_stored_is_refused(person: Person, given: Any, field: str) -> None:
    await person.say("I like tea.")
    (known,) = await person.memories()
    path = f"/v1/memories/{known['memory_id']}"
    answer = await person.system.http.patch(path, params=person.whose, json=given)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, field), answer.text


@pytest.mark.parametrize(
    ("method", "path", "field"),
    [
        ("GET", "/v1/memories/{}", "memory_id"),
        ("GET", "/v1/memories/{}/history", "memory_id"),
        ("DELETE", "/v1/memories/{}", "memory_id"),
        ("GET", "/v1/turns/{}", "turn_id"),
        ("GET", "/v1/turns/{}/outcome", "turn_id"),
        ("GET", "/v1/sessions/{}", "session_id"),
        ("GET", "/v1/sessions/team/{}", "session_id"),
        ("GET", "/v1/sessions/{}/summary", "session_id"),
        ("GET", "/v1/sessions/team/{}/summary", "session_id"),
        ("POST", "/v1/sessions/team/{}/archive", "session_id"),
    ],
)
async def test_objects_that_the_user_does_not_have_are_not_found(
    system: System, person: Person, method: str, path: str, field: str
) -> None:
    answer = await system.http.request(method, path.format(uuid4()), params=person.whose)
    assert answer.status_code == 404, answer.text
    assert (answer.json()["code"], answer.json()["details"][0]["field"]) == ("not_found", field)


@pytest.mark.parametrize("path", ["%00", LONG, "a/%00"])
async def test_an_invalid_id_ends_no_session(system: System, person: Person, path: str) -> None:
    answer = await system.http.post(f"/v1/sessions/{path}/archive", params=person.whose)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "session_id"), answer.text


@pytest.mark.parametrize("given", [{"query": "\x00"}, {"query": "\x00", "as_of": "2026-03-01"}])
async def test_a_query_without_results_is_an_empty_page(person: Person, given: dict[str, str]) -> None:
    assert (await person.get("/v1/memories", **given)).json()["memories"] == []


async def test_a_turn_of_another_user_is_not_found(system: System, person: Person) -> None:
    turn = (await person.commit("I like tea."))["turn_id"]
    other = Person(system, tenant_id=person.tenant_id)
    assert (await other.get(f"/v1/turns/{turn}")).status_code == 404
    assert (await other.get(f"/v1/turns/{turn}/outcome")).status_code == 404


@pytest.mark.parametrize("path", ["/v1/turns", "/v1/context", "/v1/retrieve", "/v1/memories"])
@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 422), (b"{", 422), (b"[]", 422), (b"null", 422), (b"\xff", 422), (b" " * (MAX_BODY_BYTES + 1), 413)],
)
async def test_a_body_that_is_no_object_or_too_large_is_refused(
    system: System, path: str, body: bytes, status: int
) -> None:
    answer = await system.http.post(path, content=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["details"][0]["field"] == "body"


async def test_unknown_fields_are_ignored_and_reported(person: Person) -> None:
    body = {**person.turn("I like tea."), "mood": "fine", "messages": [{**user("I like tea."), "font": "serif"}]}
    assert (await person.post("/v1/turns", body)).json()["ignored_fields"] == ["messages[0].font", "mood"]
    package = await person.compose("What do I like?", wind="north")
    assert package.debug
    assert package.debug.explain.ignored_fields == ["wind"]


@pytest.fixture(scope="module")
async def asker(system: System) -> AsyncGenerator[Asker]:
    """A client that sends arbitrary bytes."""
    asking = Asker(KafkaAccess(system.bootstrap))
    await asking.start()
    yield asking
    await asking.stop()


KAFKA_FAULTS: list[tuple[Any, str, str]] = [
    (b"{", "malformed_json", "body"),
    (b"", "malformed_json", "body"),
    (b"\xff\x00", "malformed_json", "body"),
    (b"[]", "invalid_request", "body"),
    ({"session_id": "s", "messages": [user("x")]}, "invalid_request", "user_id"),
    ({"user_id": " alice", "session_id": "s", "messages": [user("x")]}, "invalid_request", "user_id"),
    ({"user_id": "u", "session_id": "s\t", "messages": [user("x")]}, "invalid_request", "session_id"),
    ({"user_id": "u", "session_id": "s", "messages": [user(" ")]}, "invalid_request", "messages.0.content"),
    ({"user_id": "u", "session_id": "s", "messages": "x"}, "invalid_request", "messages"),
    ({"user_id": "u", "session_id": "s"}, "invalid_request", "body"),
    ({"user_id": "u", "session_id": "s", "messages": [user("a\x00b")]}, "invalid_request", "messages.0.content"),
]


@pytest.mark.parametrize(("given", "code", "field"), KAFKA_FAULTS)
async def test_an_invalid_turn_over_kafka_gets_an_error_and_becomes_a_dead_letter(
    system: System, asker: Asker, given: Any, code: str, field: str
) -> None:
    key = somebody()
    value = given if isinstance(given, bytes) else orjson.dumps({"tenant_id": key, **given})
    before = system.number("SELECT count(*) FROM turns")
    reply = orjson.loads(await asker.ask(TURN_COMMIT, value, key=key, timeout_s=60))
    assert (reply["code"], reply["details"][0]["field"]) == (code, field)
    (dead,) = [r for r in await read(system.bootstrap, TURN_COMMIT.dead_letter) if r.key == key.encode()]
    assert (dead.value or b"") == value
    assert dict(dead.headers)["x-error"].decode().startswith(code)
    assert system.number("SELECT count(*) FROM turns") == before
    for table in ("turns", "sessions", "conversation_events"):
        assert system.number(f"SELECT count(*) FROM {table} WHERE tenant_id = %(t)s", t=key) == 0  # noqa: S608
    assert system.number("SELECT count(*) FROM event_outbox WHERE aggregateid LIKE %(t)s", t=f"{key}:%") == 0


async def test_a_key_already_used_for_another_turn_is_refused_over_kafka(system: System, person: Person) -> None:
    async with SmartBrain(system.bootstrap, tenant_id=person.tenant_id) as brain:
        said = {"user_id": person.user_id, "session_id": "s", "idempotency_key": "k"}
        first = await brain.commit(messages=[user("I like tea.")], **said)
        assert (await brain.commit(messages=[user("I like tea.")], **said)) == first
        with pytest.raises(RefusedError) as caught:
            await brain.commit(messages=[user("I like rum.")], **said)
    assert caught.value.code == "idempotency_conflict"
    assert [p.field for p in caught.value.details] == ["idempotency_key"]


async def test_valid_turns_behind_an_invalid_one_in_the_same_partition_are_committed(
    system: System, asker: Asker
) -> None:
    key = somebody()
    good = orjson.dumps({"tenant_id": key, "user_id": "u", **SAID})
    replies = await asyncio.gather(
        *(asker.ask(TURN_COMMIT, v, key=key, timeout_s=60) for v in (b"{", good, b"[]", good))
    )
    assert ["code" in orjson.loads(reply) for reply in replies] == [True, False, True, False]
    assert system.number("SELECT count(*) FROM turns WHERE tenant_id = %(t)s", t=key) == 2


@asynccontextmanager
async def open_producer(system: System, **options: Any) -> AsyncGenerator[AIOKafkaProducer]:
    """A plain producer."""
    producer = AIOKafkaProducer(bootstrap_servers=system.bootstrap, **options)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def test_an_oversized_turn_becomes_a_dead_letter_and_blocks_nobody(system: System, person: Person) -> None:
    key = f"{person.tenant_id}:{person.user_id}".encode()
    large = orjson.dumps(person.turn(*["字" * 100_000] * 4))
    assert len(large) > MAX_BODY_BYTES
    async with open_producer(system, compression_type="gzip", max_request_size=4 << 20) as producer:
        await producer.send_and_wait(TURN_COMMIT.name, large, key=key)
        await producer.send_and_wait(TURN_COMMIT.name, orjson.dumps(person.turn("I like tea.")), key=key)
    assert await wait_for(person.contents, "the turn behind it")

    async def buried() -> list[str]:
        found = await read(system.bootstrap, TURN_COMMIT.dead_letter)
        return [dict(r.headers)["x-error"].decode() for r in found if r.key == key]

    (reason,) = await wait_for(buried, "the dead letter")
    assert reason.startswith("too_large")
    assert system.number("SELECT count(*) FROM turns WHERE tenant_id = %(t)s", t=person.tenant_id) == 1


@pytest.mark.parametrize(
    "odd",
    [
        [("reply_to", b"no.such.topic")],
        [("reply_to", b"no topic's name!")],
        [("reply_to", b"\xff")],
        [("reply_to", COMPOSE_REPLY.name.encode()), ("reply_partition", b"4096")],
        [("reply_partition", b"-5"), ("deadline_ms", b"later"), ("x", b"\xff"), ("correlation_id", b"\xff")],
    ],
)
async def test_an_undeliverable_reply_delays_nobody(
    system: System, person: Person, odd: list[tuple[str, bytes]]
) -> None:
    key = person.user_id.encode()
    async with open_producer(system) as producer:
        await producer.send_and_wait(TURN_COMMIT.name, orjson.dumps(person.turn("I like tea.")), key=key, headers=odd)
        await producer.send_and_wait(TURN_COMMIT.name, orjson.dumps(person.turn("I live in Oslo.")), key=key)

    async def both() -> bool:
        return len(await person.contents()) == 2

    await wait_for(both, "both turns are learnt")


async def test_a_request_past_its_deadline_is_not_answered(system: System, person: Person) -> None:
    consumer = AIOKafkaConsumer(COMPOSE_REPLY.name, bootstrap_servers=system.bootstrap, auto_offset_reset="latest")
    await consumer.start()
    for partition in consumer.assignment():
        await consumer.position(partition)
    body = orjson.dumps({**person.whose, **ASKED})
    async with open_producer(system) as producer:
        for name, deadline in (("late", b"1"), (person.user_id, b"99999999999999")):
            headers = [("correlation_id", name.encode()), ("deadline_ms", deadline)]
            await producer.send_and_wait(COMPOSE_REQUEST.name, body, key=b"same", headers=headers)
    answer = await asyncio.wait_for(consumer.getone(), 60)
    assert dict(answer.headers)["correlation_id"] == person.user_id.encode()
    await consumer.stop()
