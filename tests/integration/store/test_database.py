"""The connection pools close at once, end with their task, and recover after a server restart."""

import asyncio
from pathlib import Path

from shared.db import Database
from shared.domain.subjects import Subject
from shared.embedded.postgres import EmbeddedPostgres
from shared.errors import TransientError
from shared.files import CACHE
from shared.store.schema import migrate
from tests.system.databases import number
from tests.system.wait import wait_for

NOBODY = Subject("t", "u")


async def test_the_pools_close_at_once_after_a_write(dsn: str) -> None:
    for _ in range(5):
        db = Database(dsn, size=2)
        await db.open()
        async with db.single() as conn:
            await conn.execute("SELECT 1")
        async with db.system() as conn:
            await conn.execute("SELECT 1")
        await asyncio.wait_for(db.close(), 60)


async def test_a_task_cancelled_during_a_statement_ends(dsn: str) -> None:
    db = Database(dsn, size=2)
    await db.open()

    async def work() -> None:
        while True:
            async with db.transaction(NOBODY) as conn:
                await conn.execute("SELECT 1")

    tasks = [asyncio.create_task(work()) for _ in range(2)]
    for n in range(20):
        await asyncio.sleep(0.0007 * n)  # cancelled at another point of the statement each time
        for task in tasks:
            task.cancel()
        _, alive = await asyncio.wait(tasks, timeout=30)
        for task in alive:
            task.cancel()
        assert not alive, "a cancellation was swallowed"
        tasks = [asyncio.create_task(work()) for _ in range(2)]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await db.close()


async def test_the_pools_recover_after_a_server_restart(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "pg", CACHE / "postgres", durable=False) as server:
        await migrate(server.dsn)
        db = Database(server.dsn, size=2)
        await db.open()
        await asyncio.to_thread(server.kill)

        async def is_refused() -> bool:
            try:
                async with db.transaction(NOBODY) as conn:
                    await conn.execute("SELECT 1")
            except TransientError:
                return not await db.ping()
            return False

        # server processes notice the shutdown one after the other
        await wait_for(is_refused, "no connection answers any more")
        await asyncio.to_thread(server.start)
        await wait_for(db.ping, "the pools are back")
        async with db.transaction(NOBODY) as conn:
            await conn.execute("SELECT 1")
        await db.close()


async def test_migrating_twice_changes_nothing(dsn: str) -> None:
    before = number(dsn, "SELECT count(*) FROM migrations")
    assert await migrate(dsn) == []
    assert number(dsn, "SELECT count(*) FROM migrations") == before


async def test_two_concurrent_migrations_apply_each_script_once(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "pg", CACHE / "postgres", durable=False) as server:
        applied = await asyncio.gather(*(migrate(server.dsn) for _ in range(4)))
        assert sum(bool(each) for each in applied) == 1
