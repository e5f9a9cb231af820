"""injections by memory: the packages that contained it, their messages, and their reception."""

from collections.abc import Collection
from typing import LiteralString
from uuid import UUID

from schemas.receipts import MemoryUse
from shared.db import Connection
from shared.domain.subjects import Subject

LOOKED_AT = 5000
"""The number of the user's newest packages to search."""


# an index on arrays would not be used: its operators are not leakproof, so row-level security prevents it
_USES: LiteralString = """
WITH latest AS (
    SELECT context_id, session_id, created_at, turn_id, core_ids, evidence_ids, used_ids, utilization_signal,
        feedback_signal, verdicts
    FROM injections WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    ORDER BY created_at DESC LIMIT %(looked_at)s
), uses AS (
    SELECT l.*, m.memory_id, m.memory_id = ANY(l.core_ids) AS core
    FROM latest l JOIN unnest(%(ids)s::uuid[]) AS m(memory_id)
        ON m.memory_id = ANY(l.core_ids) OR m.memory_id = ANY(l.evidence_ids)
    ORDER BY l.created_at DESC, l.context_id, m.memory_id LIMIT %(limit)s OFFSET %(offset)s
)
SELECT u.context_id, u.session_id, u.created_at, u.memory_id, CASE WHEN u.core THEN 'core' ELSE 'evidence' END AS slot,
    u.turn_id, coalesce(said.text, p.package -> 'user_message' ->> 'content') AS message,
    u.memory_id = ANY(u.used_ids) AS used, u.utilization_signal,
    CASE WHEN u.memory_id = ANY(u.used_ids) THEN u.feedback_signal END AS user_feedback_signal,
    u.verdicts -> u.memory_id::text ->> 'verdict' AS verdict
FROM uses u
LEFT JOIN context_packages p ON p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.context_id = u.context_id
    AND p.tombstone_id IS NULL
LEFT JOIN LATERAL (
    SELECT e.content ->> 'text' AS text FROM conversation_events e
    WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.turn_id = u.turn_id
        AND e.event_type = 'user_message' AND e.content IS NOT NULL
    ORDER BY e.ordinal LIMIT 1
) AS said ON true
ORDER BY u.created_at DESC, u.context_id, u.memory_id
"""


async def load_uses(
    conn: Connection, subject: Subject, ids: Collection[UUID], limit: int, offset: int
) -> list[MemoryUse]:
    """The packages with any of these memories, newest first, each with the user's message."""
    params = {**subject.params, "ids": list(ids), "looked_at": LOOKED_AT, "limit": limit, "offset": offset}
    return [MemoryUse(**row) for row in await (await conn.execute(_USES, params)).fetchall()]
