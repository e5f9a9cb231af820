"""The records of a user are purged from the topics of the running services, according to their consumer groups."""

from datetime import timedelta

import orjson
import pytest

from schemas.topics import COMPOSE_REQUEST, TURN_COMMIT
from services.erasure.topics.purge import purge
from shared import clock
from shared.bus.access import KafkaAccess
from shared.bus.requests import Asker
from shared.domain.subjects import Subject
from tests.system.kafka import Stored, publish, read
from tests.system.left_records import count_left
from tests.system.person import Person
from tests.system.running import System
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


async def test_consumed_turns_requests_replies_and_dead_letters_of_a_user_are_gone(
    system: System, person: Person
) -> None:
    other = Person(system)
    asking = Asker(KafkaAccess(system.bootstrap))
    await asking.start()
    for who in (person, other):
        key = f"{who.tenant_id}:{who.user_id}"
        await asking.ask(TURN_COMMIT, orjson.dumps(who.turn("I like tea.")), key=key, timeout_s=20)
        question = {**who.whose, "session_id": "s2", "user_message": "What do I drink?"}
        assert b"context" in await asking.ask(COMPOSE_REQUEST, orjson.dumps(question), timeout_s=20)
        refused = orjson.dumps({**who.turn("secret"), "messages": "none"})
        await publish(system.bootstrap, [Stored(TURN_COMMIT.name, key=key.encode(), value=refused)])
    await asking.stop()

    async def buried() -> bool:
        keys = {r.key for r in await read(system.bootstrap, TURN_COMMIT.dead_letter)}
        return {f"{who.tenant_id}:{who.user_id}".encode() for who in (person, other)} <= keys

    await wait_for(buried, "both dead letters")
    subject, asked_at = Subject(person.tenant_id, person.user_id), clock.now()
    found = await count_left(KafkaAccess(system.bootstrap), subject, asked_at)
    assert (found[TURN_COMMIT.name], found[COMPOSE_REQUEST.name], found[TURN_COMMIT.dead_letter]) == (2, 1, 1)

    async def gone() -> bool:
        later = asked_at + timedelta(seconds=130)
        return not (await purge(KafkaAccess(system.bootstrap), subject, asked_at, now=later)).waiting

    await wait_for(gone, "the groups of the services to have consumed everything")
    assert await count_left(KafkaAccess(system.bootstrap), subject, asked_at) == {}
    kept = await count_left(KafkaAccess(system.bootstrap), Subject(other.tenant_id, other.user_id), asked_at)
    assert kept[TURN_COMMIT.dead_letter] == 1
