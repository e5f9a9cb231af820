"""quarantine: written by the worker that gives an event up; read by operators, and emptied by redrives."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
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
    """Stores the event in quarantine, unless its turn was erased."""
    params = {
        **subject.params,
        "id": uuid7(),
        "stage": stage,
        "turn": turn_id,
        "event": event_id,
        "reason": reason[:500],
    }
    await conn.execute(_PUT, params)


@dataclass(frozen=True)
class Quarantined:
    """An event that was given up; `reason` is set only if it is requested by id."""

    tenant_id: str
    user_id: str
    quarantine_id: UUID
    stage: str
    turn_id: UUID | None
    event_id: UUID
    created_at: datetime
    reason: str | None = None


_LIST: LiteralString = """
SELECT tenant_id, user_id, quarantine_id, stage, turn_id, event_id, created_at FROM quarantine
WHERE (%(tenant)s::text IS NULL OR tenant_id = %(tenant)s) AND (%(user)s::text IS NULL OR user_id = %(user)s)
    AND (%(stage)s::text IS NULL OR stage = %(stage)s)
    AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
ORDER BY created_at DESC, quarantine_id DESC LIMIT %(limit)s
"""


async def list_newest(
    conn: Connection,
    *,
    tenant_id: str | None,
    user_id: str | None,
    stage: str | None,
    since: datetime | None,
    limit: int,
) -> list[Quarantined]:
    """Events in quarantine, newest first, of all users or of one, without reasons."""
    params = {"tenant": tenant_id, "user": user_id, "stage": stage, "since": since, "limit": limit}
    return [Quarantined(**row) for row in await (await conn.execute(_LIST, params)).fetchall()]


_COLUMNS: LiteralString = """
SELECT tenant_id, user_id, quarantine_id, stage, turn_id, event_id, created_at, reason FROM quarantine
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND
"""
_ONE: LiteralString = _COLUMNS + "quarantine_id = %(id)s"
_OF_EVENT: LiteralString = _COLUMNS + "event_id = %(id)s LIMIT 1"


async def find(conn: Connection, subject: Subject, quarantine_id: UUID) -> Quarantined | None:
    """The user's quarantined event with this id."""
    return await _find(conn, _ONE, subject, quarantine_id)


async def find_event(conn: Connection, subject: Subject, event_id: UUID) -> Quarantined | None:
    """The rows in quarantine for this event of the user."""
    return await _find(conn, _OF_EVENT, subject, event_id)


async def _find(conn: Connection, statement: LiteralString, subject: Subject, named: UUID) -> Quarantined | None:
    row = await (await conn.execute(statement, {**subject.params, "id": named})).fetchone()
    return Quarantined(**row) if row else None


_RELEASE: LiteralString = """
DELETE FROM quarantine WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    AND (event_id = %(event)s OR turn_id = %(turn)s AND stage = ANY(%(stages)s))
"""


async def release(
    conn: Connection, subject: Subject, event_id: UUID, turn_id: UUID | None = None, stages: Sequence[str] = ()
) -> None:
    """Removes the event from quarantine, and others of the turn at these stages."""
    params: dict[str, Any] = {**subject.params, "event": event_id}
    await conn.execute(_RELEASE, {**params, "turn": turn_id, "stages": list(stages)})
