"""Signed records on Kafka: the signature identifies the sender, who may do only what the key permits."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from schemas.compose import ComposeRequest
from schemas.erasure import ErasureRequest
from schemas.topics import COMPOSE_REPLY, TOPICS, TURN_COMMIT, Topic
from schemas.turn_events import TurnEvents
from schemas.vocabulary import AccessScope
from shared import clock
from shared.access.secrets import KeyText, hash_secret, make_key_id, make_secret
from shared.client import SmartBrain
from shared.db import Database
from shared.domain.signatures import HOUSE, SentRecord, sign
from shared.domain.subjects import SCOPES
from shared.errors import RefusedError
from shared.store import api_keys, outbox
from tests.system.databases import Databases
from tests.system.kafka import Stored, publish, read
from tests.system.keys import add_key, with_key
from tests.system.person import Person, somebody
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

BODIES: Mapping[type[BaseModel], dict[str, Any]] = {
    TurnEvents: {"session_id": "s1", "messages": [{"role": "user", "content": "I live in Lund."}]},
    ErasureRequest: {"scope": "all"},
    ComposeRequest: {"session_id": "s2", "user_message": "Where do I live?"},
}
"""A client's record of each class, with its owner."""
INBOUND = [(topic, message) for topic in TOPICS if topic.inbound for message in topic.carries]
ON_EACH = pytest.mark.parametrize(
    ("topic", "message"), INBOUND, ids=lambda each: each.__name__ if isinstance(each, type) else ""
)
FAULTS = {
    "unsigned": "unauthenticated: signature: is missing",
    "forged": "unauthenticated: signature: the key is not known",
    "altered": "unauthenticated: signature: the key is not known",
    "unknown": "unauthenticated: signature: the key is not known",
    "house": "unauthenticated: signature: is not a signature of SmartBrain's own services",
    "timeless": "unauthenticated: signed_ms: is missing",
    "revoked": "unauthenticated: signature: the key was revoked",
    "ended": "unauthenticated: signature: the key expired on",
    "tenant": "forbidden: tenant_id: is not the tenant of the key",
    "user": "forbidden: user_id: is not the user of the key",
    "scope": "forbidden: scope: this needs",
}
"""The fault of a record, and the beginning of the reason in its dead letter."""
BURST = 5
QUESTIONS_A_MINUTE = {"user_per_s": 1 / 60, "user_burst": BURST}
COUNT = "SELECT count(*) FROM turns WHERE user_id = %(u)s"
ERASURES = "SELECT count(*) FROM tombstones WHERE user_id = %(u)s"


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database that contains a key."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), limits=QUESTIONS_A_MINUTE)
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        await add_key(all_services["compose"].rt.db, somebody())
        yield all_services


@pytest.fixture
def person(system: System) -> Person:
    """A user of this system."""
    return Person(system)


def database(system: System) -> Database:
    return system["compose"].rt.db


def make_record(topic: Topic, message: type[BaseModel], person: Person, **more: Any) -> Stored:
    """A record with an id by which its answer and dead letter are found; unsigned."""
    key = somebody().encode()
    value = orjson.dumps({**person.whose, **BODIES[message], **more})
    return Stored(topic.name, key=key, value=value, headers=[("correlation_id", key), ("reply_to", REPLIES)])


REPLIES = COMPOSE_REPLY.name.encode()


def sign_record(record: Stored, key: KeyText, *, at_ms: int | None = None) -> Stored:
    """The record as the holder of the key sends it."""
    sent = SentRecord(record.topic, record.key, record.value, dict(record.headers))
    now_ms = int(clock.now().timestamp() * 1000)
    made = sign(sent, key.key_id, hash_secret(key.secret), now_ms if at_ms is None else at_ms)
    return replace(record, headers=tuple(made.items()))


async def spoil(fault: str, topic: Topic, message: type[BaseModel], person: Person) -> Stored:
    """A record with this fault that is otherwise valid."""
    db, bare = database(person.system), make_record(topic, message, person)
    scope = topic.scope_of(message)
    others: list[AccessScope] = [each for each in SCOPES if each not in (scope, "admin")]
    grants: dict[str, dict[str, Any]] = {
        "ended": {"days": -1},
        "tenant": {"tenant_id": somebody()},
        "user": {"user": somebody()},
        "scope": {"scopes": others},
    }
    key = await add_key(db, **{"tenant_id": person.tenant_id, **grants.get(fault, {})})
    match fault:
        case "unsigned":
            return bare
        case "forged":
            return sign_record(bare, replace(key, secret=make_secret()))
        case "altered":
            return replace(sign_record(bare, key), value=(bare.value or b"") + b" ")
        case "unknown":
            return sign_record(bare, KeyText(make_key_id(), make_secret()))
        case "house":
            return sign_record(bare, KeyText(HOUSE, make_secret()))
        case "timeless":
            headers = [each for each in sign_record(bare, key).headers if each[0] != "signed_ms"]
            return replace(bare, headers=headers)
        case "revoked":
            async with db.system() as conn:
                await api_keys.revoke(conn, key.key_id)
            return sign_record(bare, key)
        case _:
            return sign_record(bare, key)


@dataclass(frozen=True)
class Refused:
    """A user in whose name all faulty records were sent; by record key, the reason and the answer."""

    person: Person
    records: dict[tuple[str, str], bytes]
    reasons: dict[bytes, str]
    answers: dict[bytes, dict[str, Any]]


async def find_reasons(system: System, *topics: Topic) -> dict[bytes, str]:
    letters = await read(system.bootstrap, *(topic.dead_letter for topic in topics))
    return {each.key or b"": dict(each.headers)["x-error"].decode() for each in letters}


async def find_answers(system: System) -> dict[bytes, dict[str, Any]]:
    replies = await read(system.bootstrap, COMPOSE_REPLY.name)
    return {dict(each.headers)["correlation_id"]: orjson.loads(each.value or b"{}") for each in replies}


@pytest.fixture(scope="module")
async def refused(system: System) -> Refused:
    """Every fault for every class of every topic that clients write, sent at once."""
    person, records = Person(system), dict[tuple[str, str], Stored]()
    for topic, message in INBOUND:
        for fault in FAULTS:
            records[fault, message.__name__] = await spoil(fault, topic, message, person)
    await publish(system.bootstrap, records.values())
    keys = {each.key or b"" for each in records.values()}
    topics = {topic for topic, _ in INBOUND}

    async def all_dead() -> bool:
        reasons, answers = await find_reasons(system, *topics), await find_answers(system)
        return keys <= reasons.keys() and keys <= answers.keys()

    await wait_for(all_dead, "every dead letter and every answer")
    reasons, answers = await find_reasons(system, *topics), await find_answers(system)
    return Refused(person, {what: each.key or b"" for what, each in records.items()}, reasons, answers)


@ON_EACH
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_forbidden_record_becomes_a_dead_letter_with_its_reason_and_is_answered(
    refused: Refused, topic: Topic, message: type[BaseModel], fault: str
) -> None:
    key = refused.records[fault, message.__name__]
    assert refused.reasons[key].startswith(FAULTS[fault])
    assert f"{refused.answers[key]['code']}: {refused.answers[key]['message']}" == refused.reasons[key]
    assert topic.scope_of(message) in refused.reasons[key] or fault != "scope"


async def test_a_forbidden_record_has_no_effect(refused: Refused) -> None:
    assert (refused.person.number(COUNT), refused.person.number(ERASURES)) == (0, 0)


def test_every_class_of_every_topic_that_clients_write_has_a_case() -> None:
    assert {message for _, message in INBOUND} == set(BODIES)
    assert all(len(topic.needs) == (len(topic.carries) if topic.inbound else 0) for topic in TOPICS)


async def test_a_client_with_a_key_commits_composes_and_erases(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await add_key(database(person.system), person.tenant_id, scopes=("read", "write", "erase"))
    monkeypatch.setenv("SMARTBRAIN_API_KEY", str(key))
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id) as brain:
        done = await brain.commit(user_id=person.user_id, timeout_s=60, **BODIES[TurnEvents])
        package = await brain.compose(
            user_id=person.user_id, deadline_ms=20_000, timeout_s=60, **BODIES[ComposeRequest]
        )
        receipt = await brain.erase(user_id=person.user_id, scope="all", reason="a test", timeout_s=60)
        assert all((done.turn_id, package.context_id, receipt.tombstone_id))
        async with database(person.system).system() as conn:
            await api_keys.revoke(conn, key.key_id)
        with pytest.raises(RefusedError, match="revoked"):
            await brain.commit(user_id=person.user_id, timeout_s=60, **BODIES[TurnEvents])
        with pytest.raises(RefusedError, match="revoked"):
            await brain.compose(user_id=person.user_id, timeout_s=60, **BODIES[ComposeRequest])


async def test_a_record_without_a_tenant_belongs_to_the_tenant_that_an_erasure_searches(system: System) -> None:
    key = await add_key(database(system), somebody())
    async with SmartBrain(system.bootstrap, api_key=str(key)) as brain:
        with pytest.raises(RefusedError, match="tenant_id: is not the tenant of the key"):
            await brain.commit(user_id="lin", timeout_s=60, **BODIES[TurnEvents])


async def send(system: System, record: Stored) -> dict[str, Any]:
    """The answer to a record, regardless of earlier answers."""
    correlation = dict(record.headers)["correlation_id"]

    async def find_all() -> list[Stored]:
        replies = await read(system.bootstrap, COMPOSE_REPLY.name)
        return [each for each in replies if dict(each.headers)["correlation_id"] == correlation]

    before = len(await find_all())
    await publish(system.bootstrap, [record], dated=record.timestamp != 0)

    async def find_new() -> list[Stored]:
        return (await find_all())[before:]

    return orjson.loads((await wait_for(find_new, "the answer"))[0].value or b"")


async def test_a_signed_turn_sent_again_is_the_same_turn_with_the_time_of_its_signature(person: Person) -> None:
    system, key = person.system, await add_key(database(person.system), person.tenant_id)
    record, kept_back = (sign_record(make_record(TURN_COMMIT, TurnEvents, person), key) for _ in range(2))
    first = await send(system, record)
    assert (await send(system, record))["turn_id"] == first["turn_id"]
    assert person.number(COUNT) == 1
    erased = make_record(TURN_COMMIT, ErasureRequest, person, reason="a test")
    assert (await send(system, sign_record(erased, key)))["tombstone_id"]
    dated = replace(kept_back, timestamp=int(clock.now().timestamp() * 1000) + 3_600_000)
    assert [(await send(system, each))["code"] for each in (kept_back, dated)] == ["erased", "erased"]
    assert person.number(COUNT) <= 1


async def test_records_of_services_are_signed(person: Person) -> None:
    asked = TurnEvents.model_validate(
        {**person.whose, **BODIES[TurnEvents], "idempotency_key": somebody(), "version": "0.1"}
    )
    async with database(person.system).system() as conn:
        assert await outbox.ask(conn, [asked]) == 1
    database(person.system).wake()
    await wait_for(lambda: person.number(COUNT), "the turn is committed")


async def only_letter(person: Person) -> dict[str, Any]:
    """The only open dead letter of the user."""
    headers = with_key(await add_key(database(person.system), person.tenant_id))

    async def found() -> dict[str, Any] | None:
        whose = {**person.whose, "state": "open"}
        answer = await person.system.http.get("/v1/dead-letters", params=whose, headers=headers)
        return next(iter(answer.json()["letters"]), None)

    return {"headers": headers, **(await wait_for(found, "the dead letter") or {})}


async def redrive(person: Person, letter: dict[str, Any], **more: Any) -> dict[str, Any]:
    where = f"/v1/dead-letters/{letter['letter_id']}/redrive"
    asked = {"params": person.whose, "headers": letter["headers"], "json": {"reason": "a test", **more}}
    return (await person.system.http.post(where, **asked)).json()


async def test_a_letter_refused_for_its_key_is_redriven_only_if_an_operator_vouches(person: Person) -> None:
    await publish(person.system.bootstrap, [make_record(TURN_COMMIT, TurnEvents, person)])
    letter = await only_letter(person)
    assert "vouched" in (told := await redrive(person, letter))["message"]
    assert told["code"] == "redrive_returns"
    assert (await redrive(person, letter, vouched=True))["fresh"] is True
    await wait_for(lambda: person.number(COUNT) == 1, "the turn is committed")


@pytest.mark.parametrize(("message", "lacking"), [(TurnEvents, "write"), (ErasureRequest, "erase")])
async def test_a_vouching_operator_needs_the_scope_of_the_letter(
    person: Person, message: type[BaseModel], lacking: AccessScope
) -> None:
    await publish(person.system.bootstrap, [make_record(TURN_COMMIT, message, person)])
    letter, scopes = await only_letter(person), set(SCOPES) - {lacking, "admin"}
    letter["headers"] = with_key(await add_key(database(person.system), person.tenant_id, scopes=scopes))
    told = await redrive(person, letter, vouched=True)
    assert (told["code"], told["details"][0]["field"]) == ("forbidden", "scope")
    assert lacking in told["message"]
    assert (person.number(COUNT), person.number(ERASURES)) == (0, 0)


@pytest.mark.parametrize("is_signed", [True, False])
async def test_a_letter_that_claims_a_later_failure_is_checked_again(person: Person, *, is_signed: bool) -> None:
    key = await add_key(database(person.system), person.tenant_id)
    record = make_record(TURN_COMMIT, TurnEvents, person)
    headers = [*(sign_record(record, key) if is_signed else record).headers, ("x-error", b"ZeroDivisionError")]
    await publish(person.system.bootstrap, [replace(record, topic=TURN_COMMIT.dead_letter, headers=headers)])
    assert (await redrive(person, await only_letter(person)))["fresh"] is True
    if is_signed:
        await wait_for(lambda: person.number(COUNT) == 1, "the turn is committed")
    else:
        assert "is missing" in (await only_letter(person))["error"]
        assert person.number(COUNT) == 0


async def test_requests_are_rate_limited_as_over_http_and_turns_are_not(person: Person) -> None:
    key = await add_key(database(person.system), person.tenant_id)
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id, api_key=str(key)) as brain:
        for _ in range(BURST + 1):
            await brain.commit(user_id=person.user_id, timeout_s=60, **BODIES[TurnEvents])
        asked: dict[str, Any] = {
            "user_id": person.user_id,
            "deadline_ms": 20_000,
            "timeout_s": 60,
            **BODIES[ComposeRequest],
        }
        for _ in range(BURST):
            await brain.compose(**asked)
        with pytest.raises(RefusedError) as refusal:
            await brain.compose(**asked)
    assert refusal.value.code == "rate_limited"
    assert 0 < (refusal.value.retry_after_s or 0) <= 60
