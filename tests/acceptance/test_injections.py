"""Injections are recorded despite database failures and judged once despite redelivery."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from schemas.topics import FEEDBACK_RECORDED
from services.governor import handler as governor
from tests.system.databases import Databases, state
from tests.system.feedback import TALKS, composed, counts, events, learnt, of, told
from tests.system.kafka import caught_up, of_tenant, publish
from tests.system.person import Person, shown, user
from tests.system.running import System, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


@pytest.fixture
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """A system on its own database."""
    async with running(settings_for(databases.fresh(), kafka)) as all_services:
        yield all_services


async def test_redelivered_feedback_changes_nothing(system: System) -> None:
    people = [Person(system) for _ in TALKS]
    for person, talk in zip(people, TALKS, strict=True):
        await told(person, talk, talk.uses, talk.praise)
    before = state(system.dsn)
    for person in people:
        records = await of_tenant(system.bootstrap, person.tenant_id, FEEDBACK_RECORDED.name)
        assert len(records) >= 2
        await publish(system.bootstrap, [*records, *reversed(records)])
    await caught_up(system.bootstrap)
    await system.settled()
    assert state(system.dsn) == before


async def test_several_turns_of_one_session_in_one_batch_are_judged_in_order(system: System) -> None:
    person, talk = Person(system), TALKS[0]
    memory_id = await learnt(person, talk)
    await system.stop("observer")
    for _ in range(2):
        package = await composed(person, talk)
        body = {**person.whose, "session_id": "talk", "context_id": package.context_id}
        said = [user(talk.follows), {"role": "assistant", "content": talk.uses}]
        await person.post("/v1/turns", {**body, "messages": said})
        praise = [user(talk.praise)]
        await person.post("/v1/turns", {**person.whose, "session_id": "talk", "messages": praise})
    await system.start("observer")
    assert [each[3] for each in of(memory_id, await events(person))].count("positive_confirm") == 2
    assert counts(person, memory_id) == (2, 2, 0, 0)


async def test_compose_answers_while_the_database_refuses_injections(system: System) -> None:
    person, talk = Person(system), TALKS[1]
    await learnt(person, talk)
    await system.change("ALTER TABLE injections RENAME TO elsewhere")
    packages = [await person.compose(talk.asked, session="talk", debug=False) for _ in range(5)]
    assert all(talk.word in shown(package) for package in packages)
    assert all(package.degraded_reason == packages[0].degraded_reason for package in packages)
    await system.change("ALTER TABLE elsewhere RENAME TO injections")
    await wait_for(lambda: system.number("SELECT count(*) FROM injections") == 5, "what waited is recorded")
    await system.change("ALTER TABLE injections ADD CONSTRAINT none CHECK (session_id <> 'refused')")
    assert talk.word in shown(await person.compose(talk.asked, session="refused", debug=False))
    await composed(person, talk)
    assert system.number("SELECT count(*) FROM injections") == 6


async def test_the_governor_removes_injections_that_are_older_than_the_retention_time(system: System) -> None:
    person, talk = Person(system), TALKS[0]
    await learnt(person, talk)
    old, kept = await composed(person, talk), await composed(person, talk)
    await system.change(
        "UPDATE injections SET created_at = now() - interval '31 days' WHERE context_id = %(c)s", c=old.context_id
    )
    await governor.prune_all(system["governor"].rt)
    assert [str(r["id"]) for r in system.rows("SELECT context_id AS id FROM injections")] == [kept.context_id]


async def test_waiting_injections_are_recorded_when_compose_stops(system: System) -> None:
    person, talk = Person(system), TALKS[0]
    await learnt(person, talk)
    await asyncio.gather(*(person.compose(talk.asked, session="talk", debug=False) for _ in range(20)))
    await system.stop("compose")
    assert system.number("SELECT count(*) FROM injections") == 20
