"""Turns of one tenant queue in the outbox, on a real PostgreSQL and broker; those of another tenant overtake them."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMITTED
from services.governor import handler as governor
from shared import clock
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.settings import Settings
from shared.store import outbox, turn_states
from tests.integration.relay.test_relay import commit, order
from tests.system.databases import change, number, rows
from tests.system.kafka import of_tenant
from tests.system.person import somebody
from tests.system.running import policy_file, running, settings_for
from tests.system.wait import wait_for

WAITING = "SELECT count(*) FROM event_outbox WHERE failed_at IS NULL AND waits_for = %(t)s"
UNDER_WAY = "SELECT turn_id, who FROM turns_under_way WHERE tenant = %(t)s"
USERS = ("ann", "bob", "cleo")


@pytest.fixture
def settings(dsn: str, kafka: str, tmp_path: Path) -> Settings:
    """A tenant may have three turns in progress while alone, two among others."""
    delivery = {"turns_under_way": 3, "turns_beside_others": 2, "turn_under_way_s": 600, "others_first_s": 1}
    return settings_for(dsn, kafka, policy=policy_file(tmp_path, delivery=delivery))


async def flood(rt: Runtime, tenant: str, turns: int) -> None:
    """Commits this many turns of each user."""
    for n in range(turns):
        for user in USERS:
            await commit(rt, tenant, user, n)


async def published(kafka: str, tenant: str) -> dict[str, list[int]]:
    """By user, the numbers of the published turns, in order."""
    return order(await of_tenant(kafka, tenant, TURN_COMMITTED.name))


async def waits(dsn: str, tenant: str, turns: int) -> None:
    """Waits until this many turns of the tenant are in the outbox and the relay has checked once more."""
    await wait_for(lambda: number(dsn, WAITING, t=tenant) == turns, f"{turns} turns wait")


async def end(rt: Runtime, tenant: str, user: str, turn_id: UUID, *, failed: bool = False) -> None:
    """Ends the turn with an outcome: nothing learnt, or quarantined."""
    subject = Subject(tenant, user)
    async with rt.db.transaction(subject) as conn:
        if failed:
            given_up = {"stage": "observer", "event_id": clock.uuid7(), "reason": "ValueError", "turn_id": turn_id}
            await turn_states.give_up(conn, subject, **given_up)
        else:
            await turn_states.settle(conn, subject, [turn_id])


async def end_all(rt: Runtime, dsn: str, tenant: str) -> None:
    """Ends one turn after the other until none waits; every third is quarantined."""
    ended = 0
    while number(dsn, WAITING, t=tenant) or rows(dsn, UNDER_WAY, t=tenant):
        for turn in rows(dsn, UNDER_WAY, t=tenant):
            ended += 1
            await end(rt, tenant, turn["who"], turn["turn_id"], failed=ended % 3 == 0)
        await asyncio.sleep(0.01)


async def test_a_flood_waits_in_order_while_another_tenant_overtakes_it(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud, quiet = somebody(), somebody()
    await flood(rt, loud, 10)
    async with running(settings, ("relay",)) as relay:
        await waits(dsn, loud, 27)
        for n in (1, 2):
            await commit(rt, quiet, "dan", n)
        await waits(dsn, quiet, 0)
        assert await published(kafka, quiet) == {"dan": [1, 2]}
        assert await published(kafka, loud) == {user: [1] for user in USERS}
        # two are allowed among others: when one of three ends, none follows while the other tenant's turns are in
        # progress
        first = rows(dsn, UNDER_WAY, t=loud)[0]
        await end(rt, loud, first["who"], first["turn_id"])
        await wait_for(lambda: len(rows(dsn, UNDER_WAY, t=loud)) == 2, "its outcome is published")
        # a new relay reads from the database what the workers have
        await relay.stop("relay")
        await relay.start("relay")
        await relay["relay"].service.measure()
        assert number(dsn, WAITING, t=loud) == 27
        await end_all(rt, dsn, loud)
    assert await published(kafka, loud) == {user: list(range(1, 11)) for user in USERS}


async def test_a_flood_continues_slowly_beside_another_tenant_and_fast_after_it(
    rt: Runtime, settings: Settings, dsn: str
) -> None:
    loud, quiet = somebody(), somebody()
    for n in (1, 2):
        await commit(rt, quiet, "dan", n)
    async with running(settings, ("relay",)):
        await waits(dsn, quiet, 0)
        await change(dsn, "UPDATE turns_under_way SET since = now() + interval '1 hour'")
        await flood(rt, loud, 10)
        rt.db.wake()
        # among others two leave after a short time, although no turn of the flood ends
        await waits(dsn, loud, 28)
        for turn in rows(dsn, UNDER_WAY, t=loud):
            await end(rt, loud, turn["who"], turn["turn_id"])
        began = asyncio.get_running_loop().time()
        await waits(dsn, loud, 26)
        assert asyncio.get_running_loop().time() - began > 0.2, "they waited for a moment since the last ones"
        for turn in rows(dsn, UNDER_WAY, t=quiet):
            await end(rt, quiet, turn["who"], turn["turn_id"])
        for turn in rows(dsn, UNDER_WAY, t=loud):
            await end(rt, loud, turn["who"], turn["turn_id"])
        await waits(dsn, loud, 24)


async def test_two_relays_limit_a_flood_and_lose_none_of_it(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud = somebody()
    async with running(settings, ("relay", "relay")) as relays:
        await flood(rt, loud, 10)
        await wait_for(lambda: len(rows(dsn, UNDER_WAY, t=loud)) >= 3, "the relays have begun")
        # each relay fills the capacity: together they may take twice that
        assert sum(map(len, (await published(kafka, loud)).values())) <= 2 * 3
        await relays.stop("relay")
        await end_all(rt, dsn, loud)
    assert await published(kafka, loud) == {user: list(range(1, 11)) for user in USERS}


async def test_a_turn_without_a_reported_end_delays_its_tenant_at_most_for_the_policys_time(
    rt: Runtime, settings: Settings, dsn: str
) -> None:
    loud = somebody()
    await flood(rt, loud, 4)
    async with running(settings, ("relay",)):
        await waits(dsn, loud, 9)
        # an erasure ends turns without an event: published ones and some waiting ones
        await change(dsn, "UPDATE turns SET outcome_at = now() WHERE tenant_id = %(t)s AND seq < 3", t=loud)
        await waits(dsn, loud, 3)
        await change(dsn, "UPDATE turns_under_way SET since = now() - interval '1 hour'")
        await waits(dsn, loud, 0)


async def test_events_of_a_turn_leave_although_turns_of_its_tenant_wait(
    rt: Runtime, settings: Settings, dsn: str, kafka: str
) -> None:
    loud = somebody()
    await flood(rt, loud, 4)
    async with running(settings, ("relay",)):
        await waits(dsn, loud, 9)
        again = [(TURN_COMMITTED, _driven_again(turn["turn_id"], loud)) for turn in rows(dsn, UNDER_WAY, t=loud)]
        async with rt.db.system() as conn:
            await outbox.put(conn, again)
        rt.db.wake()
        await wait_for(lambda: number(dsn, "SELECT count(*) FROM event_outbox") == 9, "the rest is published")
        assert (await published(kafka, loud))["ann"] == [1, 0, 0, 0]


def _driven_again(turn_id: UUID, tenant: str) -> outbox.Envelope:
    payload = TurnCommitted(turn_id=turn_id, seq=0)
    return outbox.event(payload, Subject(tenant, "ann"), turn_id, trace_id="trace", policy_version="none")


async def test_waiting_turns_are_not_lost_and_do_not_block_the_outbox(
    rt: Runtime, settings: Settings, dsn: str
) -> None:
    loud = somebody()
    await flood(rt, loud, 4)
    old = "UPDATE {} SET {} = now() - interval '1 hour'"
    await change(dsn, old.format("event_outbox", "created_at"))
    async with rt.db.system() as conn:
        stands = await outbox.depth(conn)
    assert (stands.rows, stands.held) == (12, 0), "nothing is under way: a relay should have taken some"
    assert stands.age_s > 3000
    async with running(settings, ("relay",)):
        await waits(dsn, loud, 9)
    async with rt.db.system() as conn:
        depth = await outbox.depth(conn)
    assert (depth.rows, depth.held, depth.age_s) == (0, 9, 0)
    await change(dsn, old.format("turns", "committed_at"))
    assert (await governor.redrive(rt))["turn"] == 0, "three have only just left, the rest waits"
    await change(dsn, old.format("turns_under_way", "since"))
    assert (await governor.redrive(rt))["turn"] == 3
