"""The delay of one tenant's outcomes during another tenant's flood, compared with an idle system."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import median
from uuid import UUID

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
"""Turns per second that the default policy permits one user and one key for long, each with a package and a query of
the outcome.
"""
BURST = 1000
FIRSTS = 12
BEHIND = 3
"""Turns that a tenant sends directly after its first."""
LEAST_UNDER_WAY = 700
"""Of 1,000: capacity is granted in quarters, and ends are published with a short delay."""
STOCK = 1300
PASSED_OVER_S = 5.0
MOST_RATIO = 1.5
PATIENCE_S = 30.0
_BETWEEN = """
SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY (
    SELECT count(*) FROM turns o WHERE o.tenant_id <> q.tenant_id AND o.outcome_at > q.committed_at
        AND o.outcome_at < coalesce(q.outcome_at, now())
)), 0) FROM turns q WHERE q.turn_id = ANY(%s)
"""


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
        floods = {f"{pace:g} turns/s of another": partial(_pace, rt, flood, pace) for pace in PACES}
        floods[f"{many} turns at once"] = partial(_burst, rt, flood, many)
        alone = [await quiet.measure(options.some(QUIET))]
        beside: list[_Beside] = []
        for begin in floods.values():
            await asyncio.sleep(rt.policy.delivery.tenant_about_s)  # then no worker expects it
            beside.append(await _measure_beside(begin, quiet, options.some(QUIET)))
            await quiet.wait_for_all()
            alone.append(await quiet.measure(options.some(QUIET)))
        firsts = await _firsts(rt, flood, quiet, options.some(FIRSTS))
    for what, found, around in zip(floods, beside, pairwise(alone), strict=True):
        without = _combine(around)
        report.latencies(f"commit -> outcome beside {what} (bare: alone)", found.load, without)
        ratio = found.load.ms(50) / without.ms(50)
        report.rows.append(Row(f"beside {what}: p50 in terms of alone", ratio, "times", None, MOST_RATIO))
        report.rows.append(Row(f"beside {what}: learnt before it, p50", found.before, "turns"))
        report.rows.append(Row(f"beside {what}: outcomes of the other meanwhile", found.other_per_s, "turns/s"))
    _tell_firsts(report, firsts)
    report.notes.append("alone: before and after each flood, for the machine is not always as quick")
    report.notes.append(f"the flood is of one tenant with {FLOOD_USERS} users; the quiet tenant waits for each outcome")
    report.notes.append("first: the tenant was silent until nobody reckoned with it, the other filled the workers;")
    report.notes.append("in turn with a first one alone, after the same silence")
    return report


def _tell_firsts(report: Report, found: "_Firsts") -> None:
    about = f"the first beside {min(found.under_way)} under way, {len(found.first)} times"
    cases = ((about, found.first, found.alone), ("those behind it", found.behind, found.alone_behind))
    for what, beside, alone in cases:
        ours, bare = _combine(beside), _combine(alone)
        report.latencies(f"{what} (bare: alone)", ours, bare, at=(50, 100))
        report.rows.append(Row(f"{what}: p50 in terms of alone", ours.ms(50) / bare.ms(50), "times", None, MOST_RATIO))
    report.rows.append(Row("the first: learnt before it, p50", median(found.before), "turns"))


def _combine(loads: Sequence[Load]) -> Load:
    return Load(tuple(took for load in loads for took in load.took), sum(load.elapsed for load in loads))


def _of_tenant(tenant_id: str, users: int) -> Iterator[TurnEvents]:
    return (turn.model_copy(update={"tenant_id": tenant_id}) for turn in talk.turns(users, tenant_id))


@dataclass(frozen=True)
class _Beside:
    """Durations of turns during a flood, and the number of flood turns with an outcome in that time.

    `before` is the number between commit and outcome of a turn, which other load on the machine does not increase.
    """

    load: Load
    before: int
    other_per_s: float


@dataclass
class _Firsts:
    """For each repetition, the duration of the first turn during a flood, of the turns directly
    after it, and without a flood.
    """

    alone: list[Load] = field(default_factory=list[Load])
    alone_behind: list[Load] = field(default_factory=list[Load])
    first: list[Load] = field(default_factory=list[Load])
    behind: list[Load] = field(default_factory=list[Load])
    before: list[int] = field(default_factory=list[int])
    under_way: list[int] = field(default_factory=list[int])


class _Quiet:
    """A tenant whose users send one turn after the other."""

    def __init__(self, rt: Runtime, turns: Iterator[TurnEvents], dsn: str) -> None:
        self._rt = rt
        self._turns = turns
        self._dsn = dsn
        self._measured: list[UUID] = []

    async def measure(self, many: int) -> Load:
        """The duration of each of the next turns until its outcome; fewer on timeout."""
        return await self.measure_each(self.draw(many))

    def draw(self, many: int) -> list[TurnEvents]:
        """The next turns of the tenant."""
        return kit.portions(self._turns, many)

    async def measure_each(self, turns: Sequence[TurnEvents]) -> Load:
        """The duration of each of these turns until its outcome; fewer on timeout.

        A turn without an outcome at the timeout counts with the time until then.
        """
        began = time.perf_counter()
        took: list[float] = []
        self._measured.clear()
        async with await self._connect() as conn:
            for turn in turns:
                committed = (await commit_turn(turn, self._rt, transport="bench")).result.turn_id
                self._measured.append(committed)
                began_at = time.perf_counter()
                await _wait(conn, "SELECT count(*) FROM turns WHERE turn_id = %s AND outcome_at IS NULL", committed)
                took.append(time.perf_counter() - began_at)
                if time.perf_counter() - began > PATIENCE_S:
                    break
                await asyncio.sleep(PAUSE_S)
        return Load(tuple(took), time.perf_counter() - began)

    async def wait_for_all(self) -> None:
        """Waits until all turns have their outcomes."""
        async with await self._connect() as conn:
            await _wait(conn, "SELECT count(*) FROM turns WHERE outcome_at IS NULL", patience_s=4 * PATIENCE_S)

    async def count_ended(self) -> int:
        """The number of turns with an outcome."""
        return await self._count("SELECT count(*) FROM turns WHERE outcome_at IS NOT NULL")

    async def count_between(self) -> int:
        """The median number of other tenants' turns observed between commit and outcome of a measured turn."""
        return await self._count(_BETWEEN, self._measured)

    async def wait_for_flood(self) -> int:
        """The number of flood turns that the workers hold."""
        under_way = "FROM turns_under_way WHERE tenant = 'flood' AND NOT ahead"
        async with await self._connect() as conn:
            await _wait(conn, f"SELECT count(*) < {LEAST_UNDER_WAY} {under_way}")
        return await self._count(f"SELECT count(*) {under_way}")

    async def let_flood_go(self) -> None:
        """Marks the rest of the flood as observed, so that the workers skip it and the next repetition starts soon."""
        async with await self._connect() as conn:
            await conn.execute("DELETE FROM event_outbox WHERE waits_for = 'flood'")
            await conn.execute(
                "UPDATE turns SET observed_at = now(), outcome_at = now()"
                " WHERE tenant_id = 'flood' AND outcome_at IS NULL"
            )
            await _wait(conn, "SELECT count(*) FROM turns_under_way WHERE tenant = 'flood'")
        await asyncio.sleep(PASSED_OVER_S)

    async def _count(self, statement: str, *values: object) -> int:
        async with await self._connect() as conn:
            row = await (await conn.execute(statement.encode(), values)).fetchone()
            return row[0] if row else 0

    async def _connect(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, options=f"-c search_path={SCHEMA}")


async def _wait(conn: psycopg.AsyncConnection, statement: str, *values: object, patience_s: float = PATIENCE_S) -> None:
    until = time.perf_counter() + patience_s
    while time.perf_counter() < until:
        row = await (await conn.execute(statement.encode(), values)).fetchone()
        if row and not row[0]:
            return
        await asyncio.sleep(0.005)


async def _measure_beside(flood: Callable[[], Awaitable[None]], quiet: _Quiet, many: int) -> _Beside:
    flooding = asyncio.ensure_future(flood())
    try:
        await asyncio.sleep(1.0)  # the flood has started
        before = await quiet.count_ended()
        load = await quiet.measure(many)
        ended = await quiet.count_ended() - before - len(load.took)
        return _Beside(load, await quiet.count_between(), ended / load.elapsed)
    finally:
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)


async def _firsts(rt: Runtime, flood: Iterator[TurnEvents], quiet: _Quiet, times: int) -> _Firsts:
    """The quiet tenant sends after a pause, alternately alone and during a flood that fills the workers.

    Both times its users say the same words, for a turn that leaves a memory takes longer than one that leaves none;
    another user has said them before, for words that were read once are read faster.
    """
    found = _Firsts()
    silence = rt.policy.delivery.tenant_about_s + 1.0
    for _ in range(times):
        turns = quiet.draw(1 + BEHIND)
        again = [_say_again(turn, "again") for turn in turns]
        await quiet.measure_each([_say_again(turn, "before") for turn in turns])
        await asyncio.sleep(silence)
        found.alone.append(await quiet.measure_each(turns[:1]))
        found.alone_behind.append(await quiet.measure_each(turns[1:]))
        silent = time.perf_counter()
        await _burst(rt, flood, STOCK)
        await asyncio.sleep(max(0.0, silence - (time.perf_counter() - silent)))
        found.under_way.append(await quiet.wait_for_flood())
        found.first.append(await quiet.measure_each(again[:1]))
        found.before.append(await quiet.count_between())
        found.behind.append(await quiet.measure_each(again[1:]))
        await quiet.let_flood_go()
    return found


def _say_again(turn: TurnEvents, when: str) -> TurnEvents:
    """The same words of another user."""
    other = {"user_id": f"{turn.user_id}-{when}", "idempotency_key": f"{turn.idempotency_key}-{when}"}
    return turn.model_copy(update=other)


async def _pace(rt: Runtime, turns: Iterator[TurnEvents], per_s: float) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    for turn in turns:
        await commit_turn(turn, rt, transport="bench")
        due += 1 / per_s
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _burst(rt: Runtime, turns: Iterator[TurnEvents], many: int) -> None:
    await kit.drive(kit.portions(turns, many), lambda turn: commit_turn(turn, rt, transport="bench"), 8)
