"""Processes die in every way: each acknowledged turn is there afterwards and derived, once."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator

import pytest

from services.cli.supervisor import STOP_S, Supervisor
from shared.settings import Settings
from tests.system.load import SOON, Load, assert_everything_once
from tests.system.processes import Machine, supervised
from tests.system.running import policy_file

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Supervisor, Machine]]:
    """One system of processes for this module's tests; what one of them kills it brings back."""
    folder = tmp_path_factory.mktemp("machine")
    patch = pytest.MonkeyPatch()
    patch.setenv("SMARTBRAIN_POLICY", str(policy_file(folder, delivery=SOON)))
    settings = Settings(data=folder / "data", http_port=0, kafka_bootstrap=os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"))
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
    for name in ("observer", "analyzer", "evolver", "relay"):
        child = supervisor.processes[name].child
        began = time.monotonic()
        child.terminate()
        assert await asyncio.to_thread(child.wait, STOP_S) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < STOP_S
        supervisor.launch(name)
    await load.reach(30)
    await load.stop()
    await assert_everything_once(running, load)
