"""The rate at which turns become durable: commit_turn in process and over HTTP, and plain SQL that
writes the same rows.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import orjson
import psycopg
import uvloop

from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.db import SCHEMA
from shared.runtime import Runtime
from shared.store import turns as store
from tests.bench import kit, talk
from tests.bench.http import Http
from tests.bench.kit import Load, Options, Report, Row

USERS = 500
ROUNDS = 3
AT_ONCE = 16
Body = Mapping[str, Any]

_SESSION = """INSERT INTO sessions AS s (tenant_id, user_id, session_id, next_seq) VALUES (%s, %s, %s, 2)
ON CONFLICT (tenant_id, user_id, session_id) DO UPDATE SET next_seq = s.next_seq + 1 RETURNING next_seq - 1"""
_TURN = """INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash,
event_id, trace_id, policy_version, said_at, result) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, now(), %s)"""
_EVENT = """INSERT INTO conversation_events (tenant_id, user_id, event_id, turn_id, session_id, ordinal,
event_type, role, content, said_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, now())"""
_OUTBOX = """INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
VALUES (%s, %s, %s, 'turn.committed', %s)"""


def run(options: Options) -> Report:
    """Turns per second, and milliseconds per turn."""
    with kit.machine(("compose",)) as machine:
        return uvloop.run(_measure_commits(machine, options))


async def _measure_commits(on: Supervisor, options: Options) -> Report:
    report = Report("commit")
    source = talk.turns(USERS, "commit")
    http = on.describe().http
    async with kit.runtime(on) as rt:
        for at_once, many in ((1, options.some(300)), (AT_ONCE, options.some(1600))):
            rounds = [await _round(rt, on.dsn, http, source, many, at_once) for _ in range(ROUNDS)]
            ours, function, bare, web = (kit.best(loads) for loads in zip(*rounds, strict=True))
            _tell(report, at_once, ours, function, bare, web)
    report.notes.append(f"best of {ROUNDS} rounds in turn; {USERS} users, two messages a turn; fsync on")
    report.notes.append("bare: BEGIN, 5 prepared INSERTs in turn, COMMIT, without row security, idempotency or order")
    return report


def _tell(report: Report, at_once: int, ours: Load, function: Load, bare: Load, web: Load) -> None:
    last = at_once == AT_ONCE
    target = 1500 if last else None
    report.rows.append(Row(f"commit_turn at {at_once}", ours.per_s, "turns/s", bare.per_s, target, ">="))
    if last:
        share = 100 * ours.per_s / bare.per_s
        report.rows.append(Row("share of bare SQL", share, "%", None, 50, ">="))
    report.rows.append(Row(f"commit_turn() alone, body prebuilt, at {at_once}", function.per_s, "turns/s", bare.per_s))
    report.rows.append(Row(f"POST /v1/turns at {at_once}", web.per_s, "turns/s", bare.per_s))
    report.latencies(f"commit_turn at {at_once}", ours, bare)
    report.latencies(f"POST /v1/turns at {at_once}", web, bare)


async def _round(
    rt: Runtime, dsn: str, http: str, source: Iterator[TurnEvents], many: int, at_once: int
) -> tuple[Load, Load, Load, Load]:
    ours = await kit.drive(kit.portions(source, many), lambda turn: commit_turn(turn, rt, transport="bench"), at_once)
    function = await _function(dsn, await _bodies(rt, kit.portions(source, many)), at_once)
    bare = await _measure_bare(dsn, await _bodies(rt, kit.portions(source, many)), at_once)
    return ours, function, bare, await _web(http, kit.portions(source, many), at_once)


async def _bodies(rt: Runtime, turns: Sequence[TurnEvents]) -> list[Body]:
    """The rows that commit_turn passes to the database for each turn, intercepted."""
    held: list[Body] = []

    async def hold(_: object, body: Body) -> tuple[str, dict[str, Any]]:
        held.append(body)
        return "repeated", body["result"]

    real, store.commit = store.commit, hold
    try:
        for turn in turns:
            await commit_turn(turn, rt, transport="bench")
    finally:
        store.commit = real
    return held


@asynccontextmanager
async def _connections(dsn: str, many: int):
    async with AsyncExitStack() as stack:
        free: asyncio.LifoQueue[psycopg.AsyncConnection] = asyncio.LifoQueue()
        for _ in range(many):
            conn = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
            await conn.execute(f"SET search_path = {SCHEMA}, public")
            free.put_nowait(await stack.enter_async_context(conn))
        yield free


async def _function(dsn: str, bodies: Sequence[Body], at_once: int) -> Load:
    said = [_json(body) for body in bodies]
    async with _connections(dsn, at_once) as free:

        async def call(body: str) -> None:
            conn = free.get_nowait()
            await conn.execute("SELECT commit_turn(%s::jsonb)", (body,), prepare=True)
            free.put_nowait(conn)

        return await kit.drive(said, call, at_once)


async def _measure_bare(dsn: str, bodies: Sequence[Body], at_once: int) -> Load:
    rows = [_rows(body) for body in bodies]
    async with _connections(dsn, at_once) as free:

        async def call(row: "tuple[tuple[str, ...], list[Any], list[tuple[Any, ...]], tuple[Any, ...]]") -> None:
            conn = free.get_nowait()
            session, turn, events, outbox = row
            async with conn.transaction():
                number = await (await conn.execute(_SESSION, session, prepare=True)).fetchone()
                await conn.execute(_TURN, [*turn[:4], number[0] if number else 0, *turn[4:]], prepare=True)
                for event in events:
                    await conn.execute(_EVENT, event, prepare=True)
                await conn.execute(_OUTBOX, outbox, prepare=True)
            free.put_nowait(conn)

        return await kit.drive(rows, call, at_once)


def _rows(body: Body) -> tuple[tuple[str, ...], list[Any], list[tuple[Any, ...]], tuple[Any, ...]]:
    who, session, turn = (body["tenant_id"], body["user_id"]), body["session_id"], body["turn_id"]
    told = [body[name] for name in ("idempotency_key", "request_hash", "event_id", "trace_id", "policy_version")]
    events = [
        (
            *who,
            e["event_id"],
            turn,
            session,
            e["ordinal"],
            e["event_type"],
            e["role"],
            orjson.dumps(e["content"]).decode(),
        )
        for e in body["events"]
    ]
    key = ":".join(who)
    outbox = (body["event_id"], body["topic"], key, _json(body["envelope"]))
    return (*who, session), [*who, turn, session, *told, _json(body["result"])], events, outbox


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


async def _web(url: str, turns: Sequence[TurnEvents], at_once: int) -> Load:
    said = [turn.model_dump_json(exclude_none=True).encode() for turn in turns]
    async with AsyncExitStack() as stack:
        free = [await stack.enter_async_context(Http(url)) for _ in range(at_once)]

        async def call(body: bytes) -> None:
            conn = free.pop()
            await conn.post("/v1/turns", body)
            free.append(conn)

        return await kit.drive(said, call, at_once)
