"""Turns of a quiet tenant overtake waiting turns of another, in the order of each user."""

from pathlib import Path
from uuid import UUID

import pytest

from schemas.events import ObservationRecorded
from schemas.topics import OBSERVATION_AHEAD, OBSERVATION_RECORDED, TURN_AHEAD, TURN_COMMITTED
from shared import clock
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.settings import Settings
from shared.store import outbox
from tests.integration.relay.test_fair import USERS, end, flood
from tests.integration.relay.test_relay import commit, order
from tests.system.databases import change, number, rows
from tests.system.kafka import of_tenant
from tests.system.person import somebody
from tests.system.running import policy_file, running, settings_for
from tests.system.wait import wait_for

LEFT = "SELECT count(*) FROM event_outbox"
UNDER_WAY = "SELECT turn_id, who, ahead FROM turns_under_way WHERE tenant = %(t)s ORDER BY since"


@pytest.fixture
def settings(dsn: str, kafka: str, tmp_path: Path) -> Settings:
    """A tenant with more than four turns in progress is overtaken by one with fewer."""
    delivery = {"ahead_of_turns": 4, "turn_under_way_s": 600, "others_first_s": 0.05, "tenant_about_s": 1}
    return settings_for(dsn, kafka, policy=policy_file(tmp_path, delivery=delivery))


async def all_left(rt: Runtime, dsn: str) -> None:
    """Waits until the relay has published the whole outbox."""
    rt.db.wake()
    await wait_for(lambda: number(dsn, LEFT) == 0, "the outbox is empty")


async def published(kafka: str, tenant: str) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """By user, the numbers of the turns on the ordinary topic and on the fast one."""
    ordinary, ahead = [order(await of_tenant(kafka, tenant, topic.name)) for topic in (TURN_COMMITTED, TURN_AHEAD)]
    return ordinary, ahead


async def tell(rt: Runtime, tenant: str, user: str, turn_id: UUID) -> None:
    """Puts an observation of the turn into the outbox."""
    payload = ObservationRecorded(observation_ids=(clock.uuid7(),), turn_id=turn_id)
    told = outbox.event(payload, Subject(tenant, user), turn_id, trace_id="trace", policy_version="none")
    async with rt.db.system() as conn:
        await outbox.put(conn, [(OBSERVATION_RECORDED, told)])


async def test_a_turn_and_its_events_overtake_a_flood_until_its_end(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud, quiet = somebody(), somebody()
    async with running(settings, ("relay",)) as relay:
        await commit(rt, quiet, "slow", 0)  # before the flood it takes the ordinary path
        await all_left(rt, dsn)
        await flood(rt, loud, 2)
        await all_left(rt, dsn)
        await commit(rt, quiet, "dan", 1)
        await commit(rt, quiet, "slow", 1)
        await all_left(rt, dsn)
        assert await published(kafka, quiet) == ({"slow": [1, 2]}, {"dan": [1]})
        assert await published(kafka, loud) == ({user: [1, 2] for user in USERS}, {})
        # a new relay reads from the database which path a user's turns take
        await relay.stop("relay")
        await change(dsn, "DELETE FROM turns_under_way WHERE tenant = %(t)s", t=loud)
        await relay.start("relay")
        (dan,) = [turn for turn in rows(dsn, UNDER_WAY, t=quiet) if turn["who"] == "dan"]
        await tell(rt, quiet, "dan", dan["turn_id"])
        await tell(rt, quiet, "slow", dan["turn_id"])
        await commit(rt, quiet, "dan", 2)
        await all_left(rt, dsn)
        assert (await published(kafka, quiet))[1] == {"dan": [1, 2]}, "no flood any more, and yet in their order"
        assert [r.key for r in await of_tenant(kafka, quiet, OBSERVATION_AHEAD.name)] == [f"{quiet}:dan".encode()]
        assert [r.key for r in await of_tenant(kafka, quiet, OBSERVATION_RECORDED.name)] == [f"{quiet}:slow".encode()]
        for turn in rows(dsn, UNDER_WAY, t=quiet):
            await end(rt, quiet, turn["who"], turn["turn_id"])
        await all_left(rt, dsn)
        await commit(rt, quiet, "dan", 3)
        await all_left(rt, dsn)
        assert (await published(kafka, quiet))[0] == {"slow": [1, 2], "dan": [3]}


async def test_a_turn_that_an_erasure_ended_no_longer_fixes_its_users_path(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud, quiet = somebody(), somebody()
    async with running(settings, ("relay",)):
        await flood(rt, loud, 2)
        await all_left(rt, dsn)
        await commit(rt, quiet, "dan", 1)
        await all_left(rt, dsn)
        assert [turn["ahead"] for turn in rows(dsn, UNDER_WAY, t=quiet)] == [True]
        await change(dsn, "UPDATE turns SET outcome_at = now()")
        await wait_for(lambda: not rows(dsn, UNDER_WAY, t=quiet), "what has ended is under way no more")
        await commit(rt, quiet, "dan", 2)
        await all_left(rt, dsn)
    assert await published(kafka, quiet) == ({"dan": [2]}, {"dan": [1]})


async def test_a_second_flood_does_not_overtake_the_first(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud, other = somebody(), somebody()
    async with running(settings, ("relay",)) as relay:
        await flood(rt, loud, 2)
        await all_left(rt, dsn)
        await relay.stop("relay")
        await flood(rt, other, 2)
        await relay.start("relay")
        await wait_for(lambda: bool(rows(dsn, UNDER_WAY, t=other)), "the second has begun")
        assert [turn["ahead"] for turn in rows(dsn, UNDER_WAY, t=other)][:1] == [False]
    assert (await published(kafka, other))[1] == {}
