"""Why memories have their versions: observations, upkeep, conflicts; and all changes, newest first. Reads only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from schemas.vocabulary import MemoryStatus, MemoryType
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.store.upkeep import Upkeep

IMPORT = "import"
"""The provenance field with the turn of the import that created a version."""
AMENDED = "amended"
"""The provenance field with the memory whose words a version has."""
AROUND = 300
"""The number of characters loaded on either side of the statement: more than any quote shows."""
_SAID: LiteralString = """
    e.event_type, e.role, e.name, o.span_start - greatest(o.span_start - %(around)s, 0) AS span_start,
    o.span_end - greatest(o.span_start - %(around)s, 0) AS span_end,
    substr(e.content ->> 'text', greatest(o.span_start - %(around)s, 0) + 1,
        o.span_end - greatest(o.span_start - %(around)s, 0) + %(around)s) AS said,
    e.content IS NULL AS erased
"""
_SPAN_START: LiteralString = "(o.provenance -> 'span' ->> 0)::integer"
_SPAN_END: LiteralString = "(o.provenance -> 'span' ->> 1)::integer"
_SPOKEN_IN: LiteralString = """
LEFT JOIN conversation_events e ON (e.tenant_id, e.user_id, e.turn_id, e.ordinal)
    = (o.tenant_id, o.user_id, o.turn_id, o.ordinal)
"""


@dataclass(frozen=True)
class MemorySource:
    """One observation, and the part of its message around the statement; `said` is None if the log has no message."""

    observation_id: UUID
    turn_id: UUID
    session_id: str
    said_at: datetime
    text: str
    detector: str
    pattern: str
    reason: str | None
    related_memory_id: UUID | None
    event_type: str | None
    role: str | None
    name: str | None
    span_start: int
    span_end: int
    said: str | None
    erased: bool


_SOURCES: LiteralString = (
    """
SELECT o.observation_id, o.turn_id, o.session_id, o.said_at, o.text, o.detector, o.pattern, o.reason,
    o.related_memory_id,"""
    + _SAID
    + "FROM observations o"
    + _SPOKEN_IN
    + """
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND (o.observation_id = ANY(%(ids)s)
    OR o.related_memory_id = ANY(%(ids)s) OR (o.said_at = ANY(%(ended)s) AND o.reason LIKE 'retract:%%'))
ORDER BY o.said_at, o.created_at, o.observation_id
"""
)


_SAID_BEFORE: LiteralString = (
    """
SELECT o.memory_id AS observation_id, e.turn_id, e.session_id, e.said_at, o.content_text AS text,
    coalesce(o.provenance ->> 'detector', 'import') AS detector,
    coalesce(o.provenance ->> 'pattern', 'import') AS pattern,
    CASE WHEN o.provenance ? 'import' THEN 'create:imported' ELSE 'create:left' END AS reason,
    o.memory_id AS related_memory_id,"""
    + _SAID.replace("o.span_start", _SPAN_START).replace("o.span_end", _SPAN_END)
    + """FROM memory_items o JOIN conversation_events e ON (e.tenant_id, e.user_id, e.turn_id, e.ordinal)
    = (o.tenant_id, o.user_id, (o.provenance ->> 'turn_id')::uuid, (o.provenance ->> 'ordinal')::integer)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.memory_id = ANY(%(ids)s) AND o.provenance ? 'span'
"""
)
"""The source words of versions that an import created, or that are the rest of another memory."""


async def sources(
    conn: Connection, subject: Subject, line: Iterable[Memory], more: Iterable[UUID]
) -> list[MemorySource]:
    """The observations that created, confirmed, ended or contradicted these versions, and `more`, in order."""
    versions = list(line)
    params = {
        **subject.params,
        "ids": [*(m.memory_id for m in versions), *more],
        "ended": [m.invalid_at for m in versions if m.status == "retracted"],
        "around": AROUND,
    }
    rows = await (await conn.execute(_SOURCES, params)).fetchall()
    made = {row["observation_id"] for row in rows}
    said_before = [
        m.memory_id for m in versions if IMPORT in m.provenance or (AMENDED in m.provenance and m.memory_id not in made)
    ]
    if said_before:
        rows += await (await conn.execute(_SAID_BEFORE, {**params, "ids": said_before})).fetchall()
        rows.sort(key=lambda row: row["said_at"])
    return [MemorySource(**row) for row in rows]


_UPKEEP: LiteralString = """
SELECT upkeep_id, job, memory_ids, detail, at FROM upkeep
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_ids && %(ids)s::uuid[] ORDER BY at, upkeep_id
"""


async def upkeep(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[Upkeep]:
    """The upkeep of these versions, in order."""
    rows = await (await conn.execute(_UPKEEP, {**subject.params, "ids": list(ids)})).fetchall()
    return [Upkeep(r["upkeep_id"], r["job"], tuple(r["memory_ids"]), r["detail"], r["at"]) for r in rows]


@dataclass(frozen=True)
class Dispute:
    """One conflict with both sides."""

    conflict_id: UUID
    kind: str
    state: str
    opened_at: datetime
    closed_at: datetime | None
    memory_id: UUID
    known: str
    known_status: MemoryStatus
    type: MemoryType
    key: str | None
    observation_id: UUID
    text: str
    retracts: bool
    said_at: datetime
    session_id: str
    turn_id: UUID
    detector: str
    event_type: str | None
    role: str | None
    name: str | None
    span_start: int
    span_end: int
    said: str | None
    erased: bool


_DISPUTES: LiteralString = (
    """
SELECT c.conflict_id, c.kind, c.state, c.opened_at, c.closed_at, c.memory_id, m.content_text AS known,
    m.status AS known_status, m.type, m.key, c.observation_id, o.text, o.retracts, o.said_at, o.session_id, o.turn_id,
    o.detector,"""
    + _SAID
    + """FROM conflicts c
JOIN memory_items m USING (tenant_id, user_id, memory_id)
JOIN observations o USING (tenant_id, user_id, observation_id)
"""
    + _SPOKEN_IN
    + "WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s"
)
_LISTED: LiteralString = (
    _DISPUTES
    + """ AND (%(state)s::text IS NULL OR c.state = %(state)s)
ORDER BY c.opened_at DESC, c.conflict_id DESC LIMIT %(limit)s OFFSET %(offset)s"""
)
_OF: LiteralString = _DISPUTES + " AND (c.memory_id = ANY(%(ids)s)) ORDER BY c.opened_at, c.conflict_id"
_ONE: LiteralString = _DISPUTES + " AND c.conflict_id = %(id)s"


async def disputes(
    conn: Connection, subject: Subject, *, state: str | None, limit: int = 50, offset: int = 0
) -> list[Dispute]:
    """A page of the user's conflicts in this state, newest first; None means all."""
    params = {"state": state, "limit": limit, "offset": offset}
    return await _disputes(conn, subject, _LISTED, params)


async def disputes_of(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[Dispute]:
    """The statements against these versions, in order."""
    return await _disputes(conn, subject, _OF, {"ids": list(ids)})


async def dispute(conn: Connection, subject: Subject, conflict_id: UUID) -> Dispute | None:
    """The conflict with this id, if the user has it."""
    found = await _disputes(conn, subject, _ONE, {"id": conflict_id})
    return found[0] if found else None


async def _disputes(
    conn: Connection, subject: Subject, statement: LiteralString, params: dict[str, Any]
) -> list[Dispute]:
    whose = {**subject.params, "around": AROUND}
    return [Dispute(**row) for row in await (await conn.execute(statement, {**whose, **params})).fetchall()]


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
