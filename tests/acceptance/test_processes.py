"""Processes die in every way: each acknowledged turn is there afterwards and derived, once."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from services.cli.supervisor import STOP_S, Supervisor
from shared.settings import Settings
from tests.system.databases import rows
from tests.system.processes import Machine, command, found, kill_tree, supervised
from tests.system.running import policy_file
from tests.system.wait import wait_for

SOON = {"redrive_after_s": 2.0, "redrive_every_s": 0.5}


class Load:
    """Turns that are committed as fast as they are answered, by several users at once."""

    def __init__(self, machine: Machine, users: int = 6) -> None:
        self._machine = machine
        self.acknowledged: set[str] = set()
        self._stopping = False
        self._mark = f"{time.time_ns():x}"
        self._tasks = [asyncio.create_task(self._one(f"{self._mark}-{n}")) for n in range(users)]

    async def _one(self, user_id: str) -> None:
        n = 0
        while not self._stopping:
            items = [{"type": "preference", "key": "pref:writing:tone", "value": f"tone-{n}"}]
            body = {"user_id": user_id, "session_id": "s", "items": items, "idempotency_key": f"{user_id}-{n}"}
            try:
                answer = await self._machine.http.post("/v1/turns", json=body)
            except httpx.HTTPError:
                await asyncio.sleep(0.02)
                continue
            if answer.status_code in (200, 201):
                self.acknowledged.add(answer.json()["turn_id"])
                n += 1

    async def reach(self, turns: int) -> None:
        """So many turns more have been acknowledged."""
        goal = len(self.acknowledged) + turns
        await wait_for(lambda: len(self.acknowledged) >= goal, 60, f"{turns} turns more")

    async def stop(self) -> None:
        """Nothing more is committed."""
        self._stopping = True
        await asyncio.gather(*self._tasks)


async def assert_everything_once(machine: Machine, load: Load) -> None:
    """No acknowledged turn is missing, every accepted one has its outcome, and each left exactly one memory."""
    accepted = await machine.settled()
    assert load.acknowledged <= accepted
    learnt = rows(machine.dsn, "SELECT user_id, version, value ->> 'value' AS tone FROM memory_items ORDER BY 1, 2")
    assert len(learnt) == len(accepted)
    assert all(row["tone"] == f"tone-{row['version'] - 1}" for row in learnt)
    outcomes = rows(machine.dsn, "SELECT outcome ->> 'status' AS status, count(*) AS n FROM turns GROUP BY 1")
    assert outcomes == [{"status": "derived", "n": len(accepted)}]


@pytest.fixture(scope="module")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Supervisor, Machine]]:
    """One system of processes for this module's tests; what one of them kills it brings back."""
    folder = tmp_path_factory.mktemp("machine")
    patch = pytest.MonkeyPatch()
    patch.setenv("SMARTBRAIN_POLICY", str(policy_file(folder, delivery=SOON)))
    settings = Settings(
        data=folder / "data", http_port=0, kafka_bootstrap=os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")
    )
    async with supervised(settings) as running:
        yield running
    patch.undo()


@pytest.mark.parametrize("names", [("observer", "analyzer", "evolver"), ("relay",)])
async def test_a_killed_worker_that_is_started_again_has_done_everything_once(
    machine: tuple[Supervisor, Machine], names: tuple[str, ...]
) -> None:
    supervisor, running = machine
    load = Load(running)
    await load.reach(30)
    for name in names:
        supervisor.processes[name].child.kill()
    await load.reach(30)
    for name in names:
        supervisor.launch(name)
    await load.reach(30)
    await load.stop()
    await assert_everything_once(running, load)


async def test_a_killed_database_keeps_every_acknowledged_turn(machine: tuple[Supervisor, Machine]) -> None:
    supervisor, running = machine
    assert supervisor.postgres
    load = Load(running)
    await load.reach(50)
    await asyncio.to_thread(supervisor.postgres.kill)
    await asyncio.to_thread(supervisor.postgres.start)
    await load.reach(50)
    await load.stop()
    await assert_everything_once(running, load)


async def test_a_worker_that_is_told_to_stop_ends_in_time_and_loses_nothing(
    machine: tuple[Supervisor, Machine],
) -> None:
    supervisor, running = machine
    load = Load(running)
    await load.reach(30)
    for name in ("observer", "analyzer", "evolver", "relay", "governor"):
        child = supervisor.processes[name].child
        began = time.monotonic()
        child.terminate()
        assert await asyncio.to_thread(child.wait, STOP_S) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < STOP_S
        supervisor.launch(name)
    await load.reach(30)
    await load.stop()
    await assert_everything_once(running, load)


async def test_a_machine_that_lost_its_power_derives_every_acknowledged_turn_once(tmp_path: Path) -> None:
    environment = {"SMARTBRAIN_POLICY": str(policy_file(tmp_path, delivery=SOON))}
    data = tmp_path / "data"
    with command(data, environment) as first:
        before = await found(data, first)
        load = Load(before)
        await load.reach(60)
        kill_tree(first.pid)
        await load.stop()
        await before.http.aclose()
    with command(data, environment) as second:
        after = await found(data, second)
        await assert_everything_once(after, load)
        more = Load(after)
        await more.reach(20)
        second.terminate()
        began = time.monotonic()
        assert await asyncio.to_thread(second.wait, 2 * STOP_S) == 0
        assert time.monotonic() - began < STOP_S
        await more.stop()
        await after.http.aclose()
    with command(data, environment) as third:
        last = await found(data, third)
        more.acknowledged |= load.acknowledged
        await assert_everything_once(last, more)
        await last.http.aclose()
