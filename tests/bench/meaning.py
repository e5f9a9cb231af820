"""The cost of search by meaning for a user with many memories: the same questions without and with it."""

import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from unittest.mock import patch

import psycopg
import uvloop

from schemas.compose import ComposeRequest
from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.context import search
from services.compose.context.pipeline import compose_context
from services.compose.intake.commit import commit_turn
from services.evolver.embed import pack_some
from services.observer.rows import to_chunks
from shared.db import SCHEMA
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import chunks, turn_states, turns
from tests.bench import kit, load, talk
from tests.bench.compose import QUESTIONS, SESSION
from tests.bench.kit import Options, Report, Row

SIZE = 10_000
ROUNDS = 12
ADDED_MS = 2
"""Milliseconds that static vectors may add to a package."""
CORPUS = Path(__file__).parents[1] / "training" / "corpus"
OTHERS = 5
"""The number of other users' rows for each row of the user."""
WHO = Subject("default", load.USER)


def run(options: Options) -> Report:
    """Milliseconds per package and processor milliseconds in this process, for memories and for conversations."""
    report = Report("meaning")
    size = options.size or (1_000 if options.quick else SIZE)
    for what in ("memories", "messages"):
        with kit.machine(("compose",)) as machine:
            if what == "memories":
                uvloop.run(load.load(machine.dsn, size, size * OTHERS))
            uvloop.run(_measure(machine, what, size, options, report))
    report.notes.append("bare: by words alone, the same questions in the same run, by turns; medians of the questions'")
    return report


async def _measure(on: Supervisor, what: str, size: int, options: Options, report: Report) -> None:
    async with kit.runtime(on) as rt:
        questions = talk.questions(QUESTIONS)
        if what == "messages":
            await _tell(rt, size)
            questions = list(islice((text for text in _natural() if text.rstrip().endswith(("?", "？"))), QUESTIONS))
        await _settle(rt, on.dsn)
        asked = [_make_request(each) for each in questions]
        took, cpu, shown = await _ask(rt, asked, options.some(ROUNDS))
        for name, of, limit in (("a package", took, ADDED_MS), ("CPU of it", cpu, None)):
            words, whole = (statistics.median(of[by]) for by in ("words", "whole"))
            report.rows.append(Row(f"{what}: {name} with static vectors", whole, "ms", words))
            report.rows.append(Row(f"{what}: {name}, added by static vectors", whole - words, "ms", None, limit))
        many = " and ".join(f"{statistics.mean(shown[by]):.1f} {by}" for by in ("words", "whole"))
        report.notes.append(f"{what}: {size} of the user; evidence in a package: {many}")


async def _ask(rt: Runtime, asked: list[ComposeRequest], rounds: int) -> tuple[dict[str, list[float]], ...]:
    """For each configuration the median of each question: milliseconds, processor milliseconds, and
    the amount of evidence.
    """
    seen: dict[tuple[str, int], list[tuple[float, float, float]]] = defaultdict(list)
    for number in range(rounds + 2):
        for by in ("words", "whole"):
            for n, each in enumerate(asked):
                began, before = time.perf_counter(), time.process_time()
                if by == "words":
                    with patch.object(search, "_vector_arms", lambda *_: iter(())):
                        made = await compose_context(each, rt)
                else:
                    made = await compose_context(each, rt)
                busy, took = time.process_time() - before, time.perf_counter() - began
                if number > 1:  # the caches are warm
                    seen[by, n].append((took * 1000, busy * 1000, len(made.package.evidence)))
    return tuple(
        {
            by: [statistics.median(row[part] for row in seen[by, n]) for n in range(len(asked))]
            for by in ("words", "whole")
        }
        for part in range(3)
    )


def _make_request(question: str) -> ComposeRequest:
    return ComposeRequest.model_validate(
        {"user_id": load.USER, "session_id": SESSION, "user_message": question, "deadline_ms": 10_000}
    )


def _natural() -> Iterator[str]:
    """Natural lines, alternating between both languages."""
    for pair in zip(*(_lines(CORPUS / f"natural_{language}.jsonl") for language in ("en", "zh")), strict=False):
        yield from pair


def _lines(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


async def _tell(rt: Runtime, size: int) -> None:
    """This many messages, two per turn and twenty turns per session, indexed as the observer leaves them."""
    lines = (f"{text} #{n}" for n, text in enumerate(islice(cycle(_natural()), size)))
    at_once = asyncio.Semaphore(4)

    async def commit(n: int, said: str, answered: str) -> None:
        messages = [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]
        turn = {"user_id": load.USER, "session_id": f"s-{n // 20}", "idempotency_key": f"n-{n}", "messages": messages}
        async with at_once:
            await commit_turn(TurnEvents.model_validate(turn), rt, transport="bench")

    await asyncio.gather(*(commit(n, *pair) for n, pair in enumerate(zip(lines, lines, strict=False))))
    while True:
        (waiting,) = await rt.db.read(WHO, turns.load_pending(WHO, 200))
        if not waiting:
            return
        async with rt.db.transaction(WHO) as conn:
            await chunks.put(conn, WHO, [each for turn in waiting for each in to_chunks(turn)])
            await turn_states.finish(conn, WHO, {turn.turn_id: {} for turn in waiting})


async def _settle(rt: Runtime, dsn: str) -> None:
    """Everything is old, its vectors are packed, and a session is active."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as conn:
        await conn.execute("UPDATE memory_chunks SET created_at = created_at - interval '1 hour'")
        for turn in kit.portions(talk.turns(1, "window"), 12):
            own = turn.model_copy(update={"user_id": load.USER, "session_id": SESSION})
            await commit_turn(own, rt, transport="bench")
        await conn.execute("UPDATE turns SET observed_at = now(), outcome_at = now(), outcome = '{}'")
        await pack_some(rt)
        await conn.execute("VACUUM ANALYZE")
