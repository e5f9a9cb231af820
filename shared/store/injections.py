"""injections: written by compose (shared.store.contexts); observer fills how they were received; governor prunes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from schemas.vocabulary import FeedbackSignal, UtilizationSignal
from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class Injection:
    """One recorded package; `turn_id` and `used_ids` are known once the answer has been read."""

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


async def candidates(
    conn: Connection,
    subject: Subject,
    *,
    contexts: Iterable[UUID],
    turns: Iterable[UUID],
    sessions: Iterable[str],
    limit: int = 64,
) -> list[Injection]:
    """The packages of these ids, those of these turns, and the latest of these sessions that no turn has answered."""
    params: dict[str, Any] = {
        **subject.params,
        "contexts": list(contexts),
        "turns": list(turns),
        "sessions": list(sessions),
        "limit": limit,
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
    """How a package was received; what is None stays as it was."""

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
    """The package tells what was said last of those of these versions that it carried."""
    params = {**subject.params, "context": context_id, "line": list(line), "verdict": verdict, "at": at}
    await conn.execute(_JUDGED, params)


async def receive(conn: Connection, subject: Subject, receptions: Sequence[Reception]) -> None:
    """The packages tell how they were received, in this order."""
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


_PRUNE: LiteralString = """
DELETE FROM injections WHERE (tenant_id, user_id, context_id) IN
    (SELECT tenant_id, user_id, context_id FROM injections WHERE created_at < now() - %(age)s LIMIT %(limit)s)
"""


async def prune(conn: Connection, age: timedelta, limit: int) -> int:
    """How many old packages were removed; over all users, by the system role."""
    return (await conn.execute(_PRUNE, {"age": age, "limit": limit})).rowcount
