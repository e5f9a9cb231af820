"""Every page of the console for somebody with 10,000 memories and 100,000 turns, one request after another."""

import asyncio
import re
import time

import httpx
import psycopg

from services.cli.data_folder import Running
from shared.db import SCHEMA
from tests.bench import kit, load
from tests.bench.erasure import TOLD
from tests.bench.kit import Load, Options, Report, Row
from tests.browser.pages import PLAIN

MEMORIES, TURNS, CALLS, AT_MOST_MS = 10_000, 100_000, 60, 100.0
WARM, ROUNDS = 5, 3
_SEQUENCES = """
UPDATE sessions s SET next_seq = t.next_seq, last_turn_at = t.last_turn_at
FROM (SELECT session_id, max(seq) + 1 AS next_seq, max(said_at) AS last_turn_at FROM told GROUP BY session_id) AS t
WHERE s.user_id = %(user)s AND s.session_id = t.session_id
"""
FORM_TOKEN = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
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
        more = ("/memory/facts?offset=5000", "/memory/search?q=tea+with+milk", "/memory/session?id=s-7", one)
        for path in (*PLAIN, *more):
            took = kit.best([await _time(http, path, options.some(CALLS)) for _ in range(ROUNDS)])
            what = "/memory/one/{memory_id}" if path == one else path
            report.rows.append(Row(f"{what}, p95", took.ms(95), "ms", None, AT_MOST_MS))


async def _tell(dsn: str, turns: int) -> None:
    given = {"user": load.USER, "turns": turns}
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, options=f"-c search_path={SCHEMA},public -c synchronous_commit=off"
    ) as conn:
        for statement in (*TOLD, _SEQUENCES, "VACUUM ANALYZE", "CHECKPOINT"):
            await conn.execute(statement.encode(), given if "%(" in statement else None)


async def _time(http: httpx.AsyncClient, path: str, calls: int) -> Load:
    took: list[float] = []
    began = time.perf_counter()
    for n in range(calls + WARM):
        at = time.perf_counter()
        (await http.get(path)).raise_for_status()
        if n >= WARM:
            took.append(time.perf_counter() - at)
    return Load(tuple(took), time.perf_counter() - began)
