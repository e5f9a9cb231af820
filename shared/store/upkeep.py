"""upkeep: the journal of memory changes other than by statements; upkeep_rounds: the last round of each user.

Both written only by evolver.
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
    """One journal row: the change of these memories, its time, and its figures."""

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
    """Stores these in order; the caller holds the user's lock, so that times are unique."""
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
    """A user who is due for a round, and the time of the last one."""

    subject: Subject
    seen: datetime | None


_NOW: LiteralString = "SELECT clock_timestamp() AS now"


async def load_now(conn: Connection) -> datetime:
    """The database's clock, which advances within a transaction."""
    row = await (await conn.execute(_NOW)).fetchone()
    assert row is not None  # noqa: S101 # it always returns a row
    return row["now"]


_WAITING: LiteralString = """
SELECT m.tenant_id, m.user_id, r.at
FROM memory_items m LEFT JOIN upkeep_rounds r ON r.tenant_id = m.tenant_id AND r.user_id = m.user_id
WHERE m.status = 'active' AND (r.at IS NULL OR r.at < %(before)s)
GROUP BY m.tenant_id, m.user_id, r.at
HAVING r.at IS NULL OR r.at < %(before)s - %(longest)s OR max(m.updated_at) > r.at - interval '1 minute'
    OR min(m.valid_until) <= %(before)s
"""
"""updated_at is the start of a transaction: one that waited for the lock has an earlier time than
the preceding round.
"""


async def load_waiting(conn: Connection, before: datetime, longest: timedelta) -> list[Waiting]:
    """All users without a round since `before` who have changes or expired memories, or have waited long."""
    found = await conn.execute(_WAITING, {"before": before, "longest": longest})
    return [Waiting(Subject(row["tenant_id"], row["user_id"]), row["at"]) for row in await found.fetchall()]


_CLAIM: LiteralString = """
INSERT INTO upkeep_rounds AS r (tenant_id, user_id, at) VALUES (%(tenant)s, %(user)s, clock_timestamp())
ON CONFLICT (tenant_id, user_id) DO UPDATE SET at = excluded.at WHERE r.at IS NOT DISTINCT FROM %(seen)s
"""
_LAST: LiteralString = "SELECT at FROM upkeep_rounds WHERE tenant_id = %(tenant)s AND user_id = %(user)s"


async def claim(conn: Connection, subject: Subject, seen: datetime | None) -> bool:
    """Whether the user had no round since `seen`; records one now."""
    return (await conn.execute(_CLAIM, {**subject.params, "seen": seen})).rowcount == 1


async def last_round(conn: Connection, subject: Subject) -> datetime | None:
    """The time of this user's last round."""
    row = await (await conn.execute(_LAST, subject.params)).fetchone()
    return row["at"] if row else None
