"""One tenant floods: how much later another's turns have their outcome than when that one is alone."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import psycopg
import uvloop

from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.db import SCHEMA
from shared.runtime import Runtime
from shared.settings import SERVICES
from tests.bench import kit, talk
from tests.bench.kit import Load, Options, Report, Row

QUIET = 80
PAUSE_S = 0.05
FLOOD_USERS = 200
PACES = (15.0, 60.0)
"""Turns a second of one user and of one key that the defaults of policy let through for long, each with a package and
a look at the outcome."""
BURST = 1000
MOST_RATIO = 1.5
PATIENCE_S = 30.0


def run(options: Options) -> Report:
    """Milliseconds from the commit of a quiet tenant's turn to its outcome."""
    with kit.machine(SERVICES) as machine:
        return uvloop.run(_measure(machine, options))


async def _measure(on: Supervisor, options: Options) -> Report:
    report = Report("fairness")
    many = options.some(BURST)
    async with kit.runtime(on) as rt:
        flood = _of_tenant("flood", FLOOD_USERS)
        quiet = _Quiet(rt, _of_tenant("quiet", 20), on.dsn)
        await quiet.measure(10)
        alone = await quiet.measure(options.some(QUIET))
        beside: dict[str, Load] = {}
        for pace in PACES:
            paced = partial(_pace, rt, flood, pace)
            beside[f"beside {pace:g} turns/s of another"] = await _beside(paced, quiet, options.some(QUIET))
            await quiet.wait_for_all()
        beside[f"beside {many} turns at once"] = await _beside(partial(_burst, rt, flood, many), quiet, 1)
    for what, load in beside.items():
        report.latencies(f"commit -> outcome {what} (bare: alone)", load, alone)
        report.rows.append(Row(f"{what}: p50 in terms of alone", load.ms(50) / alone.ms(50), "times", None, MOST_RATIO))
    report.notes.append(f"the flood is of one tenant with {FLOOD_USERS} users; the quiet tenant waits for each outcome")
    report.notes.append("a pace above what the machine learns from leaves a backlog, and everybody waits behind it")
    return report


def _of_tenant(tenant_id: str, users: int) -> Iterator[TurnEvents]:
    return (turn.model_copy(update={"tenant_id": tenant_id}) for turn in talk.turns(users, tenant_id))


class _Quiet:
    """A tenant whose users speak one after the other."""

    def __init__(self, rt: Runtime, turns: Iterator[TurnEvents], dsn: str) -> None:
        self._rt = rt
        self._turns = turns
        self._dsn = dsn

    async def measure(self, many: int) -> Load:
        """How long each of so many turns took to its outcome; fewer where it takes too long altogether.

        One that has none when patience ends counts as long as that.
        """
        began = time.perf_counter()
        took: list[float] = []
        async with await self._connect() as conn:
            for turn in kit.portions(self._turns, many):
                committed = (await commit_turn(turn, self._rt, transport="bench")).result.turn_id
                began_at = time.perf_counter()
                await _wait(conn, "SELECT count(*) FROM turns WHERE turn_id = %s AND outcome_at IS NULL", committed)
                took.append(time.perf_counter() - began_at)
                if time.perf_counter() - began > PATIENCE_S:
                    break
                await asyncio.sleep(PAUSE_S)
        return Load(tuple(took), time.perf_counter() - began)

    async def wait_for_all(self) -> None:
        """Every turn of everybody has its outcome."""
        async with await self._connect() as conn:
            await _wait(conn, "SELECT count(*) FROM turns WHERE outcome_at IS NULL", patience_s=4 * PATIENCE_S)

    async def _connect(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, options=f"-c search_path={SCHEMA}")


async def _wait(conn: psycopg.AsyncConnection, statement: str, *values: object, patience_s: float = PATIENCE_S) -> None:
    until = time.perf_counter() + patience_s
    while time.perf_counter() < until:
        row = await (await conn.execute(statement.encode(), values)).fetchone()
        if row and not row[0]:
            return
        await asyncio.sleep(0.005)


async def _beside(flood: Callable[[], Awaitable[None]], quiet: _Quiet, many: int) -> Load:
    flooding = asyncio.ensure_future(flood())
    try:
        await asyncio.sleep(1.0)  # the flood is under way
        return await quiet.measure(many)
    finally:
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)


async def _pace(rt: Runtime, turns: Iterator[TurnEvents], per_s: float) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    for turn in turns:
        await commit_turn(turn, rt, transport="bench")
        due += 1 / per_s
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _burst(rt: Runtime, turns: Iterator[TurnEvents], many: int) -> None:
    await kit.drive(kit.portions(turns, many), lambda turn: commit_turn(turn, rt, transport="bench"), 8)
