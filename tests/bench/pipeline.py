"""Committed turns through relay, observer, analyzer and evolver: turns per second, and the CPU time of each stage."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
import uvloop

from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.db import SCHEMA
from shared.domain.subjects import Subject
from shared.extraction import ObserveContext, ObservePolicy, observe
from shared.extraction.turn_texts import turn_text
from shared.runtime import Runtime
from shared.settings import SERVICES
from shared.store import turns as store
from tests.bench import kit, process, talk
from tests.bench.kit import Options, Report, Row

CASES = ((1, 600), (20, 1500), (500, 2000))
PATIENCE_S = 90.0
WRITTEN = (
    "observations",
    "proposals",
    "memory_items",
    "memory_chunks",
    "entities",
    "entity_mentions",
    "session_summaries",
    "inbox",
)
RESIDENT: dict[str, tuple[float, float]] = {}
"""Current and peak resident MB of each process after the last run in this process."""


@dataclass(frozen=True)
class Case:
    """One run: the number of turns and users, the rate, and CPU milliseconds per turn by stage."""

    users: int
    turns: int
    per_s: float
    inner_per_s: float
    cpu_ms: Mapping[str, float]
    bare_per_s: float
    left: int


def run(options: Options) -> Report:
    """Turns per second from the start of the relay to the last outcome."""
    report = Report("pipeline")
    with kit.machine(SERVICES) as machine:
        cases = uvloop.run(_cases(machine, options, report))
        RESIDENT.update({name: process.resident_mb(pid) for name, pid in process.pids(machine).items()})
    for case in cases:
        of = f"{case.users} user{'s' if case.users > 1 else ''}"
        pace = case.per_s if not case.left else 0.0
        report.rows.append(Row(f"{case.turns} turns of {of}", pace, "turns/s", case.bare_per_s, 300, ">="))
        report.rows.append(Row(f"{of}: first to last outcome", case.inner_per_s, "turns/s"))
        report.rows.append(Row(f"{of}: CPU of all processes a turn", sum(case.cpu_ms.values()), "ms"))
        spent = ", ".join(f"{name} {ms:.2f}" for name, ms in case.cpu_ms.items() if ms >= 0.01)
        report.notes.append(f"{of}: CPU ms a turn: {spent}" + (f"; {case.left} TURNS UNFINISHED" if case.left else ""))
    report.notes.append("bare: all rows that the workers wrote, copied by INSERT ... SELECT into like tables")
    return report


async def _cases(on: Supervisor, options: Options, report: Report) -> list[Case]:
    async with (
        kit.runtime(on) as rt,
        await psycopg.AsyncConnection.connect(on.dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as conn,
    ):
        cases = [await _case(on, rt, conn, users, options.some(many)) for users, many in CASES]
        report.rows.append(Row("the reading rules alone, one core", await _rules_ms(rt, conn), "ms/turn"))
        report.notes.append(await _density(conn))
    return cases


async def _case(on: Supervisor, rt: Runtime, conn: psycopg.AsyncConnection, users: int, many: int) -> Case:
    relay = on.processes["relay"].child.pid
    await conn.execute("CHECKPOINT")
    os.kill(relay, signal.SIGSTOP)
    try:
        source = talk.turns(users, f"pipe{users}")
        await kit.drive(
            kit.portions(source, many), lambda turn: commit_turn(turn, rt, transport="bench"), min(16, users)
        )
        before = process.cpu_by_stage(on)
        before_rows = await _counts(conn)
    finally:
        os.kill(relay, signal.SIGCONT)
    began = await _now(conn)
    left = await _count_unfinished(conn)
    after = process.cpu_by_stage(on)
    first, last = await _span(conn, f"pipe{users}-%")
    cpu = {name: 1000 * (after[name] - before[name]) / many for name in after}
    bare = many / await _time_copy(conn, before_rows)
    inner = (many - 1) / max(0.001, last - first)
    return Case(users, many, many / (last - began), inner, cpu, bare, left)


async def _now(conn: psycopg.AsyncConnection) -> float:
    row = await (await conn.execute("SELECT extract(epoch FROM clock_timestamp())::float8")).fetchone()
    return row[0] if row else 0.0


async def _count_unfinished(conn: psycopg.AsyncConnection) -> int:
    """The number of turns without an outcome at the timeout."""
    until = time.monotonic() + PATIENCE_S
    while True:
        row = await (await conn.execute("SELECT count(*) FROM turns WHERE outcome_at IS NULL")).fetchone()
        left = row[0] if row else 0
        if not left or time.monotonic() > until:
            return left
        await asyncio.sleep(0.1)


async def _span(conn: psycopg.AsyncConnection, users: str) -> tuple[float, float]:
    cursor = await conn.execute(
        "SELECT extract(epoch FROM min(outcome_at))::float8, extract(epoch FROM max(outcome_at))::float8"
        " FROM turns WHERE user_id LIKE %s",
        (users,),
    )
    row = await cursor.fetchone()
    return (row[0], row[1]) if row else (0.0, 0.0)


async def _counts(conn: psycopg.AsyncConnection) -> dict[str, int]:
    return {table: (await _one(conn, f"SELECT count(*) FROM {table}")) for table in WRITTEN}  # noqa: S608 # constant names


async def _one(conn: psycopg.AsyncConnection, statement: str) -> int:
    row = await (await conn.execute(statement.encode())).fetchone()
    return row[0] if row else 0


async def _time_copy(conn: psycopg.AsyncConnection, before: Mapping[str, int]) -> float:
    """Seconds to write the rows of this case again, each table in one statement."""
    took = 0.0
    for table in WRITTEN:
        await conn.execute(f"CREATE UNLOGGED TABLE like_it (LIKE {table} INCLUDING ALL)".encode())
        await conn.execute("ALTER TABLE like_it SET LOGGED")
        fresh = await _one(conn, f"SELECT count(*) FROM {table}") - before[table]  # noqa: S608
        began = time.perf_counter()
        await conn.execute(f"INSERT INTO like_it SELECT * FROM {table} ORDER BY ctid DESC LIMIT {fresh}".encode())  # noqa: S608
        took += time.perf_counter() - began
        await conn.execute("DROP TABLE like_it")
    return took


async def _rules_ms(rt: Runtime, conn: psycopg.AsyncConnection) -> float:
    """CPU milliseconds of the rules on stored turns, the lower bound for any implementation around them."""
    cursor = await conn.execute("SELECT turn_id FROM turns WHERE user_id = 'pipe1-0' LIMIT 200")
    subject = Subject("default", "pipe1-0")
    async with rt.db.transaction(subject) as own:
        loaded = await store.load(own, subject, [row[0] for row in await cursor.fetchall()])
    texts = [(turn.said_at, turn_text(turn)) for turn in loaded]
    began = time.process_time()
    for said_at, text in texts:
        observe(text, ObserveContext(occurred_at=said_at, recent_mentions={}), ObservePolicy())
    return 1000 * (time.process_time() - began) / len(texts)


async def _density(conn: psycopg.AsyncConnection) -> str:
    turns = await _one(conn, "SELECT count(*) FROM turns")
    found = [f"{table} {n / turns:.2f}" for table, n in (await _counts(conn)).items()]
    return f"rows a turn: {', '.join(found)}"
