"""Erasure of a user with 100,000 rows during compose requests of others: its duration, and their latency."""

import asyncio
import time
import uuid

import orjson
import psycopg
import uvloop

from services.cli.supervisor import Supervisor
from shared.db import SCHEMA
from shared.settings import SERVICES
from tests.bench import kit, load, talk
from tests.bench.http import Http
from tests.bench.kit import Load, Options, Report, Row

GONE = "user-gone"
TURNS = 10_000
"""Each unit stands for ten rows: a turn, two events, three chunks, an observation, a proposal, a memory, a mention."""
TERMS = 6
"""Postings per chunk, in addition to the rows."""
ASKS = 400
LIMIT_S = 60.0
RISE = 1.5
SESSION = "bench-now"

_TURNS = """
CREATE TEMP TABLE told AS SELECT i, uuidv7() AS turn_id, uuidv7() AS event_id, uuidv7() AS memory_id,
    's-' || i / 40 AS session_id, i %% 40 + 1 AS seq, now() - interval '2 minutes' * i AS said_at
FROM generate_series(1, %(turns)s) AS i
"""
_ROWS = (
    """
INSERT INTO sessions (tenant_id, user_id, session_id, next_seq)
SELECT 'default', %(user)s, session_id, 42 FROM told GROUP BY session_id
""",
    """
INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash, event_id, trace_id,
    policy_version, said_at, result, observed_at, outcome, outcome_at)
SELECT 'default', %(user)s, turn_id, session_id, seq, turn_id::text, md5(i::text), event_id, 'bench', 'bench', said_at,
    '{}', now(), '{}', now() FROM told
""",
    """
INSERT INTO conversation_events (tenant_id, user_id, event_id, turn_id, session_id, ordinal, event_type, role, content,
    said_at)
SELECT 'default', %(user)s, uuidv7(), turn_id, session_id, n, (ARRAY['user_message', 'assistant_message'])[n + 1],
    (ARRAY['user', 'assistant'])[n + 1], jsonb_build_object('text', repeat('said once ' || i || ' ', 12)), said_at
FROM told, generate_series(0, 1) AS n
""",
    """
INSERT INTO observations (tenant_id, user_id, observation_id, turn_id, session_id, ordinal, priority, state, kind, text,
    assertion, epistemic, confidence, detector, pattern, language, said_at, input_hash)
SELECT 'default', %(user)s, memory_id, turn_id, session_id, 0, 'normal', 'evolved', 'note', 'said once ' || i,
    'declared', 'fact', 0.5, 'bench', 'bench', 'en', said_at, md5(i::text) FROM told
""",
    """
INSERT INTO proposals (tenant_id, user_id, proposal_id, turn_id, observation_id, action, type, provenance, confidence,
    reason, state)
SELECT 'default', %(user)s, uuidv7(), turn_id, memory_id, 'create', 'note', 'observation', 0.5, 'bench', 'applied'
FROM told
""",
    """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash, status,
    confidence, provenance_class, assertion, valid_at, source_sessions, source_turn_id, source_turns)
SELECT 'default', %(user)s, memory_id, memory_id, 1, 'note', 'said once ' || i, md5(i::text), 'active', 0.5,
    'observation', 'declared', said_at, ARRAY[session_id], turn_id, ARRAY[turn_id] FROM told
""",
    """
INSERT INTO memory_chunks (tenant_id, user_id, chunk_id, memory_id, turn_id, ordinal, session_id, text, term_count,
    language, normalizer_version, said_at)
SELECT 'default', %(user)s, uuidv7(), CASE WHEN n = 2 THEN memory_id END, CASE WHEN n < 2 THEN turn_id END, n,
    session_id, 'said once ' || i, %(terms)s, 'en', 'bench', said_at FROM told, generate_series(0, 2) AS n
""",
    """
INSERT INTO postings (tenant_id, user_id, term, chunk_id, tf, length)
SELECT 'default', %(user)s, 'term' || (hashtext(chunk_id::text) & 4095) || '-' || n, chunk_id, 1, %(terms)s
FROM memory_chunks, generate_series(1, %(terms)s) AS n WHERE tenant_id = 'default' AND user_id = %(user)s
""",
    """
INSERT INTO search_stats (tenant_id, user_id, chunks, terms)
SELECT 'default', %(user)s, count(*), sum(term_count) FROM memory_chunks WHERE user_id = %(user)s
""",
    """
INSERT INTO entities (tenant_id, user_id, entity_id, kind, canonical, name, first_seen_at, last_seen_at)
VALUES ('default', %(user)s, %(entity)s, 'person', 'marta', 'Marta', now(), now())
""",
    """
INSERT INTO entity_mentions (tenant_id, user_id, entity_id, turn_id, ordinal, span_start, span_end, said_at)
SELECT 'default', %(user)s, %(entity)s, turn_id, 0, 0, 5, said_at FROM told
""",
)

TOLD = (_TURNS, *_ROWS[:3])
"""The changes that give a user only conversations without memories."""


def run(options: Options) -> Report:
    """Seconds from the request to `completed`, and the p95 of others' packages during it."""
    with kit.machine(SERVICES) as machine:
        return uvloop.run(_measure_erasure(machine, options))


async def _measure_erasure(on: Supervisor, options: Options) -> Report:
    report = Report("erasure")
    turns = TURNS // 4 if options.quick else TURNS
    await load.load(on.dsn, 1_000, 20_000)
    await _insert_turns(on.dsn, turns)
    url = on.describe().http
    asked = [_question(question) for question in talk.questions(40)]
    await _ask(url, asked, 80)
    before = await _ask(url, asked, options.some(ASKS))
    began = time.perf_counter()
    erasing = asyncio.create_task(_erase(url))
    during = await _ask(url, asked, options.some(ASKS), until=erasing)
    answered, row_count = await erasing
    took = time.perf_counter() - began
    after = await _ask(url, asked, options.some(ASKS))
    report.rows.append(Row(f"{turns * 10} rows: request to completed", took, "s", limit=LIMIT_S))
    report.rows.append(Row("  of which the answer: hidden from everybody", answered, "s"))
    bare = min(before.ms(95), after.ms(95))
    report.rows.append(
        Row("others' POST /v1/context meanwhile, p50 (bare: before)", during.ms(50), "ms", before.ms(50))
    )
    worst = Row("others' POST /v1/context meanwhile, p95 (bare: without)", during.ms(95), "ms", bare, RISE * bare)
    report.rows.append(worst)
    report.notes.append(f"{turns * 3 * TERMS} postings beside the rows; hidden at once: {row_count} rows")
    report.notes.append(f"p95 before {before.ms(95):.1f}, after {after.ms(95):.1f} ms; {len(during.took)} meanwhile")
    return report


async def _insert_turns(dsn: str, turns: int) -> None:
    given = {"user": GONE, "turns": turns, "terms": TERMS, "entity": str(uuid.uuid4())}
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, options=f"-c search_path={SCHEMA},public -c synchronous_commit=off"
    ) as conn:
        for statement in (_TURNS, *_ROWS):
            await conn.execute(statement.encode(), given)
        await conn.execute("ANALYZE")
        await conn.execute("CHECKPOINT")


def _question(question: str) -> bytes:
    body = {"user_id": load.USER, "session_id": SESSION, "user_message": question, "deadline_ms": 10_000}
    return orjson.dumps(body)


async def _ask(url: str, asked: list[bytes], many: int, until: asyncio.Task[tuple[float, int]] | None = None) -> Load:
    """This many packages one after the other, or packages until the erasure is completed."""
    took: list[float] = []
    began = time.perf_counter()
    async with Http(url) as web:
        while len(took) < many if until is None else not until.done():
            at = time.perf_counter()
            await web.post("/v1/context", asked[len(took) % len(asked)])
            took.append(time.perf_counter() - at)
    return Load(tuple(took), time.perf_counter() - began)


async def _erase(url: str) -> tuple[float, int]:
    """Seconds until the data was hidden, and the number of hidden rows; returns on completion."""
    began = time.perf_counter()
    async with Http(url) as web:
        body = orjson.dumps({"user_id": GONE, "scope": "all"})
        receipt = orjson.loads(await web.post("/v1/erasures", body))
    answered = time.perf_counter() - began
    while True:
        await asyncio.sleep(0.2)
        seen = await asyncio.to_thread(_view, url, receipt["tombstone_id"])
        if seen["status"] == "completed":
            return answered, receipt["row_count"]


def _view(url: str, tombstone_id: str) -> dict[str, str]:
    from urllib.request import urlopen

    with urlopen(f"{url}/v1/erasures/{tombstone_id}?user_id={GONE}", timeout=10) as answer:  # noqa: S310 # the address of this system
        return orjson.loads(answer.read())
