"""The observations of a turn do not depend on its batch."""

import pytest

from schemas.topics import TURN_COMMITTED
from services.observer import handler as observer
from shared.bus.delivery import parse
from shared.domain.subjects import Subject
from tests.system.databases import Databases
from tests.system.kafka import Stored
from tests.system.person import Json, Person
from tests.system.running import System, running, settings_for

TALK = [
    "Marta called about the lease.",
    "今天和小林讨论了 Kestrel 项目。",
    "I like jasmine tea.",
    "Marta wants to see the Kestrel plan.",
    "我住在苏州。",
    "Do you want me to remember your size?",
    "Kestrel is late again, Marta says.",
] * 4


@pytest.mark.parametrize("size", [1, 5])
async def test_small_batches_and_one_large_batch_give_the_same_result(
    databases: Databases, kafka: str, size: int
) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        one, other = Person(system), Person(system)
        for n, text in enumerate(TALK):
            for person in (one, other):
                await person.commit(text, session=f"s{n // 6}")
        await observe_all(system, one, len(TALK))
        await observe_all(system, other, size)
        assert list_observations(system, one) == list_observations(system, other)
        assert any(row["kind"] == "entity" for row in list_observations(system, one))


async def observe_all(system: System, person: Person, size: int) -> None:
    """Observes all turns of the user, this many at a time."""
    rows = system.rows(
        "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s ORDER BY position",
        t=TURN_COMMITTED.name,
    )
    events = [parse(Stored(TURN_COMMITTED.name, value=row["body"].encode())) for row in rows]
    mine = [event for event in events if event.envelope.user_id == person.user_id]
    for at in range(0, len(mine), size):
        batch = mine[at : at + size]
        await observer.observe_turns(system["compose"].rt, Subject(person.tenant_id, person.user_id), batch)


def list_observations(system: System, person: Person) -> list[Json]:
    """Every observation, with its position in place of ids."""
    return system.rows(
        "SELECT t.session_id, t.seq, o.ordinal, o.kind, o.key, o.text, o.pattern, o.priority FROM observations o"
        " JOIN turns t USING (tenant_id, user_id, turn_id) WHERE o.user_id = %(u)s"
        " ORDER BY t.session_id, t.seq, o.ordinal, o.kind, o.text, o.key",
        u=person.user_id,
    )
