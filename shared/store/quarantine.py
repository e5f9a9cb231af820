"""quarantine: written by whichever worker gave an event up; read by operators."""

from typing import LiteralString
from uuid import UUID

from shared.clock import uuid7
from shared.db import Connection, Subject

_PUT: LiteralString = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
VALUES (%(tenant)s, %(user)s, %(id)s, %(stage)s, %(turn)s, %(event)s, %(reason)s) ON CONFLICT DO NOTHING
"""


async def put(
    conn: Connection, subject: Subject, *, stage: str, turn_id: UUID | None, event_id: UUID, reason: str
) -> None:
    """The event is named among those that were given up."""
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
