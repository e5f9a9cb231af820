"""injections, memory_receipts, context_packages: written by compose after the reply; the governor removes old rows.

The observer records how injections were received.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.receipts import ContextSummary
from schemas.vocabulary import FeedbackSignal, UtilizationSignal
from shared.db import Connection
from shared.domain.subjects import Subject

_RECORD: LiteralString = "SELECT record_contexts(%(rows)s::json) AS written"


async def record(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
    """Records packages that are not recorded yet, each with injection, receipts and event, or nothing; their number.

    Own transaction; `age_s` of a row is the time since its package was answered.
    """
    row = await (await conn.execute(_RECORD, {"rows": orjson.dumps(rows).decode()})).fetchone()
    return row["written"] if row else 0


@dataclass(frozen=True, slots=True)
class Receipts:
    """The decisions for one package, and its reception."""

    context_id: UUID
    session_id: str
    request_id: str | None
    created_at: datetime
    retrieval: dict[str, Any]
    injection: dict[str, Any]
    used_ids: tuple[UUID, ...] | None
    utilized: bool | None
    utilization_signal: str | None
    feedback_signal: str | None
    verdicts: dict[str, Any] | None
    message: str | None


_SAID: LiteralString = """
LEFT JOIN LATERAL (
    SELECT e.content ->> 'text' AS message FROM conversation_events e
    WHERE (e.tenant_id, e.user_id, e.turn_id) = (i.tenant_id, i.user_id, i.turn_id)
        AND e.event_type = 'user_message' AND e.content IS NOT NULL
    ORDER BY e.ordinal LIMIT 1
) AS said ON true
"""
_FIND: LiteralString = (
    """
SELECT r.context_id, r.session_id, r.request_id, r.created_at, r.details AS retrieval, j.details AS injection,
    i.used_ids, i.utilized, i.utilization_signal, i.feedback_signal, i.verdicts, said.message
FROM memory_receipts r
JOIN memory_receipts j USING (tenant_id, user_id, context_id)
LEFT JOIN injections i USING (tenant_id, user_id, context_id)
"""
    + _SAID
    + """
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND r.context_id = %(context)s
    AND r.receipt_type = 'retrieval' AND j.receipt_type = 'injection'
"""
)


async def receipts(conn: Connection, subject: Subject, context_id: UUID) -> Receipts | None:
    """The receipts of a package, if they still exist."""
    row = await (await conn.execute(_FIND, {**subject.params, "context": context_id})).fetchone()
    if row is None:
        return None
    used = row["used_ids"]
    made: dict[str, Any] = {**row, "used_ids": None if used is None else tuple(used)}
    return Receipts(**made)


_TEXTS: LiteralString = """
SELECT 'memory:' || memory_id AS key, content_text AS text FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(memories)s) AND content_text IS NOT NULL
UNION ALL
SELECT 'turn:' || turn_id || ':' || ordinal, content ->> 'text' FROM conversation_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND content ->> 'text' IS NOT NULL
"""


async def load_texts(
    conn: Connection, subject: Subject, memories: Sequence[UUID], turns: Sequence[UUID]
) -> Mapping[str, str]:
    """The current texts of these memories and messages, by the keys of decisions."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "memories": list(memories), "turns": list(turns)}
    return {row["key"]: row["text"] for row in await (await conn.execute(_TEXTS, params)).fetchall()}


@dataclass(frozen=True, slots=True)
class Stored:
    """An answered package and its plan; an erasure deletes both."""

    context_id: UUID
    session_id: str
    created_at: datetime
    plan: dict[str, Any] | None
    package: dict[str, Any] | None
    erased: bool
    verdicts: dict[str, Any] | None = None


_PACKAGE: LiteralString = """
SELECT context_id, p.session_id, p.created_at, p.plan, p.package, p.tombstone_id IS NOT NULL AS erased, i.verdicts
FROM context_packages p LEFT JOIN injections i USING (tenant_id, user_id, context_id)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND context_id = %(context)s
"""


async def package(conn: Connection, subject: Subject, context_id: UUID) -> Stored | None:
    """The stored package, if it still exists."""
    row = await (await conn.execute(_PACKAGE, {**subject.params, "context": context_id})).fetchone()
    return Stored(**row) if row else None


_LIST: LiteralString = f"""
SELECT context_id::text, session_id, said.message, request_id, created_at, turn_id::text,
    cardinality(core_ids) + cardinality(evidence_ids) AS memories, degraded, utilized,
    feedback_signal AS user_feedback_signal
FROM injections i
{_SAID}
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND (%(session)s::text IS NULL OR session_id = %(session)s)
ORDER BY created_at DESC, context_id DESC LIMIT %(limit)s OFFSET %(offset)s
"""


async def page(
    conn: Connection, subject: Subject, session_id: str | None, limit: int, offset: int
) -> list[ContextSummary]:
    """The packages of a user, or of one session, newest first."""
    params = {**subject.params, "session": session_id, "limit": limit, "offset": offset}
    return [ContextSummary(**row) for row in await (await conn.execute(_LIST, params)).fetchall()]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A sentence that a turn shares with a package, and the items of the package that contain it."""

    hash: int
    context_id: UUID
    piece: int


_RECALLED: LiteralString = """
SELECT f.hash, i.context_id, f.piece
FROM (
    (SELECT context_id, fingerprints, pieces FROM injections
     WHERE tenant_id = %(tenant)s AND user_id = %(user)s ORDER BY created_at DESC LIMIT %(latest)s)
    UNION
    (SELECT context_id, fingerprints, pieces FROM injections
     WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND context_id = ANY(%(contexts)s))
) AS i
CROSS JOIN LATERAL unnest(i.fingerprints, i.pieces) AS f(hash, piece)
WHERE f.hash = ANY(%(hashes)s)
"""


async def find_recalled(
    conn: Connection, subject: Subject, hashes: Sequence[int], contexts: Sequence[UUID], latest: int = 20
) -> list[Recalled]:
    """The sentences among these that occurred in these packages or in one of the user's `latest`."""
    if not hashes:
        return []
    params = {**subject.params, "hashes": list(hashes), "contexts": list(contexts), "latest": latest}
    return [Recalled(**row) for row in await (await conn.execute(_RECALLED, params)).fetchall()]


_PRUNE_RECEIPTS: LiteralString = """
DELETE FROM memory_receipts WHERE (tenant_id, user_id, context_id, receipt_type) IN
    (SELECT tenant_id, user_id, context_id, receipt_type FROM memory_receipts
     WHERE created_at < now() - %(age)s LIMIT %(limit)s)
"""
_PRUNE_PACKAGES: LiteralString = """
DELETE FROM context_packages WHERE (tenant_id, user_id, context_id) IN
    (SELECT tenant_id, user_id, context_id FROM context_packages WHERE created_at < now() - %(age)s LIMIT %(limit)s)
"""


async def prune(conn: Connection, receipts_age: timedelta, packages_age: timedelta, limit: int) -> int:
    """Deletes old receipts and packages of all users, with the system role; their number."""
    gone = (await conn.execute(_PRUNE_RECEIPTS, {"age": receipts_age, "limit": limit})).rowcount
    return gone + (await conn.execute(_PRUNE_PACKAGES, {"age": packages_age, "limit": limit})).rowcount


@dataclass(frozen=True, slots=True)
class Injection:
    """One recorded package; `turn_id` and `used_ids` are known once its answer was observed."""

    context_id: UUID
    session_id: str
    core_ids: tuple[UUID, ...]
    evidence_ids: tuple[UUID, ...]
    degraded: bool
    created_at: datetime
    turn_id: UUID | None
    used_ids: tuple[UUID, ...] | None
    utilization_signal: UtilizationSignal | None


_COLUMNS: LiteralString = """
SELECT i.context_id, i.session_id, i.core_ids, i.evidence_ids, i.degraded, i.created_at, i.turn_id, i.used_ids,
    i.utilization_signal
"""
_FOR: LiteralString = (
    _COLUMNS
    + """FROM injections i WHERE i.tenant_id = %(tenant)s AND i.user_id = %(user)s
    AND i.context_id = ANY(%(contexts)s::uuid[])
UNION ALL"""
    + _COLUMNS
    + """FROM injections i WHERE i.tenant_id = %(tenant)s AND i.user_id = %(user)s
    AND i.turn_id = ANY(%(turns)s::uuid[]) AND i.context_id <> ALL(%(contexts)s::uuid[])
UNION ALL SELECT i.* FROM unnest(%(sessions)s::text[]) AS s(session_id) CROSS JOIN LATERAL ("""
    + _COLUMNS
    + """FROM injections i WHERE i.tenant_id = %(tenant)s AND i.user_id = %(user)s AND i.session_id = s.session_id
    AND i.turn_id IS NULL AND i.context_id <> ALL(%(contexts)s::uuid[])
    ORDER BY i.created_at DESC LIMIT %(limit)s) AS i
"""
)


MOST_UNANSWERED = 64
"""How many unanswered packages of a session are looked at."""


async def load_injections(
    conn: Connection,
    subject: Subject,
    *,
    contexts: Iterable[UUID],
    turns: Iterable[UUID],
    sessions: Iterable[str],
) -> list[Injection]:
    """The packages with these ids, those of these turns, and the latest unanswered ones of these sessions."""
    params: dict[str, Any] = {
        **subject.params,
        "contexts": list(contexts),
        "turns": list(turns),
        "sessions": list(sessions),
        "limit": MOST_UNANSWERED,
    }
    if not (params["contexts"] or params["turns"] or params["sessions"]):
        return []
    found = await (await conn.execute(_FOR, params)).fetchall()
    return [_injection(row) for row in found]


def _injection(row: Mapping[str, Any]) -> Injection:
    used = row["used_ids"]
    fields: dict[str, Any] = {
        **row,
        "core_ids": tuple(row["core_ids"]),
        "evidence_ids": tuple(row["evidence_ids"]),
        "used_ids": None if used is None else tuple(used),
    }
    return Injection(**fields)


@dataclass(frozen=True, slots=True)
class Reception:
    """The reception of a package; None leaves a value unchanged."""

    context_id: UUID
    turn_id: UUID | None = None
    used_ids: tuple[UUID, ...] | None = None
    utilized: bool | None = None
    utilization_signal: UtilizationSignal | None = None
    feedback_signal: FeedbackSignal | None = None


_RECEIVED: LiteralString = """
UPDATE injections SET turn_id = coalesce(turn_id, %(turn_id)s), used_ids = coalesce(%(used_ids)s, used_ids),
    utilized = coalesce(%(utilized)s, utilized),
    utilization_signal = coalesce(%(utilization_signal)s, utilization_signal),
    feedback_signal = coalesce(%(feedback_signal)s, feedback_signal)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND context_id = %(context_id)s
"""


_JUDGED: LiteralString = """
UPDATE injections i SET verdicts = i.verdicts || carried.verdicts
FROM (
    SELECT p.context_id, jsonb_object_agg(m.memory_id::text,
        jsonb_build_object('verdict', %(verdict)s::text, 'at', %(at)s::timestamptz)) AS verdicts
    FROM injections p CROSS JOIN LATERAL unnest(p.core_ids || p.evidence_ids) AS m(memory_id)
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.context_id = %(context)s
        AND m.memory_id = ANY(%(line)s::uuid[])
        AND coalesce((p.verdicts -> m.memory_id::text ->> 'at')::timestamptz, '-infinity') <= %(at)s
    GROUP BY p.context_id
) AS carried
WHERE i.tenant_id = %(tenant)s AND i.user_id = %(user)s AND i.context_id = carried.context_id
"""


async def judge(
    conn: Connection, subject: Subject, context_id: UUID, line: Sequence[UUID], verdict: str, at: datetime
) -> None:
    """Records the user's latest verdicts on these versions in the package that contained them."""
    params = {**subject.params, "context": context_id, "line": list(line), "verdict": verdict, "at": at}
    await conn.execute(_JUDGED, params)


async def receive(conn: Connection, subject: Subject, receptions: Sequence[Reception]) -> None:
    """Records the receptions in their packages, in this order."""
    for each in receptions:
        params = {
            **subject.params,
            "context_id": each.context_id,
            "turn_id": each.turn_id,
            "used_ids": None if each.used_ids is None else list(each.used_ids),
            "utilized": each.utilized,
            "utilization_signal": each.utilization_signal,
            "feedback_signal": each.feedback_signal,
        }
        await conn.execute(_RECEIVED, params)


_PRUNE_INJECTIONS: LiteralString = """
DELETE FROM injections WHERE (tenant_id, user_id, context_id) IN
    (SELECT tenant_id, user_id, context_id FROM injections WHERE created_at < now() - %(age)s LIMIT %(limit)s)
"""


async def prune_injections(conn: Connection, age: timedelta, limit: int) -> int:
    """Deletes old packages of all users, with the system role; their number."""
    return (await conn.execute(_PRUNE_INJECTIONS, {"age": age, "limit": limit})).rowcount
