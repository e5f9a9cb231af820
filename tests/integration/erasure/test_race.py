"""Erasures during concurrent work of every worker, in thousands of orders: erased data stays erased.

`SMARTBRAIN_TEST_RACES=2000` sets the number; `SMARTBRAIN_TEST_RACE=1234` runs only that seed.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.rows import dict_row

from services.cli.rebuild import run
from shared.db import SCHEMA
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from tests.integration.erasure import left
from tests.integration.erasure.race import Aside, Race
from tests.integration.erasure.scripted import Gated, surroundings
from tests.long import often
from tests.system.databases import Databases, change

ONE = os.environ.get("SMARTBRAIN_TEST_RACE")
RACES = int(os.environ.get("SMARTBRAIN_TEST_RACES") or often(300, short=16))
SEEDS: Sequence[int] = (int(ONE),) if ONE else range(RACES)
REBUILT: Sequence[int] = (int(ONE),) if ONE else range(100_000, 100_000 + often(12, short=3))
AT_ONCE = 8
BYSTANDERS = tuple(f"bystander-{n}" for n in range(6))


@dataclass(frozen=True)
class Place:
    """The environment of races: a database, and workers without and with a chat model."""

    dsn: str
    workers: tuple[Runtime, Runtime]


@pytest.fixture(scope="module")
async def place(databases: Databases) -> AsyncGenerator[Place]:
    """A database for this module; waiting events are found by user."""
    dsn = databases.fresh()
    await change(dsn, "CREATE INDEX ON event_outbox (aggregateid, position)")
    db = Gated(dsn, size=AT_ONCE + 6)
    await db.open()
    yield Place(dsn, (surroundings(db), surroundings(db, chats=True)))
    await db.close()


async def each_of(seeds: Iterable[int], place: Place, made: Callable[[int, Aside], Race]) -> list[Race]:
    """Runs the races of these seeds, several concurrently; a failure names its seed."""
    waiting: Iterator[int] = iter(seeds)
    done: list[Race] = []

    async def runner() -> None:
        options = f"-c search_path={SCHEMA},public"
        async with await psycopg.AsyncConnection.connect(
            place.dsn, autocommit=True, row_factory=dict_row, options=options
        ) as aside:
            for seed in waiting:
                race = made(seed, aside)
                try:
                    await asyncio.create_task(race.run())
                except BaseException as error:
                    error.add_note(f"seed {seed}: {' '.join(race.path)}")
                    raise
                done.append(race)

    async with asyncio.TaskGroup() as runners:
        for _ in range(AT_ONCE):
            runners.create_task(runner())
    return done


def describe_faults(race: Race, faults: Iterable[str]) -> list[str]:
    """The faults, with the seed that reproduces them."""
    scopes = [each.tombstone.scope for each in race.erasures]
    return [f"seed {race.seed} ({race.lanes} lanes, {', '.join(scopes)}): {fault}" for fault in faults]


async def test_erased_data_does_not_return_by_late_work(place: Place) -> None:
    def bystander(seed: int, aside: Aside) -> Race:
        return Race(place.workers[seed % 2], aside, Subject("t", BYSTANDERS[seed % 10]), seed, asks=[])

    def race(seed: int, aside: Aside) -> Race:
        return Race(place.workers[seed % 2], aside, Subject("t", f"user-{seed}"), seed)

    beside = await each_of(range(900_000, 900_000 + len(BYSTANDERS)), place, bystander)
    before = left.tables(place.dsn)
    races = await each_of(SEEDS, place, race)
    after = left.tables(place.dsn)
    assert {name: after.users[name] for name in BYSTANDERS} == {name: before.users[name] for name in BYSTANDERS}
    assert left.strayed([*races, *beside], after) == []
    assert [fault for each in (*beside, *races) for fault in describe_faults(each, left.faults(each, after))] == []


async def test_a_rebuild_restores_nothing_and_finds_no_difference(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Database", Gated)
    monkeypatch.setattr(run, "WAIT_S", 0.0)

    def race(seed: int, aside: Aside) -> Race:
        return Race(place.workers[0], aside, Subject("t", f"rebuilt-{seed}"), seed, place.dsn)

    races = await each_of(REBUILT, place, race)
    for each in races:
        if "session" not in {erasure.tombstone.scope for erasure in each.erasures}:
            assert describe_faults(each, map(str, (await each.rebuilt(apply=False)).differences)) == []
        await each.rebuilt(apply=True)
    after = left.tables(place.dsn)
    assert [fault for each in races for fault in describe_faults(each, left.faults(each, after))] == []
