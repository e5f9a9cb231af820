"""Tenant and user are bound for one transaction: the next user of the connection does not see them."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg_pool import PoolTimeout

from shared.db import Connection, Database, Read
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.store import contexts
from tests.system.databases import rows

WHO = Subject("tenant", "anna")
STRANGERS = [Subject("tenant", "bert"), Subject("other", "anna"), Subject("", ""), Subject("%", "%")]
PEOPLE = [Subject(f"t{n % 4}", f"u{n // 4}") for n in range(20)]
_WRITE = "INSERT INTO sessions (tenant_id, user_id, session_id) VALUES (%s, %s, %s)"
_SEEN = "SELECT tenant_id, user_id, session_id FROM sessions"
_OWN: Read[list[str]] = Read("SELECT session_id FROM sessions", {}, lambda found: [row["session_id"] for row in found])
_BROKEN: Read[list[Any]] = Read("SELECT 1 / 0 AS broken", {}, list)
_STATE = """
SELECT pg_backend_pid() AS pid, current_setting('app.tenant', true) AS tenant, current_setting('app.user', true) AS who,
    current_user::text AS role, (SELECT count(*) FROM sessions) AS sessions, now() = statement_timestamp() AS alone
"""
SOME = settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
Left = Callable[[Database], Awaitable[None]]


@pytest.fixture
async def one(dsn: str) -> AsyncGenerator[Database]:
    """A pool of one connection, and a row of one user."""
    rows(dsn, _WRITE.replace("%s, %s, %s", "'tenant', 'anna', 'hers'"))
    found = Database(dsn, size=1)
    await found.open()
    yield found
    await found.close()


async def pid(conn: Connection) -> int:
    """The server process of the connection."""
    row = await (await conn.execute("SELECT pg_backend_pid() AS pid")).fetchone()
    return (row or {})["pid"]


async def commit_write(db: Database) -> None:
    """The transaction wrote and committed."""
    async with db.transaction(WHO) as conn:
        await conn.execute(_WRITE, (*WHO, uuid4().hex))


async def rolled_back(db: Database) -> None:
    """The transaction wrote and rolled back."""
    async with db.transaction(WHO) as conn:
        await conn.execute(_WRITE, (*WHO, uuid4().hex))
        raise psycopg.Rollback


async def raise_error(db: Database) -> None:
    """An error in our code aborted it."""
    with suppress(ValueError):
        async with db.transaction(WHO) as conn:
            await conn.execute(_WRITE, (*WHO, uuid4().hex))
            raise ValueError("in the midst")


async def run_refused_statement(db: Database) -> None:
    """The server refused one of its statements."""
    with suppress(psycopg.errors.DivisionByZero):
        async with db.transaction(WHO) as conn:
            await conn.execute(_WRITE, (*WHO, uuid4().hex))
            await conn.execute("SELECT 1 / 0")


async def lose_race(db: Database) -> None:
    """A serialization failure aborted it."""
    with suppress(TransientError):
        async with db.transaction(WHO) as conn:
            await conn.execute(_WRITE, (*WHO, "hers"))


async def cancelled_while_idle(db: Database) -> None:
    """Its task was cancelled between two statements."""
    inside = asyncio.Event()

    async def work() -> None:
        async with db.transaction(WHO) as conn:
            await conn.execute(_WRITE, (*WHO, uuid4().hex))
            inside.set()
            await asyncio.sleep(60)

    await _cancel_task(asyncio.create_task(work()), inside)


async def cancelled_while_busy(db: Database) -> None:
    """Its task was cancelled during a statement."""
    inside = asyncio.Event()

    async def work() -> None:
        async with db.transaction(WHO) as conn:
            inside.set()
            await conn.execute("SELECT pg_sleep(60)")

    await _cancel_task(asyncio.create_task(work()), inside)


async def _cancel_task(task: asyncio.Task[None], inside: asyncio.Event) -> None:
    await inside.wait()
    await asyncio.sleep(0.02)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def read(db: Database) -> None:
    """A pipeline succeeded."""
    assert all("hers" in seen for seen in await db.read(WHO, _OWN, _OWN))


async def failed_at_the_end(db: Database) -> None:
    """The last statement of a pipeline failed."""
    with pytest.raises(psycopg.errors.DivisionByZero):
        await db.read(WHO, _OWN, _BROKEN)


async def failed_at_the_start(db: Database) -> None:
    """The first statement of a pipeline failed."""
    with pytest.raises(psycopg.errors.DivisionByZero):
        await db.read(WHO, _BROKEN, _OWN, _OWN)


async def misread(db: Database) -> None:
    """The conversion of a pipeline's rows failed."""
    nonsense: Read[str] = Read("SELECT 1 AS one", {}, lambda found: found[0]["two"])
    with pytest.raises(KeyError):
        await db.read(WHO, _OWN, nonsense)


async def bound_by_a_function(db: Database) -> None:
    """A function of the schema bound its users itself, for one statement."""
    async with db.single() as conn:
        await contexts.record(conn, [])
        await conn.execute("SELECT set_config('app.tenant', 'tenant', true), set_config('app.user', 'anna', true)")


async def failed_in_a_function(db: Database) -> None:
    """A function of the schema had bound a user when it failed."""
    with pytest.raises(psycopg.Error):
        async with db.single() as conn:
            await conn.execute(
                "SELECT commit_turn(%s::jsonb)", ('{"tenant_id": "tenant", "user_id": "anna", "turn_id": null}',)
            )


KEEPING: list[Left] = [
    commit_write,
    rolled_back,
    raise_error,
    run_refused_statement,
    lose_race,
    cancelled_while_idle,
    read,
    misread,
    bound_by_a_function,
    failed_in_a_function,
]
"""Endings after which the connection stays open; the others may close it."""
COSTING: list[Left] = [failed_at_the_end, failed_at_the_start, cancelled_while_busy]


@pytest.mark.parametrize("leave", [*KEEPING, *COSTING], ids=lambda each: each.__name__)
async def test_a_connection_keeps_no_user_however_its_transaction_ends(one: Database, leave: Left) -> None:
    async with one.single() as conn:
        before = await pid(conn)
    await leave(one)
    async with one.single() as conn:
        row = await (await conn.execute(_STATE)).fetchone() or {}
    assert (row["tenant"] or "", row["who"] or "", row["sessions"]) == ("", "", 0)
    assert (row["role"], row["alone"]) == ("smartbrain_app", True)
    assert row["pid"] == before or leave in COSTING
    for stranger in STRANGERS:
        assert await one.read(stranger, _OWN) == ([],)
        async with one.transaction(stranger) as conn:
            assert await (await conn.execute(_SEEN)).fetchall() == []
    assert "hers" in (await one.read(WHO, _OWN))[0]


@SOME
@given(order=st.lists(st.sampled_from(KEEPING), min_size=2, max_size=8), who=st.sampled_from(STRANGERS[:2]))
async def test_a_connection_keeps_no_user_after_any_sequence_of_endings(
    one: Database, order: list[Left], who: Subject
) -> None:
    async with one.single() as conn:
        before = await pid(conn)
    for leave in order:
        await leave(one)
        async with one.single() as conn:
            row = await (await conn.execute(_STATE)).fetchone() or {}
        assert (row["tenant"] or "", row["who"] or "", row["sessions"], row["pid"]) == ("", "", 0, before)
        assert await one.read(who, _OWN) == ([],)
    async with one.transaction(WHO) as conn:
        await conn.execute("DELETE FROM sessions WHERE session_id <> 'hers'")


ENDS = ("commit", "roll back", "raise", "read", "break", "cancel")
Task = tuple[int, str]


@settings(SOME, max_examples=4)
@given(
    tasks=st.lists(st.tuples(st.integers(0, len(PEOPLE) - 1), st.sampled_from(ENDS)), min_size=200, max_size=200),
    size=st.integers(2, 5),
)
async def test_two_hundred_concurrent_transactions_see_only_their_own_rows(
    dsn: str, tasks: list[Task], size: int
) -> None:
    rows(dsn, "DELETE FROM sessions")
    for person in PEOPLE:
        rows(dsn, _WRITE.replace("%s, %s, %s", f"'{person.tenant_id}', '{person.user_id}', 'first'"))
    db = Database(dsn, size=size)
    await db.open()
    saw: list[tuple[Subject, dict[str, Any]]] = []
    pids: set[int] = set()

    async def look(conn: Connection, who: Subject) -> None:
        saw.extend([(who, row) for row in await (await conn.execute(_SEEN)).fetchall()])

    async def work(number: int, task: Task) -> None:
        """Retries the task while no connection is free; it has done nothing until then."""
        while True:
            try:
                return await once(number, task)
            except TransientError as error:
                if not isinstance(error.__cause__, PoolTimeout):
                    raise

    async def once(number: int, task: Task) -> None:
        at, ends = task
        who = PEOPLE[at]
        if ends in ("read", "break"):
            seen: Read[None] = Read(_SEEN, {}, lambda found: saw.extend([(who, row) for row in found]))
            await db.read(who, seen, *([_BROKEN] if ends == "break" else [_OWN]))
            return
        async with db.transaction(who) as conn:
            pids.add(await pid(conn))
            await look(conn, who)
            await conn.execute(_WRITE, (*who, f"of task {number}"))
            await asyncio.sleep(0)
            await look(conn, who)
            if ends == "roll back":
                raise psycopg.Rollback
            if ends == "raise":
                raise ValueError("in the midst")
            if ends == "cancel":
                mine = asyncio.current_task()
                assert mine
                mine.cancel()
                await asyncio.sleep(60)

    ended = await asyncio.gather(
        *(asyncio.create_task(work(n, task)) for n, task in enumerate(tasks)), return_exceptions=True
    )
    await db.close()
    expected = {"raise": ValueError, "break": psycopg.errors.DivisionByZero, "cancel": asyncio.CancelledError}
    for (_, ends), outcome in zip(tasks, ended, strict=True):
        assert isinstance(outcome, expected[ends]) if ends in expected else outcome is None, (ends, outcome)
    broken = sum(ends == "break" for _, ends in tasks)
    assert len(pids) <= size + broken
    assert len(saw) >= len(tasks) - broken
    assert {(who, Subject(row["tenant_id"], row["user_id"])) for who, row in saw} <= {(who, who) for who in PEOPLE}
    kept = rows(dsn, "SELECT tenant_id, user_id, count(*) - 1 AS many FROM sessions GROUP BY 1, 2")
    lasting = Counter(PEOPLE[at] for at, ends in tasks if ends == "commit")
    assert {Subject(row["tenant_id"], row["user_id"]): row["many"] for row in kept} == {
        who: lasting[who] for who in PEOPLE
    }
