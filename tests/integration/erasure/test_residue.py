"""The scan finds rows inserted into any table during an erasure, which is not completed until they are gone."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from uuid import UUID

import pytest

from services.erasure import handler
from shared.domain.subjects import Subject
from shared.domain.tables import BY_NAME
from shared.runtime import Runtime
from shared.store.erasure import residue, tombstones
from shared.store.erasure.residue import FIGURES, Residue, ScannedTable
from tests.system.databases import Databases, change, rows
from tests.system.erasures import erase, view
from tests.system.person import Json, Person
from tests.system.running import System, running, settings_for
from tests.system.strays import removed, stray, unchecked

LONG_AGO = "2020-01-01"
SWEPT = frozenset({"postings", FIGURES})
"""Rows without a tombstone that a step deletes anyway."""


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Compose alone: the test requests erasures and runs their steps."""
    settings = settings_for(databases.fresh(), kafka)
    unchecked(settings.database_url.get_secret_value() if settings.database_url else "")
    async with running(settings, ("compose",)) as compose:
        yield compose


@pytest.fixture
def rt(system: System) -> Runtime:
    """The event for the worker."""
    return system["compose"].rt


async def run_worker(rt: Runtime, person: Person, receipt: Json) -> Json:
    """The erasure after one run of the worker."""
    await change(
        person.system.dsn,
        "UPDATE tombstones SET next_try_at = now() WHERE tombstone_id = %(id)s",
        id=receipt["tombstone_id"],
    )
    await handler.work(rt, subject_of(person), UUID(receipt["tombstone_id"]))
    return await view(person, receipt)


def subject_of(person: Person) -> Subject:
    return Subject(person.tenant_id, person.user_id)


async def scan(rt: Runtime, person: Person, receipt: Json) -> Residue:
    subject = subject_of(person)
    async with rt.db.as_erasure(subject) as conn:
        found = await tombstones.one(subject, UUID(receipt["tombstone_id"])).on(conn)
        assert found
        return await residue.residue(conn, subject, found)


async def tables(rt: Runtime, person: Person) -> list[ScannedTable]:
    async with rt.db.as_erasure(subject_of(person)) as conn:
        return [each for each in await residue.catalog(conn) if BY_NAME[each.name].fate != "keep"]


async def each_of(known: Sequence[ScannedTable], one: Callable[[ScannedTable], Awaitable[None]]) -> None:
    """Each table, a few concurrently: a worker has two connections for erasures."""
    places = asyncio.Semaphore(2)

    async def placed(table: ScannedTable) -> None:
        async with places:
            await one(table)

    async with asyncio.TaskGroup() as tasks:
        for table in known:
            tasks.create_task(placed(table))


async def test_an_old_row_in_any_table_is_named_and_keeps_the_erasure_open(rt: Runtime, system: System) -> None:
    known = await tables(rt, Person(system))
    assert len(known) >= 25

    async def one(table: ScannedTable) -> None:
        person = Person(system)
        receipt = await erase(person, "all")
        stray(system.dsn, table.name, **subject_of(person)._asdict(), epoch=0, updated_at=LONG_AGO)
        assert (await scan(rt, person, receipt)).left == {table.name: 1}, table.name
        if table.name in SWEPT:
            assert (await run_worker(rt, person, receipt))["status"] == "completed", table.name
            return
        seen = await run_worker(rt, person, receipt)
        assert (seen["status"], seen["error"]) == ("retry_pending", f"residue: {table.name}=1"), table.name
        assert seen["proof"] is None
        assert seen["attempts"] == 1
        assert all(step["done_at"] is None for step in seen["steps"])
        assert removed(system.dsn, table.name, person.user_id) >= 1
        assert (await run_worker(rt, person, receipt))["status"] == "completed", table.name

    await each_of(known, one)


async def test_a_row_of_an_erased_turn_in_any_table_is_named(rt: Runtime, system: System) -> None:
    known = [table for table in await tables(rt, Person(system)) if "session" not in BY_NAME[table.name].spared_by]
    of_turns = [t for t in known if {"turn_id", "source_turn_id"} & t.columns.keys()]
    assert len(of_turns) >= 10

    async def one(table: ScannedTable) -> None:
        person = Person(system)
        turn = await person.commit("I prefer green tea.", session="gone")
        await person.commit("I prefer oolong.", session="stays")
        receipt = await erase(person, "session", session_ids=["gone"])
        ours = {"tenant_id": person.tenant_id, "user_id": person.user_id, "session_id": "gone", "epoch": 0}
        if table.name == "turns":
            stray(system.dsn, table.name, **ours, seq=99)
        else:
            named = {"turn_id": turn["turn_id"], "source_turn_id": turn["turn_id"]}
            stray(system.dsn, table.name, **ours, **named, ordinal=99)
        seen = await run_worker(rt, person, receipt)
        assert (seen["status"], seen["error"]) == ("retry_pending", f"residue: {table.name}=1"), table.name

    await each_of(of_turns, one)


LATER = {
    "without columns that could tell": "CREATE TABLE diary (tenant_id text, user_id text, words text)",
    "that the worker may not read": "CREATE TABLE diary (tenant_id text, user_id text, words text, epoch int)",
    "that shows the worker no row": (
        "CREATE TABLE diary (tenant_id text, user_id text, words text, epoch int);"
        "GRANT SELECT ON diary TO smartbrain_erasure; ALTER TABLE diary ENABLE ROW LEVEL SECURITY"
    ),
}


@pytest.mark.parametrize("kind", LATER)
async def test_a_new_table_that_cannot_be_scanned_is_named(rt: Runtime, system: System, kind: str) -> None:
    person = Person(system)
    receipt = await erase(person, "all")
    rows(system.dsn, LATER[kind])
    try:
        seen = await run_worker(rt, person, receipt)
        assert (seen["status"], seen["error"]) == ("retry_pending", "residue: diary=1")
        answer = await person.get(f"/v1/erasures/{receipt['tombstone_id']}/residue")
        assert answer.json()["left"] == {"diary": 1}
    finally:
        await change(system.dsn, "DROP TABLE diary")
    assert (await run_worker(rt, person, receipt))["status"] == "completed"


async def test_a_new_table_is_scanned_like_the_others(rt: Runtime, system: System) -> None:
    person = Person(system)
    receipt = await erase(person, "all")
    await change(
        system.dsn,
        "CREATE TABLE diary (tenant_id text, user_id text, words varchar(20), epoch int);"
        "GRANT SELECT ON diary TO smartbrain_erasure",
    )
    try:
        stray(system.dsn, "diary", tenant_id=person.tenant_id, user_id=person.user_id, epoch=0, words="dear diary")
        assert (await run_worker(rt, person, receipt))["error"] == "residue: diary=1"
        await change(system.dsn, "UPDATE diary SET epoch = 1")
        seen = await run_worker(rt, person, receipt)
        assert seen["status"] == "completed"
    finally:
        await change(system.dsn, "DROP TABLE diary")
