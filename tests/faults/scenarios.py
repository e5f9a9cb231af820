"""The faults: each is applied to a system under load and is over when its function returns.

A fault can return a check, which runs once the system is idle.
"""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import get_args

from schemas.topics import MEMORY_CHANGED, TURN_OUTCOME
from shared import clock
from shared.settings import SERVICES
from tests.faults import delivered, redriven, written
from tests.faults.disk import fill
from tests.faults.judge import Figures, ask
from tests.faults.load import Codec, Load
from tests.faults.rig import Rig, paused
from tests.long import often
from tests.ollama.server import Mode
from tests.system.kafka import read
from tests.system.wait import wait_for

Check = Callable[[Figures], Awaitable[None]]
Fault = Callable[[Rig, Load, random.Random], Awaitable[Check | None]]
HOUR_S = 3600
GATHERED_S = 1.5
"""The time in which work accumulates before its worker is killed, so that the kill occurs in the middle."""
SESSION_S = 10.0
"""The time after which the broker reassigns the partitions of a silent consumer."""


@dataclass(frozen=True)
class Scenario:
    """A fault, and its load."""

    name: str
    fault: Fault
    over_kafka: bool = True
    codecs: tuple[Codec, ...] = (None,)


async def kill_service(rig: Rig, load: Load, dice: random.Random, *, service: str) -> Check | None:
    """Kills at a random moment of accumulated work; a long run repeats it, whether or not the process is back."""
    del load
    check = None
    if service == "erasure":
        check = await written.ask_for_erasures(rig)
    elif service == "librarian":
        check = await written.cite_pages(rig)
    for _ in range(often(8, short=1)):
        await wait_for(lambda: rig.supervisor.processes[service].child.poll() is None, f"{service} is started")
        await asyncio.sleep(dice.uniform(0, 1))
        with paused(rig.supervisor.processes[service].child.pid):
            await asyncio.sleep(GATHERED_S)
        await asyncio.sleep(dice.uniform(0, 0.3))
        await rig.kill(service)
    return check


async def kill_database(rig: Rig, load: Load, dice: random.Random) -> None:
    """Kills the postmaster, as the kernel does when memory is exhausted."""
    for _ in range(often(5, short=1)):
        await load.reach(4)
        await asyncio.sleep(dice.uniform(0, 1))
        os.kill(rig.postgres.pid, signal.SIGKILL)


async def restart_database(rig: Rig, load: Load, dice: random.Random) -> None:
    """Stops and restarts it, as for an upgrade."""
    del load
    await asyncio.sleep(dice.uniform(0, 1))
    async with rig.unwatched():
        await asyncio.to_thread(rig.postgres.stop)
        await asyncio.to_thread(rig.postgres.start)


async def kill_broker(rig: Rig, load: Load, dice: random.Random) -> None:
    """Kills the broker; its log remains."""
    for _ in range(often(5, short=1)):
        await load.reach(4)
        await asyncio.sleep(dice.uniform(0, 1))
        os.kill(rig.broker.pid, signal.SIGKILL)


async def wipe_broker(rig: Rig, load: Load, dice: random.Random) -> None:
    """Deletes all broker data, with unread turns: topics, records, offsets."""
    await asyncio.sleep(dice.uniform(0, 1))
    with paused(rig.supervisor.processes["observer"].child.pid):
        await load.reach(8)
        await rig.wipe_broker()


async def pause_broker(rig: Rig, load: Load, dice: random.Random) -> None:
    """The broker does not respond for a while."""
    del load
    await asyncio.sleep(dice.uniform(0, 1))
    with paused(rig.broker.pid):
        await asyncio.sleep(often(30, short=5))


async def set_clocks_wrong(rig: Rig, load: Load, dice: random.Random) -> Check:
    """One worker's clock is an hour fast, another's an hour slow."""
    del dice
    wrong = {"observer": HOUR_S, "evolver": -HOUR_S}
    rig.supervisor.clocks = wrong
    await rig.restart(*wrong)
    await wait_for(rig.whole, "every service is ready, two of them at the wrong time")
    await load.reach(often(200, short=10))
    rig.supervisor.clocks = {}
    await rig.restart(*wrong)

    async def check(figures: Figures) -> None:
        told = [record.envelope for record in await read(rig.bootstrap, MEMORY_CHANGED.name, TURN_OUTCOME.name)]
        if not any(abs(clock.now() - event.occurred_at) > timedelta(seconds=HOUR_S / 2) for event in told):
            figures.problems.append("no event was written at the wrong time")

    return check


async def fill_disk(rig: Rig, load: Load, dice: random.Random) -> Check:
    """Fills the disk of the database completely."""
    del load, dice
    refused = 0
    filler = fill(rig.supervisor.data / "disk")
    try:
        for _ in range(300):
            if not ask(rig, "SELECT pg_logical_emit_message(true, 'faults', repeat(md5(random()::text), 32768))"):
                refused += 1
                break
        await asyncio.sleep(often(30, short=4))
    finally:
        filler.unlink()

    async def check(figures: Figures) -> None:
        if not refused:
            figures.problems.append("the disk was never full")

    return check


async def slow_model(rig: Rig, load: Load, dice: random.Random) -> None:
    """A model that is slow to answer."""
    del dice
    rig.ollama.slow_s = often(30, short=5)
    rig.ollama.script("slow")
    await load.reach(often(200, short=10))
    rig.ollama.script("well")


async def malformed_model(rig: Rig, load: Load, dice: random.Random) -> None:
    """A model with every kind of invalid answer, one after the other."""
    modes = [mode for mode in get_args(Mode) if mode not in ("well", "slow")]
    for mode in dice.sample(modes, len(modes)):
        rig.ollama.script(mode)
        await load.reach(often(30, short=3))
    rig.ollama.script("well")


async def freeze_worker(rig: Rig, load: Load, dice: random.Random) -> Check:
    """A worker is suspended for longer than its session; a second instance takes over, then the worker continues."""
    rig.supervisor.twins = {"evolver-2": "evolver"}
    await rig.restart("evolver-2")
    await wait_for(rig.whole, "the twin is ready", 40)
    await load.reach(4)
    await asyncio.sleep(dice.uniform(0, 1))
    with paused(rig.supervisor.processes["evolver"].child.pid):
        await asyncio.sleep(SESSION_S + often(20, short=3))

    async def check(figures: Figures) -> None:
        del figures
        await rig.dismiss("evolver-2")

    return check


SCENARIOS = (
    *(Scenario(f"kill-{name}", partial(kill_service, service=name)) for name in SERVICES),
    Scenario("kill-database", kill_database),
    Scenario("restart-database", restart_database),
    Scenario("kill-broker", kill_broker),
    Scenario("wipe-broker", wipe_broker, over_kafka=False),
    Scenario("pause-broker", pause_broker),
    Scenario("wrong-clocks", set_clocks_wrong),
    Scenario("full-disk", fill_disk),
    Scenario("slow-model", slow_model),
    Scenario("malformed-model", malformed_model),
    Scenario("poison", delivered.poison),
    Scenario("codecs", delivered.compress, codecs=delivered.CODECS),
    Scenario("duplicates", delivered.duplicate),
    Scenario("freeze-worker", freeze_worker),
    Scenario("kill-redrive", redriven.kill_redrives),
)
