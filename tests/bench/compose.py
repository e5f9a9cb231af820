"""compose_context on a large memory: in process, over HTTP and over Kafka, and its SQL statements alone."""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from unittest.mock import patch

import psycopg
import uvloop

from schemas.compose import ComposeRequest
from schemas.topics import DEGRADE
from services.cli.supervisor import Supervisor
from services.compose.context import search
from services.compose.context.pipeline import compose_context
from services.compose.intake.commit import commit_turn
from services.compose.receipts.recorder import Recorder
from services.evolver.embed import pack_some
from shared.bus.access import KafkaAccess
from shared.bus.requests import Asker
from shared.client import SmartBrain
from shared.domain.subjects import Subject
from shared.models.factory import make_models
from shared.models.none import NoModels
from shared.runtime import Runtime
from tests.bench import kit, load, replay, talk
from tests.bench.http import Http
from tests.bench.kit import Load, Options, Report, Row, T
from tests.ollama.server import vector
from tests.system.composing import compose_package

QUESTIONS = 40
ASKS = {1: 240, 8: 480, 32: 640}
IDLE_ASKS = 160
SESSION = "bench-now"


def run(options: Options) -> Report:
    """Milliseconds per package, with static vectors and with those of an encoder."""
    report = Report("compose")
    own, total = (1_000, 20_000) if options.quick else (10_000, 200_000)
    _with(None, own, total, options, report)
    vectors = uvloop.run(_vectors(options.embedding_dir))
    if options.embedding_dir:
        os.environ["SMARTBRAIN_EMBEDDING_DIR"] = str(options.embedding_dir)
    try:
        _with(vectors, own, total, options, report)
    finally:
        os.environ.pop("SMARTBRAIN_EMBEDDING_DIR", None)
    if not options.embedding_dir:
        report.notes.append("vectors: of hashed words, without an encoder's time; MODEL=folder measures with one")
    report.notes.append(f"{own} memories of the user among {total}, interleaved; {QUESTIONS} questions, half Chinese")
    report.notes.append("bare: the very statements of each package, in one transaction on one connection, nothing else")
    return report


class HashedWords(NoModels):
    """Replaces an encoder if none is given: vectors of the usual size at negligible cost."""

    embedding_model_id = "hashed-words@384"
    dimension = 384

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """Texts that share words have similar vectors."""
        del deadline_s
        return [vector(text, self.dimension) for text in texts]


async def _vectors(folder: str | None) -> tuple[str, list[list[float]]]:
    models = make_models(None, None, None, folder, 384, time.monotonic) if folder else HashedWords()
    texts = [fact.text for fact in talk.facts(load.POOL)]
    vectors = await models.embed(texts, deadline_s=120)
    await models.close()
    return str(models.embedding_model_id), [list(each) for each in vectors]


def _with(
    embedded: tuple[str, list[list[float]]] | None, own: int, total: int, options: Options, report: Report
) -> None:
    model_id, vectors = embedded or (None, None)
    with kit.machine(("compose",)) as machine:
        began = time.perf_counter()
        uvloop.run(load.load(machine.dsn, own, total, vectors, model_id))
        label = "vectors: " if embedded else ""
        report.notes.append(f"{label}loading took {time.perf_counter() - began:.0f} s")
        uvloop.run(_measure_packages(machine, options, report, label))


async def _measure_packages(on: Supervisor, options: Options, report: Report, label: str) -> None:
    asked = [_make_request(question) for question in talk.questions(QUESTIONS)]
    async with kit.runtime(on) as plain:
        rt = replace(plain, models=HashedWords()) if label and not options.embedding_dir else plain
        for turn in kit.portions(talk.turns(1, "window"), 12):
            own = turn.model_copy(update={"user_id": load.USER, "session_id": SESSION})
            await commit_turn(own, rt, transport="bench")
        async with rt.db.transaction(Subject("default", load.USER)) as conn:
            await conn.execute("UPDATE turns SET observed_at = now(), outcome_at = now(), outcome = '{}'")
        report.notes.append(f"{label}{await pack_some(rt)} users have pages of vectors")
        statements = await _statements(rt, asked)
        count = sum(map(len, statements)) / len(statements)
        report.notes.append(f"{label}{count:.1f} statements a package")
        direct = await _in_process(on, rt, asked, statements, options, report, label)
        await _measure_meaning(rt, asked, options, report, label)
        await _receipts(rt, asked, options, report, label)
    if label and not options.embedding_dir:
        return
    many = options.some(IDLE_ASKS)
    web, kafka, echo = await _http(on, asked, many), await _kafka(on, asked, many), await _echo(on, asked, many)
    report.latencies(f"{label}POST /v1/context at 1 (bare: in process)", web, direct)
    report.latencies(f"{label}Kafka request/reply at 1 (bare: echo)", kafka, echo)
    added = kafka.ms(50) - direct.ms(50)
    report.rows.append(Row(f"{label}added by Kafka, p50 (bare: echo)", added, "ms", echo.ms(50), 3))


def _make_request(question: str) -> ComposeRequest:
    return ComposeRequest.model_validate(
        {"user_id": load.USER, "session_id": SESSION, "user_message": question, "deadline_ms": 10_000}
    )


async def _statements(rt: Runtime, asked: Sequence[ComposeRequest]) -> list[list[replay.Statement]]:
    """The SQL statements of each question, recorded after a warm-up request."""
    found: list[list[replay.Statement]] = []
    for each in asked:
        await compose_package(each, rt)
        with replay.taken_down() as heard:
            await compose_package(each, rt)
        found.append(heard)
    return found


async def _in_process(
    on: Supervisor,
    rt: Runtime,
    asked: Sequence[ComposeRequest],
    statements: Sequence[Sequence[replay.Statement]],
    options: Options,
    report: Report,
    label: str,
) -> Load:
    """The load at concurrency 1; compose and the plain statements alternate twice, half a turn each."""
    limits = {} if label else {1: (8, 15, None), 8: (None, 40, None)}
    alone: Load | None = None
    for at_once, most in ASKS.items():
        many = options.some(most) // 2
        ours, bare = [], []
        for _ in range(2):
            ours.append(await kit.drive(_cycle(asked, many), lambda each: compose_package(each, rt), at_once))
            bare.append(await _measure_bare(on.dsn, _cycle(statements, many), at_once))
        mine, sql = kit.best(ours), kit.best(bare)
        alone = alone or mine
        report.latencies(f"{label}in process at {at_once}", mine, sql, (50, 95, 99), limits.get(at_once, ()))
        if at_once == 1:
            ratio = mine.ms(50) / sql.ms(50)
            limit = None if label else 2.5
            report.rows.append(Row(f"{label}in process at 1: times its bare SQL, p50", ratio, "x", None, limit))
    assert alone
    return alone


async def _measure_meaning(
    rt: Runtime, asked: Sequence[ComposeRequest], options: Options, report: Report, label: str
) -> None:
    """The cost of search by meaning per package: blocks of requests without and with it alternate."""
    many, by_words, whole = _cycle(asked, options.some(160) // 4), [], []
    for _ in range(8):
        with patch.object(search, "_vector_arms", lambda *_: iter(())):
            by_words.append(await kit.drive(many, lambda each: compose_context(each, rt), 1))
        whole.append(await kit.drive(many, lambda each: compose_context(each, rt), 1))
    without, added = median(by_words), median(whole) - median(by_words)
    what = "an encoder's vectors" if label else "static vectors"
    limit = None if label else 2
    report.rows.append(Row(f"{label}added by {what} at 1, p50 (bare: by words alone)", added, "ms", without, limit))


async def _receipts(rt: Runtime, asked: Sequence[ComposeRequest], options: Options, report: Report, label: str) -> None:
    """The cost of recording a package for the next ones: blocks of requests without and with it alternate."""
    many, plain, noted = _cycle(asked, options.some(160) // 4), [], []
    async with Recorder(rt.db, rt.policy, rt.version) as recorder:

        async def recorded(each: ComposeRequest) -> None:
            await recorder.note(await compose_context(each, rt))

        for _ in range(8):
            plain.append(await kit.drive(many, lambda each: compose_context(each, rt), 1))
            noted.append(await kit.drive(many, recorded, 1))
            await recorder.wait_until_recorded(Subject("default", load.USER), SESSION)
    without, added = median(plain), median(noted) - median(plain)
    report.rows.append(Row(f"{label}added by receipts at 1, p50 (bare: without)", added, "ms", without, 1))


def median(loads: Sequence[Load]) -> float:
    """The median of all calls in milliseconds."""
    return 1000 * statistics.median(took for load in loads for took in load.took)


def _cycle(of: Sequence[T], many: int) -> list[T]:
    return [of[n % len(of)] for n in range(many)]


async def _measure_bare(dsn: str, jobs: Sequence[Sequence[replay.Statement]], at_once: int) -> Load:
    async with AsyncExitStack() as stack:
        free: list[psycopg.AsyncConnection] = []
        for _ in range(at_once):
            free.append(await stack.enter_async_context(await replay.connection(dsn)))
        for conn in free[:4]:
            for job in jobs[:8]:
                await replay.replay(conn, "default", load.USER, job)

        async def call(job: Sequence[replay.Statement]) -> None:
            conn = free.pop()
            await replay.replay(conn, "default", load.USER, job)
            free.append(conn)

        return await kit.drive(jobs, call, at_once)


async def _http(on: Supervisor, asked: Sequence[ComposeRequest], many: int) -> Load:
    bodies = [each.model_dump_json().encode() for each in asked]
    async with Http(on.describe().http) as web:
        return await _measure_warm(bodies, many, lambda body: web.post("/v1/context", body))


async def _kafka(on: Supervisor, asked: Sequence[ComposeRequest], many: int) -> Load:
    async with SmartBrain(on.bootstrap) as brain:
        return await _measure_warm(
            [each.user_message.content for each in asked],
            many,
            lambda text: brain.compose(
                user_id=load.USER, session_id=SESSION, user_message=text, deadline_ms=10_000, timeout_s=20
            ),
        )


async def _echo(on: Supervisor, asked: Sequence[ComposeRequest], many: int) -> Load:
    """A Replier in its own process that returns the request."""
    bodies = [each.model_dump_json().encode() for each in asked]
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.bench.echo", on.bootstrap)
    asker = Asker(KafkaAccess(on.bootstrap))
    await asker.start()
    try:
        await asker.ask(DEGRADE, b"ready?", timeout_s=20)
        return await _measure_warm(bodies, many, lambda body: asker.ask(DEGRADE, body))
    finally:
        await asker.stop()
        child.terminate()
        await child.wait()


async def _measure_warm(jobs: Sequence[T], many: int, call: Callable[[T], Awaitable[object]]) -> Load:
    await kit.drive(_cycle(jobs, 20), call, 1)
    return await kit.drive(_cycle(jobs, many), call, 1)
