"""An event that fails permanently is named and set aside; all other work continues."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from schemas.topics import ANALYSIS_PROPOSED, OBSERVATION_RECORDED, TURN_COMMITTED, Topic
from services.analyzer import rules as proposing
from services.evolver import handler as resolving
from tests.system.databases import Databases
from tests.system.kafka import Stored, caught_up, of_tenant, publish, read
from tests.system.person import Person, somebody
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

FUSE = {"fuse_window": 25, "fuse_cooldown_s": 1.0}


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with short retries and a fuse that closes soon."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), delivery={"retry_delays_ms": [5, 5], **FUSE})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


async def commit_poison(person: Person) -> str:
    """A turn whose row is corrupted before it is observed, so that no worker can read it."""
    await person.system.stop("observer")
    turn_id = (await person.commit("I prefer bitter chocolate."))["turn_id"]
    await person.system.change("ALTER TABLE conversation_events DISABLE TRIGGER append_only")
    await person.system.change("UPDATE conversation_events SET content = '[]' WHERE turn_id = %(turn)s", turn=turn_id)
    await person.system.change("ALTER TABLE conversation_events ENABLE TRIGGER append_only")
    return turn_id


async def list_quarantined(person: Person) -> list[tuple[str, str]]:
    """Stage and turn of the quarantined event."""
    found = person.system.rows("SELECT stage, turn_id FROM quarantine WHERE user_id = %(u)s", u=person.user_id)
    return [(row["stage"], str(row["turn_id"])) for row in found]


async def dead_letters(person: Person, topic: Topic) -> list[Stored]:
    """The user's dead letters of this topic, once there is one."""
    return await wait_for(lambda: of_tenant(person.system.bootstrap, person.tenant_id, topic.dead_letter))


async def test_an_unobservable_turn_is_quarantined_and_its_neighbours_are_not(system: System, person: Person) -> None:
    other = Person(system)
    before = await person.commit("I like green tea.")
    poison = await commit_poison(person)
    after = [await person.commit("I live in Oslo."), await other.commit("I live in Rome.")]
    await system.start("observer")
    assert (await person.outcome(poison))["status"] == "quarantined"
    assert (await person.outcome(before["turn_id"]))["status"] == "derived"
    assert (await person.outcome(after[0]["turn_id"]))["status"] == "derived"
    assert (await other.outcome(after[1]["turn_id"]))["status"] == "derived"
    assert await list_quarantined(person) == [("observer", poison)]
    (dead,) = await dead_letters(person, TURN_COMMITTED)
    assert dead.envelope.payload["turn_id"] == poison
    reasons = dict(dead.headers)
    assert reasons["x-error"]
    assert reasons["x-origin"].decode().startswith(f"{TURN_COMMITTED.name}/")
    await system.settled()


@pytest.mark.parametrize(
    ("module", "name", "stage", "topic"),
    [
        (proposing, "propose", "analyzer", OBSERVATION_RECORDED),
        (resolving, "resolve", "evolver", ANALYSIS_PROPOSED),
    ],
)
async def test_an_underivable_event_is_quarantined_with_its_turn(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, stage: str, topic: Topic
) -> None:
    decide = getattr(module, name)

    def choke(new: Any, *given: Any) -> Any:
        if new.session_id == person.user_id:
            raise ZeroDivisionError(stage)
        return decide(new, *given)

    monkeypatch.setattr(module, name, choke)
    outcome = await person.say("I prefer bitter chocolate.", session=person.user_id)
    assert outcome["status"] == "quarantined"
    assert [place for place, _ in await list_quarantined(person)] == [stage]
    (dead,) = await dead_letters(person, topic)
    assert b"bitter" not in (dead.value or b"")
    assert (await person.say("I prefer milk chocolate."))["status"] == "derived"
    await system.settled()


async def test_an_event_about_an_unknown_turn_is_no_poison(system: System, person: Person) -> None:
    await person.say("I like green tea.")
    (told,) = await of_tenant(system.bootstrap, person.tenant_id, TURN_COMMITTED.name)
    stranger = (told.value or b"").replace(
        told.envelope.payload["turn_id"].encode(), str(told.envelope.event_id).encode()
    )
    await publish(system.bootstrap, [Stored(told.topic, key=told.key, value=stranger)])
    await caught_up(system.bootstrap)
    assert await of_tenant(system.bootstrap, person.tenant_id, TURN_COMMITTED.dead_letter) == []


@pytest.mark.parametrize(
    "value", [b"", b"{", b"[]", b"\xff\xfe", b'{"event_type": "turn.committed"}', b'{"event_id": "1"}', None]
)
async def test_a_record_that_is_no_event_is_a_dead_letter_and_the_partition_continues(
    system: System, person: Person, value: bytes | None
) -> None:
    mark = somebody().encode()
    key = f"{person.tenant_id}:{person.user_id}".encode()
    headers = [("mark", mark), ("odd", b"\xff\xfe")]
    await publish(system.bootstrap, [Stored(TURN_COMMITTED.name, key=key, value=value, headers=headers)])
    await person.say("I like green tea.")

    async def buried() -> bool:
        found = await read(system.bootstrap, TURN_COMMITTED.dead_letter)
        return any(r.key == key and (r.value or None) == (value or None) for r in found)

    await wait_for(buried, "the dead letter")


async def test_too_many_dead_letters_pause_the_consumer_until_the_fuse_closes(system: System, person: Person) -> None:
    observer = system["observer"]
    rubbish = [Stored(TURN_COMMITTED.name, key=b"k", value=b"rubbish") for _ in range(60)]
    await publish(system.bootstrap, rubbish)

    async def stopped() -> bool:
        return not (await observer.service.ready())["fuse"]

    await wait_for(stopped, "the fuse is blown")
    assert (await person.say("I like green tea."))["status"] == "derived"
    await asyncio.wait_for(caught_up(system.bootstrap), 60)
    await wait_for(observer.ready, "it has cooled down, though what came behind the turn may have blown the fuse again")
    await system.settled()
