"""promotions: the progress of approved ones towards the knowledge side. Compose requests, librarian settles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, LiteralString
from uuid import UUID

import orjson

from schemas.promotion import PromotionClass, Visibility
from schemas.vocabulary import MemoryType
from shared.db import Connection
from shared.domain.subjects import Subject

_REQUEST: LiteralString = """
UPDATE promotions SET status = 'approved', write_requested_at = now(), write_attempts = 0, write_reason = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND proposal_id = %(proposal)s AND written_at IS NULL
    AND status IN ('approved', 'write_failed')
"""


async def request(conn: Connection, subject: Subject, proposal_id: UUID) -> bool:
    """Whether the promotion is pending now, with all its attempts; False if it is written already."""
    return bool((await conn.execute(_REQUEST, {**subject.params, "proposal": proposal_id})).rowcount)


@dataclass(frozen=True, slots=True)
class Approved:
    """A promotion to write, with the text of its memory; None if that is no longer active."""

    proposal_id: UUID
    memory_id: UUID
    type: MemoryType
    class_: PromotionClass
    visibility: Visibility
    org_id: str
    attempts: int
    content: str | None
    decided_at: datetime


_WAITING: LiteralString = """
SELECT p.proposal_id, p.memory_id, m.type, p.class AS class_, p.visibility, p.org_id, p.write_attempts AS attempts,
    CASE WHEN m.status = 'active' AND m.fused_at IS NULL THEN m.content_text END AS content, p.decided_at
FROM promotions p JOIN memory_items m USING (tenant_id, user_id, memory_id)
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.proposal_id = ANY(%(ids)s)
    AND p.status = 'approved' AND p.write_requested_at IS NOT NULL AND p.written_at IS NULL
ORDER BY p.write_requested_at, p.proposal_id
"""


async def load_waiting(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[Approved]:
    """Those of the promotions that are pending."""
    params = {**subject.params, "ids": list(ids)}
    return [Approved(**row) for row in await (await conn.execute(_WAITING, params)).fetchall()]


_OFFERED: LiteralString = """
UPDATE promotions SET offered_at = clock_timestamp()
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND proposal_id = %(proposal)s AND status = 'approved'
    AND written_at IS NULL
"""


async def may_offer(conn: Connection, subject: Subject, proposal_id: UUID) -> bool:
    """Whether it may be sent to the knowledge side now; an erasure waits until it is settled or times out."""
    return bool((await conn.execute(_OFFERED, {**subject.params, "proposal": proposal_id})).rowcount)


WriteState = Literal["written", "waiting", "write_failed"]


@dataclass(frozen=True, slots=True)
class SettledWrite:
    """The result of one attempt."""

    proposal_id: UUID
    state: WriteState
    reason: str | None = None
    document_id: str | None = None


_SETTLE: LiteralString = """
UPDATE promotions p SET status = CASE WHEN s.state = 'write_failed' THEN 'write_failed' ELSE 'approved' END,
    written_at = CASE WHEN s.state = 'written' THEN now() END, write_reason = s.reason,
    document_id = coalesce(s.document_id, p.document_id), write_attempts = p.write_attempts + 1, offered_at = NULL
FROM jsonb_to_recordset(%(rows)s::jsonb) AS s(proposal_id uuid, state text, reason text, document_id text)
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.proposal_id = s.proposal_id
    AND p.status = 'approved' AND p.written_at IS NULL
RETURNING s.state
"""


async def settle(conn: Connection, subject: Subject, settled: Iterable[SettledWrite]) -> list[WriteState]:
    """Records the results of pending ones."""
    rows = orjson.dumps(list(settled)).decode()
    return [row["state"] for row in await (await conn.execute(_SETTLE, {**subject.params, "rows": rows})).fetchall()]


_OVERDUE: LiteralString = """
SELECT tenant_id, user_id, proposal_id, visibility FROM promotions
WHERE status = 'approved' AND written_at IS NULL AND write_requested_at < now() - %(grace)s
ORDER BY write_requested_at LIMIT %(limit)s
"""


async def overdue(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Promotions of all users pending longer than the grace period, oldest first (ids only)."""
    return await (await conn.execute(_OVERDUE, {"grace": grace, "limit": limit})).fetchall()
