"""The cost of row-level security for compose, and whether a large user changes what a small user finds."""

from collections.abc import Sequence

import psycopg
import uvloop
from psycopg import sql

from schemas.compose import ComposeRequest
from services.cli.supervisor import Supervisor
from shared.db import SCHEMA
from shared.runtime import Runtime
from tests.bench import kit, load, talk
from tests.bench.kit import Load, Options, Report, Row
from tests.system.composing import compose_package

QUESTIONS = 40
BLOCKS = 16
"""Blocks per state and concurrency, of one request per question: 640 requests per state."""
AT_ONCE = (1, 8)
POOL = 8
MOST = 1.10
SMALL = "user-7"
_POLICED = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relforcerowsecurity ORDER BY 1"
_OTHERS = "DELETE FROM {} WHERE user_id <> %s"


def run(options: Options) -> Report:
    """Milliseconds per package with row-level security on and off, in alternating blocks."""
    report = Report("isolation")
    own, total = (1_000, 20_000) if options.quick else (10_000, 200_000)
    with kit.machine(("compose",)) as machine:
        uvloop.run(load.load(machine.dsn, own, total))
        uvloop.run(_measure_isolation(machine, options, report))
    report.notes.append(f"{own} memories of the user among {total}, interleaved; {QUESTIONS} questions, half Chinese")
    report.notes.append("bare: the same with row-level security disabled on every table; blocks of 40 take turns")
    return report


async def _measure_isolation(on: Supervisor, options: Options, report: Report) -> None:
    questions = talk.questions(QUESTIONS)
    asked = [_make_request(load.USER, question) for question in questions]
    async with (
        kit.runtime(on, pool=POOL) as rt,
        await psycopg.AsyncConnection.connect(on.dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as owner,
    ):
        policed = [str(row[0]) for row in await (await owner.execute(_POLICED, (SCHEMA,))).fetchall()]
        with_rules = await _list_contents(rt, asked)
        for at_once in AT_ONCE[:1] if options.quick else AT_ONCE:
            with_, without = await _by_turns(rt, owner, policed, asked, options.some(BLOCKS), at_once)
            _tell(report, with_, without, at_once)
        await _switch(owner, policed, enabled=False)
        without_rules = await _list_contents(rt, asked)
        await _switch(owner, policed, enabled=True)
        same = sum(one == other for one, other in zip(with_rules, without_rules, strict=True))
        report.rows.append(Row("packages that are the same without it", 100 * same / QUESTIONS, "%", None, 100, ">="))
        await _compare_alone(rt, owner, questions, report)
    report.notes.append(f"{len(policed)} tables with row-level security")


def _make_request(user: str, question: str) -> ComposeRequest:
    return ComposeRequest.model_validate(
        {"user_id": user, "session_id": "bench-now", "user_message": question, "deadline_ms": 10_000}
    )


async def _list_contents(rt: Runtime, asked: Sequence[ComposeRequest]) -> list[list[str]]:
    """The contents of each package, in order; requested before measuring as a warm-up."""
    return [[each.id for each in (await compose_package(one, rt)).evidence] for one in asked]


async def _by_turns(
    rt: Runtime,
    owner: psycopg.AsyncConnection,
    policed: Sequence[str],
    asked: Sequence[ComposeRequest],
    blocks: int,
    at_once: int,
) -> tuple[list[Load], list[Load]]:
    """Blocks with row-level security and without; the last state of a pair begins the next pair."""
    taken: dict[bool, list[Load]] = {True: [], False: []}
    for pair in range(blocks):
        for enabled in (True, False) if pair % 2 else (False, True):
            await _switch(owner, policed, enabled=enabled)
            # statements are planned again on every connection
            await kit.drive(asked, lambda each: compose_package(each, rt), POOL)
            taken[enabled].append(await kit.drive(asked, lambda each: compose_package(each, rt), at_once))
    return taken[True], taken[False]


async def _switch(owner: psycopg.AsyncConnection, policed: Sequence[str], *, enabled: bool) -> None:
    async with owner.transaction():
        for name in policed:
            table = sql.Identifier(name)
            if enabled:
                await owner.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))
                await owner.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(table))
            else:
                await owner.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(table))


def _tell(report: Report, with_: Sequence[Load], without: Sequence[Load], at_once: int) -> None:
    ours, bare = _combine(with_), _combine(without)
    report.latencies(f"compose at {at_once} with row-level security (bare: without)", ours, bare)
    limit = MOST if at_once == 1 else None
    report.rows.append(Row(f"at {at_once}: times p95 without", ours.ms(95) / bare.ms(95), "x", None, limit))
    pairs = sorted(one.ms(95) / other.ms(95) for one, other in zip(with_, without, strict=True))
    report.rows.append(Row(f"at {at_once}: the same of neighbouring blocks, median", pairs[len(pairs) // 2], "x"))


def _combine(loads: Sequence[Load]) -> Load:
    return Load(tuple(took for load in loads for took in load.took), sum(load.elapsed for load in loads))


async def _compare_alone(rt: Runtime, owner: psycopg.AsyncConnection, questions: Sequence[str], report: Report) -> None:
    """The results of a small user among all others, and alone."""
    asked = [_make_request(SMALL, question) for question in questions]
    beside = await _list_contents(rt, asked)
    for table in load.LOADED.split(", "):
        await owner.execute(sql.SQL(_OTHERS).format(sql.Identifier(table)), (SMALL,))
    alone = await _list_contents(rt, asked)
    same = sum(one == other for one, other in zip(beside, alone, strict=True))
    assert any(beside), "the small user finds something"  # a bench without results measures nothing
    what = "a small user's packages that are the same alone"
    report.rows.append(Row(what, 100 * same / len(asked), "%", None, 100, ">="))
