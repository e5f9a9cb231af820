"""quarantine: written by whichever worker gave an event up; read by operators."""

from typing import LiteralString
from uuid import UUID

from shared.clock import uuid7
from shared.db import Connection
from shared.domain.subjects import Subject

_PUT: LiteralString = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
SELECT %(tenant)s, %(user)s, %(id)s, %(stage)s, %(turn)s, %(event)s, %(reason)s
WHERE NOT EXISTS (SELECT FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s
    AND tombstone_id IS NOT NULL)
ON CONFLICT DO NOTHING
"""


async def put(
    conn: Connection, subject: Subject, *, stage: str, turn_id: UUID | None, event_id: UUID, reason: str
) -> None:
    """The event is named among those that were given up, but where its turn has been erased."""
    params = {
        "tenant": subject.tenant_id,
        "user": subject.user_id,
        "id": uuid7(),
        "stage": stage,
        "turn": turn_id,
        "event": event_id,
        "reason": reason[:500],
    }
    await conn.execute(_PUT, params)
