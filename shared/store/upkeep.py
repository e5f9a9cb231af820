"""upkeep: the journal of what changed memories beside statements; upkeep_rounds: who was looked through when.

Both written by evolver alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

import orjson

from shared import clock
from shared.db import Connection
from shared.domain.decay import Due, Job
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class Upkeep:
    """One row of the journal: what was done to these memories, when, and by which figures."""

    upkeep_id: UUID
    job: Job
    memory_ids: tuple[UUID, ...]
    detail: dict[str, Any]
    at: datetime


_INSERT: LiteralString = """
WITH taken AS MATERIALIZED (SELECT clock_timestamp() AS at)
INSERT INTO upkeep (tenant_id, user_id, upkeep_id, job, memory_ids, detail, at)
SELECT %(tenant)s, %(user)s, d.upkeep_id, d.job, d.memory_ids, d.detail, taken.at + d.n * interval '1 microsecond'
FROM taken, jsonb_to_recordset(%(rows)s::jsonb)
    AS d(n integer, upkeep_id uuid, job text, memory_ids uuid[], detail jsonb)
RETURNING upkeep_id, job, memory_ids, detail, at
"""


async def insert(conn: Connection, subject: Subject, done: Sequence[Due]) -> list[Upkeep]:
    """The journal holds these in their order; the caller has the user's lock, so no time is taken twice."""
    if not done:
        return []
    rows = [
        {"n": n, "upkeep_id": clock.uuid7(), "job": due.job, "memory_ids": due.memory_ids, "detail": due.detail}
        for n, due in enumerate(done)
    ]
    return await _rows(conn, _INSERT, {**subject.params, "rows": orjson.dumps(rows).decode()})


async def _rows(conn: Connection, statement: LiteralString, params: dict[str, Any]) -> list[Upkeep]:
    found = await (await conn.execute(statement, params)).fetchall()
    rows = [Upkeep(**_row(row)) for row in found]
    return sorted(rows, key=lambda row: (row.at, row.upkeep_id))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "memory_ids": tuple(row["memory_ids"])}


class Waiting(NamedTuple):
    """A user whose memories are to be looked through, and when they last were."""

    subject: Subject
    seen: datetime | None


_NOW: LiteralString = "SELECT clock_timestamp() AS now"


async def load_now(conn: Connection) -> datetime:
    """The database's clock, which goes on within a transaction."""
    row = await (await conn.execute(_NOW)).fetchone()
    assert row is not None  # noqa: S101 # a row by its nature
    return row["now"]


_WAITING: LiteralString = """
SELECT m.tenant_id, m.user_id, r.at
FROM memory_items m LEFT JOIN upkeep_rounds r ON r.tenant_id = m.tenant_id AND r.user_id = m.user_id
WHERE m.status = 'active' AND (r.at IS NULL OR r.at < %(before)s)
GROUP BY m.tenant_id, m.user_id, r.at
HAVING r.at IS NULL OR r.at < %(before)s - %(longest)s OR max(m.updated_at) > r.at - interval '1 minute'
    OR min(m.valid_until) <= %(before)s
"""
"""updated_at is when a transaction began: one that waited for the lock bears a time before the round it came after."""


async def load_waiting(conn: Connection, before: datetime, longest: timedelta) -> list[Waiting]:
    """All users who were not looked through since `before` and have something new or expired, or waited long."""
    found = await conn.execute(_WAITING, {"before": before, "longest": longest})
    return [Waiting(Subject(row["tenant_id"], row["user_id"]), row["at"]) for row in await found.fetchall()]


_CLAIM: LiteralString = """
INSERT INTO upkeep_rounds AS r (tenant_id, user_id, at) VALUES (%(tenant)s, %(user)s, clock_timestamp())
ON CONFLICT (tenant_id, user_id) DO UPDATE SET at = excluded.at WHERE r.at IS NOT DISTINCT FROM %(seen)s
"""
_LAST: LiteralString = "SELECT at FROM upkeep_rounds WHERE tenant_id = %(tenant)s AND user_id = %(user)s"


async def claim(conn: Connection, subject: Subject, seen: datetime | None) -> bool:
    """Whether nobody has looked through this user's memories since `seen`; from now on somebody has."""
    return (await conn.execute(_CLAIM, {**subject.params, "seen": seen})).rowcount == 1


async def last_round(conn: Connection, subject: Subject) -> datetime | None:
    """When this user's memories were last looked through."""
    row = await (await conn.execute(_LAST, subject.params)).fetchone()
    return row["at"] if row else None
