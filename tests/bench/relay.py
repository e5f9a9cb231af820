"""The rate at which rows leave the outbox, compared with producing the same bytes and deleting the
same rows; latency.
"""

import asyncio
import time
from collections.abc import Sequence

import orjson
import psycopg
import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas.topics import TURN_COMMITTED
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from services.relay.handler import AheadNotice, Shards, relay_once
from services.relay.publisher import Publisher
from shared import clock
from shared.db import SCHEMA
from shared.runtime import Runtime
from shared.store import outbox
from tests.bench import kit, talk
from tests.bench.kit import Load, Options, Report, Row

KEYS = 1000
ROWS = 50_000
PAUSE_S = 0.03

_FILL = """
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
SELECT gen_random_uuid(), o.aggregatetype, 'default:relay-' || n %% %(keys)s, o.type,
    o.payload || jsonb_build_object('event_id', gen_random_uuid(), 'user_id', 'relay-' || n %% %(keys)s)
FROM generate_series(1, %(rows)s) AS n, (SELECT * FROM model_row) AS o
"""
_TAKE = "SELECT position, aggregateid, payload::text FROM event_outbox ORDER BY position LIMIT %s"
_DELETE = "DELETE FROM event_outbox WHERE position = ANY(%s)"


def run(options: Options) -> Report:
    """Rows per second of a full outbox, then milliseconds from commit to consumer of an idle one."""
    report = Report("relay")
    with kit.machine(()) as machine:
        uvloop.run(_throughput(machine, options, report))
    with kit.machine(("relay",)) as machine:
        uvloop.run(_measure_latency(machine, options, report))
    return report


async def _throughput(on: Supervisor, options: Options, report: Report) -> None:
    rows = options.some(ROWS)
    async with (
        kit.runtime(on) as rt,
        await psycopg.AsyncConnection.connect(on.dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as conn,
    ):
        await commit_turn(next(talk.turns(1, "relay")), rt, transport="bench")
        await conn.execute("CREATE TEMP TABLE model_row AS SELECT aggregatetype, type, payload FROM event_outbox")
        ours, deleted, produced = [], [], []
        batch = rt.policy.delivery.relay_batch
        for _ in range(2):
            await _fill(conn, rows)
            ours.append(await _measure_drain(rt))
            await _fill(conn, rows)
            took, sent = await _bare_sql(conn, batch)
            deleted.append(took)
            produced.append(await _bare_kafka(on.bootstrap, sent, batch))
    fastest, sql, kafka = kit.best(ours).per_s, kit.best(deleted).per_s, kit.best(produced).per_s
    report.rows += [
        Row("outbox drained, bare = bare SELECT + DELETE", fastest, "rows/s", sql, 20_000, ">="),
        Row("outbox drained, bare = aiokafka produce alone", fastest, "rows/s", kafka),
        Row("outbox drained, bare = both in turn", fastest, "rows/s", 1 / (1 / sql + 1 / kafka)),
    ]
    size = sum(len(value) for _, value in sent) / len(sent)
    report.notes.append(f"{rows} rows of {size:.0f} bytes over {KEYS} keys, batches of {batch}, best of 2; fsync on")


async def _fill(conn: psycopg.AsyncConnection, rows: int) -> None:
    await conn.execute("TRUNCATE event_outbox")
    await conn.execute(_FILL, {"keys": KEYS, "rows": rows})
    await conn.execute("VACUUM ANALYZE event_outbox")
    await conn.execute("CHECKPOINT")


async def _measure_drain(rt: Runtime) -> Load:
    publisher = Publisher(rt.kafka)
    await publisher.start()
    moved = 0
    async with rt.db.hold_connection() as conn:
        shards = Shards(clock.uuid7())
        await shards.balance(conn)
        policy = rt.policy.delivery
        notice = AheadNotice(rt.db, policy.others_first_s)
        began = time.perf_counter()
        while some := (await relay_once(conn, publisher, sorted(shards.owned), policy, notice)).rows:
            moved += some
        elapsed = time.perf_counter() - began
        await outbox.leave(conn, shards.member)
    await publisher.stop()
    return Load((elapsed / moved,) * moved, elapsed)


async def _bare_sql(conn: psycopg.AsyncConnection, batch: int) -> tuple[Load, list[tuple[bytes, bytes]]]:
    sent: list[tuple[bytes, bytes]] = []
    began = time.perf_counter()
    while True:
        async with conn.transaction():
            found = await (await conn.execute(_TAKE, (batch,), prepare=True)).fetchall()
            await conn.execute(_DELETE, ([row[0] for row in found],), prepare=True)
        if not found:
            break
        sent += [(row[1].encode(), row[2].encode()) for row in found]
    elapsed = time.perf_counter() - began
    return Load((elapsed / len(sent),) * len(sent), elapsed), sent


async def _bare_kafka(bootstrap: str, sent: Sequence[tuple[bytes, bytes]], batch: int) -> Load:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap, acks="all", enable_idempotence=True, linger_ms=0, max_batch_size=262_144
    )
    await producer.start()
    began = time.perf_counter()
    for at in range(0, len(sent), batch):
        waiting = [await producer.send(TURN_COMMITTED.name, v, key=k) for k, v in sent[at : at + batch]]
        for each in waiting:
            await each
    elapsed = time.perf_counter() - began
    await producer.stop()
    return Load((elapsed / len(sent),) * len(sent), elapsed)


async def _measure_latency(on: Supervisor, options: Options, report: Report) -> None:
    source = talk.turns(50, "soon")
    many = options.some(200)
    consumer = AIOKafkaConsumer(TURN_COMMITTED.name, bootstrap_servers=on.bootstrap, fetch_max_wait_ms=100)
    producer = AIOKafkaProducer(bootstrap_servers=on.bootstrap, acks="all", linger_ms=0)
    await consumer.start()
    await producer.start()
    heard: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    listener = asyncio.create_task(_listen(consumer, heard))
    ours: list[float] = []
    bare: list[float] = []
    try:
        async with kit.runtime(on, pool=2) as rt:
            for n, turn in enumerate(kit.portions(source, many + 10)):
                committed = await commit_turn(turn, rt, transport="bench")
                began = time.perf_counter()
                at = await _wait_for_token(heard, str(committed.result.outbox_event_id))
                ours += [at - began] if n >= 10 else []
                await asyncio.sleep(PAUSE_S)
                token = clock.uuid7().hex
                began = time.perf_counter()
                await producer.send(TURN_COMMITTED.name, orjson.dumps({"event_id": token}), key=token.encode())
                bare += [await _wait_for_token(heard, token) - began]
                await asyncio.sleep(PAUSE_S)
    finally:
        listener.cancel()
        await consumer.stop()
        await producer.stop()
    report.latencies(
        "commit returned -> consumer, idle (bare: produce -> consumer)",
        Load(tuple(ours), sum(ours)),
        Load(tuple(bare), sum(bare)),
        limits=(None, 15),
    )


async def _listen(consumer: AIOKafkaConsumer, heard: asyncio.Queue[tuple[str, float]]) -> None:
    async for record in consumer:
        heard.put_nowait((orjson.loads(record.value or b"{}")["event_id"], time.perf_counter()))


async def _wait_for_token(heard: asyncio.Queue[tuple[str, float]], token: str) -> float:
    async with asyncio.timeout(10):
        while True:
            said, at = await heard.get()
            if said == token:
                return at
