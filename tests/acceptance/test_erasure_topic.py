"""Erasures over the turns topic keep the user's order, are requested once, and drop earlier turns."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import orjson
import pytest
from aiokafka.errors import KafkaError
from prometheus_client import REGISTRY

from schemas.topics import COMPOSE_REPLY, ERASURE_REQUESTED, ERASURE_STATE, TURN_COMMIT
from shared import clock
from shared.client import SmartBrain
from shared.errors import RefusedError
from tests.system.erasures import completed, erase, mine, view
from tests.system.kafka import Stored, behind, caught_up, of_tenant, publish, read
from tests.system.person import Json, Person, user
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

BEFORE = {"zh": ("我对菠萝蜜过敏。", "菠萝蜜"), "en": ("I am allergic to jackfruit.", "jackfruit")}
AFTER = {"zh": ("我喜欢喝乌龙茶。", "乌龙茶"), "en": ("I prefer oolong tea.", "oolong")}


def record(person: Person, body: Json, *, at: datetime | None = None, headers: Json | None = None) -> Stored:
    """The record body, optionally with its own timestamp."""
    key = f"{person.tenant_id}:{person.user_id}".encode()
    told = tuple((name, str(value).encode()) for name, value in (headers or {}).items())
    stamp = round(at.timestamp() * 1000) if at else 0
    return Stored(TURN_COMMIT.name, key=key, value=orjson.dumps(body), headers=told, timestamp=stamp)


async def erasures(person: Person) -> list[Json]:
    """The user's erasures, newest first."""
    return (await person.get("/v1/erasures")).json()["erasures"]


async def the_completed(person: Person) -> Json:
    """The user's only erasure, completed."""
    (one,) = await wait_for(lambda: erasures(person), "the erasure")
    return await completed(person, one)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_earlier_records_are_erased_and_later_ones_are_learnt(person: Person, language: str) -> None:
    (said, thing), (later, word) = BEFORE[language], AFTER[language]
    await publish(
        person.system.bootstrap,
        [
            record(person, person.turn(said)),
            record(person, {**person.whose, "scope": "all"}),
            record(person, person.turn(later)),
        ],
    )
    await the_completed(person)

    async def learnt() -> list[str]:
        return await person.contents()

    contents = await wait_for(learnt, "what stands behind it")
    assert [word in content for content in contents] == [True]
    (gone, kept) = sorted(mine(person, "conversation_events"), key=lambda event: event["event_id"])
    assert gone["content"] is None
    assert word in str(kept["content"])
    assert thing not in str(mine(person, "memory_chunks"))


async def test_the_client_erases_in_commit_order(person: Person) -> None:
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id) as brain:
        said = {"user_id": person.user_id, "session_id": "s1"}
        _, receipt, _ = await asyncio.gather(
            brain.commit(**said, messages=[user("I am allergic to jackfruit.")]),
            brain.erase(user_id=person.user_id, scope="all", requested_by="operator", reason="asked by phone"),
            brain.commit(**said, messages=[user("I prefer oolong tea.")]),
        )
    assert (receipt.scope, receipt.status, receipt.profile) == ("all", "queued", "DEFAULT")
    assert receipt.requested_at <= receipt.estimated_completion <= receipt.deadline_at
    seen = await completed(person, {"tombstone_id": receipt.tombstone_id})
    assert (seen["requested_by"], seen["reason"]) == ("operator", "asked by phone")
    contents = await wait_for(person.contents, "what came behind it")
    assert ["oolong" in content for content in contents] == [True]


async def test_the_client_requests_once_under_one_key(person: Person) -> None:
    await person.say("I prefer green tea.")
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id) as brain:
        asked: dict[str, Any] = {"user_id": person.user_id, "scope": "personal", "idempotency_key": "once"}
        first, second = await brain.erase(**asked), await brain.erase(**asked)
    assert first.tombstone_id == second.tombstone_id
    assert len(await erasures(person)) == 1


@pytest.mark.parametrize(
    ("more", "code", "field"),
    [
        ({"scope": "everything"}, "invalid_request", "scope"),
        ({"scope": "session"}, "invalid_request", "session_ids"),
        ({"scope": "session", "session_ids": ["never"]}, "not_found", "session_ids.0"),
        ({"scope": "items", "memory_ids": ["01a20199-331d-7cc1-890d-118ef5a2a92f"]}, "not_found", "memory_ids.0"),
        ({"scope": "all", "profile": "NONE"}, "invalid_request", "profile"),
        ({"scope": "all", "requested_by": "somebody"}, "invalid_request", "reason"),
    ],
)
async def test_an_invalid_request_is_refused_by_field_and_erases_nothing(
    person: Person, more: dict[str, Any], code: str, field: str
) -> None:
    await person.say("I prefer green tea.")
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id) as brain:
        with pytest.raises(RefusedError) as caught:
            await brain.erase(user_id=person.user_id, **more)
    assert (caught.value.code, [each.field for each in caught.value.details]) == (code, [field])
    asked = {**person.whose, **more}
    told = {"reply_to": COMPOSE_REPLY.name, "correlation_id": uuid4().hex}
    await publish(person.system.bootstrap, [record(person, asked, headers=told)])
    reply = await wait_for_reply(person, told["correlation_id"])
    assert (reply["code"], reply["details"][0]["field"]) == (code, field)
    dead = await of_tenant(person.system.bootstrap, person.tenant_id, TURN_COMMIT.dead_letter)
    assert orjson.dumps(asked) in {each.value for each in dead}
    assert await person.contents()
    assert await erasures(person) == []


async def wait_for_reply(person: Person, correlation_id: str) -> Json:
    """The reply with this id."""

    async def there() -> Json | None:
        for each in await read(person.system.bootstrap, COMPOSE_REPLY.name):
            if dict(each.headers).get("correlation_id") == correlation_id.encode():
                return orjson.loads(each.value or b"")
        return None

    return await wait_for(there, "the reply") or {}


def count_dropped() -> float:
    return REGISTRY.get_sample_value("smartbrain_turns_dropped_by_erasure_total") or 0.0


@pytest.mark.parametrize("scope", ["all", "personal", "session"])
async def test_a_turn_sent_before_an_erasure_and_delivered_after_it_is_dropped(person: Person, scope: str) -> None:
    await person.say("I prefer green tea.", session="s1")
    sent = clock.now()
    named = {"session_ids": ["s1"]} if scope == "session" else {}
    await completed(person, await erase(person, scope, **named))
    before, turns = count_dropped(), len(mine(person, "turns"))
    told = {"reply_to": COMPOSE_REPLY.name, "correlation_id": uuid4().hex}
    late = record(person, person.turn("I am allergic to jackfruit.", session="s1"), at=sent, headers=told)
    await publish(person.system.bootstrap, [late], dated=True)
    reply = await wait_for_reply(person, told["correlation_id"])
    assert (reply["code"], reply["details"][0]["field"]) == ("erased", "user_id")
    assert count_dropped() == before + 1
    assert len(mine(person, "turns")) == turns
    assert await of_tenant(person.system.bootstrap, person.tenant_id, TURN_COMMIT.dead_letter) == []
    assert await person.contents() == []


async def test_an_erasure_of_one_session_drops_no_turn_of_another(person: Person) -> None:
    await person.say("I prefer green tea.", session="s1")
    sent = clock.now()
    await completed(person, await erase(person, "session", session_ids=["s1"]))
    late = record(person, person.turn("I am allergic to jackfruit.", session="s2"), at=sent)
    await publish(person.system.bootstrap, [late], dated=True)
    contents = await wait_for(person.contents, "what was said in the other session")
    assert ["jackfruit" in content for content in contents] == [True]


async def test_a_delayed_request_counts_from_its_sending_time(person: Person) -> None:
    await person.say("I prefer green tea.")
    sent = clock.now() - timedelta(hours=3)
    await publish(person.system.bootstrap, [record(person, {**person.whose, "scope": "all"}, at=sent)], dated=True)
    seen = await the_completed(person)
    assert abs(datetime.fromisoformat(seen["requested_at"]) - sent) < timedelta(seconds=1)
    assert datetime.fromisoformat(seen["history"][0]["at"]) - sent > timedelta(hours=2)


async def test_a_request_with_a_clock_that_is_fast_counts_from_now(person: Person) -> None:
    await person.say("I prefer green tea.")
    # a broker refuses records from more than an hour ahead
    ahead = clock.now() + timedelta(minutes=50)
    await publish(person.system.bootstrap, [record(person, {**person.whose, "scope": "all"}, at=ahead)], dated=True)
    seen = await the_completed(person)
    assert datetime.fromisoformat(seen["requested_at"]) < ahead - timedelta(minutes=30)


async def test_a_package_that_was_just_answered_is_covered(person: Person) -> None:
    await person.say("I prefer green tea. 我住在杭州。")
    await person.compose("我喜欢喝什么？ What do I drink?")
    await publish(person.system.bootstrap, [record(person, {**person.whose, "scope": "all"})])
    assert (await the_completed(person))["proof"]["stores"]["receipts"] == 2


async def test_a_redelivered_record_requests_once(person: Person) -> None:
    system = person.system

    async def refuse(*_: Any, **__: Any) -> None:
        raise KafkaError("compose died before it acknowledged")

    for _, topic, subscriber in system["compose"].rt.bus._subscribers:
        if topic == TURN_COMMIT.name:
            subscriber.consumer.commit = refuse
    records = [
        record(person, person.turn("I am allergic to jackfruit.")),
        record(person, {**person.whose, "scope": "all"}),
        record(person, person.turn("I prefer oolong tea.")),
    ]
    await publish(system.bootstrap, records)
    first = await the_completed(person)
    await wait_for(person.contents, "what stands behind it")
    assert await behind(system.bootstrap, [TURN_COMMIT.name])
    await system.stop("compose")
    await system.start("compose")
    await caught_up(system.bootstrap)
    assert [each["tombstone_id"] for each in await erasures(person)] == [first["tombstone_id"]]
    assert (await view(person, first))["history"] == first["history"]
    assert len(mine(person, "turns")) == 2
    assert ["oolong" in content for content in await person.contents()] == [True]


async def test_request_and_states_are_published_without_user_text(person: Person) -> None:
    await person.say("I am allergic to jackfruit.")
    done = await completed(person, await erase(person, "all"))

    async def told() -> list[Stored]:
        found = await of_tenant(person.system.bootstrap, person.tenant_id, ERASURE_REQUESTED.name, ERASURE_STATE.name)
        return found if len(found) == len(done["history"]) else []

    records = await wait_for(told, "all events of the erasure")
    states = [each.envelope.payload for each in records if each.topic == ERASURE_STATE.name]
    passed = [(each["from"], each["to"]) for each in states]
    assert passed == [(each["from"], each["to"]) for each in done["history"][1:]]
    assert all(b"jackfruit" not in (each.value or b"") for each in records)
