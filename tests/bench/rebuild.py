"""One user's turns through the workers, then a rebuild from the log: both rates, and the differences."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Iterator

import psycopg

from schemas.turn_events import TurnEvents
from services.cli.rebuild.run import rebuild
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.db import SCHEMA
from shared.domain.subjects import Subject
from shared.settings import SERVICES
from tests.bench import kit, talk
from tests.bench.kit import Options, Report, Row

TURNS = 10_000
CORRECTED = 20
"""The number of turns between two corrections."""
USER = "rebuilt"
PATIENCE_S = 600.0
_CORRECTIONS = (
    "No, I no longer like {food}.",
    "That is wrong, I live in {city} now, not in {city}.",
    "不对，我现在住在{市}，不住{市}了。",
    "我不再喜欢{食}了。",
    "不是{食}，我现在喜欢{好}。",
)


def run(options: Options) -> Report:
    """Turns per second of both; the rebuild must reach half the live rate and find no difference."""
    report = Report("rebuild")
    with kit.machine(SERVICES) as machine:
        asyncio.run(_measure_rebuild(machine, options.some(TURNS), report))
    return report


def turns(many: int) -> Iterator[TurnEvents]:
    """Statements of one user in both languages, with corrections."""
    dice = random.Random(5)
    for n, turn in zip(range(many), talk.turns(1, USER), strict=False):
        if n % CORRECTED < CORRECTED - 1:
            yield turn
            continue
        message = turn.messages[0].model_copy(update={"content": talk.filled(dice.choice(_CORRECTIONS), dice)})
        yield turn.model_copy(update={"messages": (message, *turn.messages[1:])})


async def _measure_rebuild(on: Supervisor, many: int, report: Report) -> None:
    async with (
        kit.runtime(on) as rt,
        await psycopg.AsyncConnection.connect(on.dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as conn,
    ):
        relay = on.processes["relay"].child.pid
        os.kill(relay, signal.SIGSTOP)
        try:
            await kit.drive(list(turns(many)), lambda turn: commit_turn(turn, rt, transport="bench"), 1)
        finally:
            os.kill(relay, signal.SIGCONT)
        began = time.monotonic()
        left = await _count_unfinished(conn)
        live = many / (time.monotonic() - began)
        subject = Subject("default", f"{USER}-0")
        found = await rebuild(on.dsn, rt.settings, rt.policy, subject, apply=False, say=lambda *_: None)
    again = many / found.took_s
    report.rows.append(Row("turns through the workers", live, "turns/s"))
    report.rows.append(Row("the same turns derived anew", again, "turns/s", live))
    report.rows.append(Row("pace of the rebuild to that of the workers", again / live, "", limit=0.5, kind=">="))
    report.rows.append(Row("fields that differ", len(found.differences), "", limit=0))
    report.rows.append(Row("turns without an outcome", left, "", limit=0))
    report.notes.append(
        f"{found.turns} turns, {found.observations} observations, {found.memories} versions of memories"
        + "".join(f"; {name} {took:.1f} s" for name, took in found.phases.items())
    )
    for each in found.differences[:20]:
        report.notes.append(f"{each.memory_id} {each.field}: {each.live!r:.60} / {each.rebuilt!r:.60}")


async def _count_unfinished(conn: psycopg.AsyncConnection) -> int:
    """The number of turns without an outcome at the timeout."""
    until = time.monotonic() + PATIENCE_S
    while True:
        row = await (await conn.execute("SELECT count(*) FROM turns WHERE outcome_at IS NULL")).fetchone()
        left = row[0] if row else 0
        if not left or time.monotonic() > until:
            return left
        await asyncio.sleep(0.1)
