"""Every page of the console for a user with 10,000 memories and 100,000 turns, one request after another."""

import asyncio
import re
import time

import httpx
import psycopg

from services.cli.data_folder import Running
from shared.db import SCHEMA
from tests.bench import kit, load
from tests.bench.erasure import TOLD
from tests.bench.kit import Load, Options, Report
from tests.browser.pages import PLAIN

MEMORIES, TURNS, CALLS, AT_MOST_MS = 10_000, 100_000, 60, 100.0
WARM, ROUNDS = 5, 3
BARE = "/sign-in"
_SEQUENCES = """
UPDATE sessions s SET next_seq = t.next_seq, last_turn_at = t.last_turn_at
FROM (SELECT session_id, max(seq) + 1 AS next_seq, max(said_at) AS last_turn_at FROM told GROUP BY session_id) AS t
WHERE s.user_id = %(user)s AND s.session_id = t.session_id
"""
_COMMITTED = """
UPDATE turns t SET committed_at = said.at, observed_at = said.at + interval '1 second',
    outcome_at = said.at + interval '1 second' * (1 + t.seq % 7), outcome = jsonb_build_object('status', 'completed',
        'memories', (SELECT jsonb_agg(jsonb_build_object('memory_id', uuidv7(), 'action', 'create', 'n', n))
            FROM generate_series(1, 6) AS n))
FROM (SELECT turn_id, now() - interval '864 milliseconds' * i AS at FROM told) AS said WHERE t.turn_id = said.turn_id
"""
"""A high load: all turns were committed within a day."""
_PACKED = """
INSERT INTO injections (tenant_id, user_id, context_id, session_id, request_id, core_ids, evidence_ids, degraded,
    policy_version, created_at, fingerprints, pieces, took_ms, turn_id)
SELECT tenant_id, user_id, uuidv7(), session_id, turn_id::text, array_fill(turn_id, '{3}'), array_fill(turn_id, '{5}'),
    false, 'bench', committed_at, array_fill(1::bigint, '{16}'), array_fill(1::smallint, '{16}'), 20 + seq % 40, turn_id
FROM turns
"""
FORM_TOKEN = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
MORE = (
    "/memory/facts?offset=5000",
    "/memory/search?q=tea+with+milk",
    "/memory/session?id=s-7",
    "/operations/speed?minutes=1440",
    "/operations/speed?minutes=10080",
)
"""Pages with much to page through, search or count."""
ONE = re.compile(r"/memory/one/[0-9a-f-]{36}")


def run(options: Options) -> Report:
    """Milliseconds at p95 by page."""
    report = Report("console")
    with kit.machine(("compose", "console")) as machine:
        asyncio.run(_measure(machine.describe(), options, report))
    return report


async def _measure(place: Running, options: Options, report: Report) -> None:
    await load.load(place.database, MEMORIES, MEMORIES)
    await _tell(place.database, TURNS)
    async with httpx.AsyncClient(
        base_url=place.services["console"], trust_env=False, timeout=60, follow_redirects=True
    ) as http:
        page = (await http.get("/sign-in")).text
        (token,) = FORM_TOKEN.findall(page)[:1]
        page = (await http.post("/sign-in", data={"csrf": token, "user": load.USER})).raise_for_status().text
        (one,) = ONE.findall(page)[:1]
        for path in (*PLAIN, *MORE, one):
            rounds = [await _time(http, path, options.some(CALLS)) for _ in range(ROUNDS)]
            took, bare = max(rounds, key=lambda each: each[0].per_s)
            what = "/memory/one/{memory_id}" if path == one else path
            report.latencies(what, took, bare, at=(95,), limits=(AT_MOST_MS,))
    report.notes.append(f"bare: {BARE} between the calls, which asks compose only whether it wants a key")


async def _tell(dsn: str, turns: int) -> None:
    given = {"user": load.USER, "turns": turns}
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, options=f"-c search_path={SCHEMA},public -c synchronous_commit=off"
    ) as conn:
        for statement in (*TOLD, _SEQUENCES, _COMMITTED, _PACKED, "VACUUM ANALYZE", "CHECKPOINT"):
            await conn.execute(statement.encode(), given if "%(" in statement else None)


async def _time(http: httpx.AsyncClient, path: str, calls: int) -> tuple[Load, Load]:
    """Times of the page and of an empty page alternate, so that other load on the machine affects both."""
    took: dict[str, list[float]] = {path: [], BARE: []}
    for n in range(calls + WARM):
        for each, times in took.items():
            at = time.perf_counter()
            (await http.get(each)).raise_for_status()
            if n >= WARM:
                times.append(time.perf_counter() - at)
    ours, bare = (Load(tuple(times), sum(times)) for times in took.values())
    return ours, bare
