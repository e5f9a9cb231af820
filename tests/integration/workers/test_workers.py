"""Workers on a real PostgreSQL: duplicate concurrent events, and pruning."""

import asyncio
from datetime import timedelta

from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMITTED
from services.governor import handler as governor
from services.observer import handler as observer
from shared.bus.delivery import Delivered, parse
from shared.domain.subjects import Subject
from shared.store import inbox, topics_made, turn_states
from tests.system.databases import Databases, state
from tests.system.kafka import Stored
from tests.system.person import Person
from tests.system.running import running, settings_for


async def events(person: Person) -> list[Delivered]:
    """The turn.committed events in the outbox."""
    waiting = person.system.rows(
        "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s ORDER BY position",
        t=TURN_COMMITTED.name,
    )
    return [parse(Stored(TURN_COMMITTED.name, value=row["body"].encode())) for row in waiting]


async def test_a_turn_delivered_twice_in_one_batch_and_to_two_observers_is_observed_once(
    databases: Databases, kafka: str
) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        rt = system["compose"].rt
        person = Person(system)
        subject = Subject(person.tenant_id, person.user_id)
        await person.commit("我喜欢喝茶。")
        await person.commit("I live in Oslo and Marta lives in Rome.")
        batch = await events(person)
        assert [type(each.payload) for each in batch] == [TurnCommitted, TurnCommitted]
        doubled = [each for each in batch for _ in range(2)]
        await asyncio.gather(*(observer.observe_turns(rt, subject, doubled) for _ in range(3)), return_exceptions=True)
        before = state(system.dsn)
        assert before["observations"]
        await observer.observe_turns(rt, subject, doubled)
        assert state(system.dsn) == before
        per_turn = "SELECT count(*) FROM (SELECT 1 FROM observations GROUP BY input_hash HAVING count(*) > 1) t"
        assert system.number(per_turn) == 0
        recorded = "SELECT count(*) FROM event_outbox WHERE type = 'observation.recorded'"
        assert system.number(recorded) == 2


async def test_old_claims_are_pruned_and_recent_ones_stay(databases: Databases, kafka: str) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("governor",)) as system:
        rt = system["governor"].rt
        await system.change(
            "INSERT INTO inbox (consumer, event_id, processed_at)"
            " SELECT 'observer', gen_random_uuid(), now() - n * interval '10 days' FROM generate_series(0, 9) AS n"
        )
        await governor.prune(rt)
        assert system.number("SELECT count(*) FROM inbox") == 4
        async with rt.db.system() as conn:
            assert await inbox.prune(conn, timedelta(days=5), limit=2) == 2


async def test_an_unobserved_turn_is_redriven_after_its_grace_period(databases: Databases, kafka: str) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        rt = system["compose"].rt
        await Person(system).commit("I like tea.")
        await system.change("DELETE FROM event_outbox")
        assert (await governor.redrive(rt)).get("turn", 0) == 0
        await system.change("UPDATE turns SET committed_at = now() - interval '1 hour'")
        assert (await governor.redrive(rt))["turn"] == 1
        await system.change("DELETE FROM event_outbox")
        assert (await governor.redrive(rt))["turn"] == 0
        async with rt.db.system() as conn:
            assert await turn_states.count_late(conn, timedelta(seconds=30)) == 1


async def test_events_lost_with_the_brokers_topics_are_redriven_once_at_once(databases: Databases, kafka: str) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        rt = system["compose"].rt
        await Person(system).commit("I like tea.")
        await system.change("DELETE FROM event_outbox")
        await system.change("INSERT INTO inbox (consumer, event_id) VALUES ('observer', gen_random_uuid())")
        async with rt.db.system() as conn:
            await topics_made.note(conn, ["another"])
        assert (await governor.redrive(rt))["turn"] == 0, "its topic is there, it may still be read"
        async with rt.db.system() as conn:
            await topics_made.note(conn, [TURN_COMMITTED.name])
        await Person(system).commit("I like milk.")
        assert (await governor.redrive(rt))["turn"] == 1, "the younger one is in the topic that was made"
        assert (await governor.redrive(rt))["turn"] == 0
        assert system.number("SELECT count(*) FROM topics_made") == 0
