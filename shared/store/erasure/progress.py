"""erasure_steps: the progress of an erasure per store. Written by role smartbrain_erasure."""

from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.erasure import ErasureStep
from shared.db import Connection, Read
from shared.domain.subjects import Subject

_STEPS: LiteralString = """
SELECT step, affected, detail, done_at FROM erasure_steps
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s ORDER BY done_at NULLS LAST, step
"""


def steps(subject: Subject, tombstone_id: UUID) -> Read[list[ErasureStep]]:
    """The steps that have begun, completed ones first in their order."""
    return Read(_STEPS, {**subject.params, "id": tombstone_id}, lambda rows: [ErasureStep(**row) for row in rows])


_NOTE_STEP: LiteralString = """
INSERT INTO erasure_steps AS s (tenant_id, user_id, tombstone_id, step, affected, detail, done_at)
VALUES (%(tenant)s, %(user)s, %(id)s, %(step)s, %(affected)s, %(detail)s::jsonb, CASE WHEN %(done)s THEN now() END)
ON CONFLICT (tenant_id, user_id, tombstone_id, step) DO UPDATE SET affected = s.affected + excluded.affected,
    detail = s.detail || excluded.detail, done_at = excluded.done_at
"""


async def note_step(
    conn: Connection,
    subject: Subject,
    tombstone_id: UUID,
    step: str,
    affected: int,
    *,
    done: bool,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Adds to the number of processed rows of the store, and may complete its step."""
    told = {"id": tombstone_id, "step": step, "affected": affected, "done": done}
    await conn.execute(_NOTE_STEP, {**subject.params, **told, "detail": orjson.dumps(detail or {}).decode()})


_AGAIN: LiteralString = """
UPDATE erasure_steps SET done_at = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s
"""


async def requeue(conn: Connection, subject: Subject, tombstone_id: UUID) -> None:
    """Resets every step, because the scan found rows that none of them had processed."""
    await conn.execute(_AGAIN, {**subject.params, "id": tombstone_id})
