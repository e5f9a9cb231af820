"""Changes of a user's memories, newest first: settled observations and upkeep. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject

_CHANGES: LiteralString = """
SELECT * FROM (
    (SELECT o.settled_at AS at, o.observation_id AS id, split_part(o.reason, ':', 1) AS verb,
        split_part(o.reason, ':', 2) AS reason, o.detector, o.pattern, o.turn_id, o.session_id, o.said_at,
        ARRAY[o.related_memory_id] AS memory_ids
    FROM observations o WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.state = 'evolved'
        AND o.related_memory_id IS NOT NULL AND NOT (o.kind = 'entity' AND o.key IS NOT NULL)
        AND split_part(o.reason, ':', 2) <> ALL(%(nothing)s)
    ORDER BY o.settled_at DESC LIMIT %(most)s)
    UNION ALL
    (SELECT u.at, u.upkeep_id, 'upkeep', u.job, '', '', NULL, NULL, NULL, u.memory_ids
    FROM upkeep u WHERE u.tenant_id = %(tenant)s AND u.user_id = %(user)s AND (u.job = ANY(%(jobs)s)
        OR u.job = 'calibration' AND (u.detail ->> 'evicted')::boolean)
    ORDER BY u.at DESC LIMIT %(most)s)) AS told
ORDER BY at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
"""
JOBS = ("consolidation", "expiry", "misses", "outdated", "refreshed", "fuse")
"""Upkeep jobs that change what is known; the others change only statistics."""
NOTHING = ("already_pinned", "not_pinned", "already_merged")
"""Reasons of acts that changed nothing."""


@dataclass(frozen=True)
class StoredChange:
    """One entry of the change log: the turn of an observation, or an upkeep job as its reason."""

    at: datetime
    id: UUID
    verb: str
    reason: str
    detector: str
    pattern: str
    turn_id: UUID | None
    session_id: str | None
    said_at: datetime | None
    memory_ids: tuple[UUID, ...]


async def load_page(conn: Connection, subject: Subject, limit: int, offset: int) -> list[StoredChange]:
    """A page of the user's changes, newest first."""
    params = {**subject.params, "limit": limit, "offset": offset, "most": limit + offset}
    params |= {"jobs": list(JOBS), "nothing": list(NOTHING)}
    rows = await (await conn.execute(_CHANGES, params)).fetchall()
    found: list[dict[str, Any]] = [{**row, "memory_ids": tuple(row["memory_ids"])} for row in rows]
    return [StoredChange(**row) for row in found]


_TAKEN_BACK: LiteralString = """
SELECT invalid_at AS at, array_agg(memory_id ORDER BY memory_id) AS ids FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'retracted' AND invalid_at = ANY(%(moments)s)
GROUP BY invalid_at
"""


async def load_taken_back(
    conn: Connection, subject: Subject, moments: Sequence[datetime]
) -> Mapping[datetime, tuple[UUID, ...]]:
    """The memories retracted at each of these times."""
    rows = await (await conn.execute(_TAKEN_BACK, {**subject.params, "moments": list(moments)})).fetchall()
    return {row["at"]: tuple(row["ids"]) for row in rows}
