"""promotions: written by evolver; compose records decisions. No row contains text of a memory.

The librarian writes approved ones to the knowledge side: `shared.store.promoted`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.promotion import PromotionClass, PromotionStatus, Visibility
from schemas.vocabulary import Epistemic, MemoryType
from shared.db import Connection
from shared.domain.subjects import Subject

_DUE: LiteralString = """
SELECT tenant_id, user_id FROM memory_items m
WHERE status = 'active' AND confidence >= %(confidence)s AND epistemic_type IN ('fact', 'preference')
    AND fused_at IS NULL AND updated_at > greatest(created_at, %(since)s)
    AND NOT EXISTS (SELECT 1 FROM promotions p
        WHERE (p.tenant_id, p.user_id, p.memory_id) = (m.tenant_id, m.user_id, m.memory_id))
UNION
SELECT p.tenant_id, p.user_id FROM promotions p JOIN memory_items m USING (tenant_id, user_id, memory_id)
WHERE p.status = 'pending_approval' AND (p.expires_at <= now() OR m.status <> 'active' OR m.fused_at IS NOT NULL)
"""
_NOW: LiteralString = "SELECT now() AS now"


async def load_due(conn: Connection, confidence: float, since: datetime | None) -> tuple[list[Subject], datetime]:
    """Users whose memories may qualify since a change after `since`, or whose proposals ended, and the current time.

    With the system role, which sees no text and no session.
    """
    found = await (await conn.execute(_DUE, {"confidence": confidence - 1e-6, "since": since})).fetchall()
    row = await (await conn.execute(_NOW)).fetchone()
    assert row  # noqa: S101 # a SELECT without FROM returns one row
    return [Subject(each["tenant_id"], each["user_id"]) for each in found], row["now"]


@dataclass(frozen=True, slots=True)
class PromotionCandidate:
    """An active memory without a proposal, with its criteria."""

    memory_id: UUID
    type: MemoryType
    key: str | None
    content_text: str
    value: Mapping[str, Any]
    confidence: float
    epistemic: Epistemic
    sessions: int
    used: int
    said_again: int
    confirmations: int
    against: int


_CANDIDATES: LiteralString = """
WITH used AS (
    SELECT memory_id, count(*) AS times FROM injections CROSS JOIN LATERAL unnest(used_ids) AS u(memory_id)
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND created_at > now() - interval '30 days' GROUP BY 1),
said AS (
    SELECT related_memory_id AS memory_id, count(*) AS ever,
        count(*) FILTER (WHERE said_at > now() - interval '30 days') AS lately FROM observations
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state = 'evolved' AND reason LIKE 'confirm:%%' GROUP BY 1),
opposed AS (
    SELECT memory_id, count(*) AS times FROM conflicts
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state IN ('open', 'replaced') GROUP BY 1)
SELECT m.memory_id, m.type, m.key, m.content_text, m.value, round(m.confidence::numeric, 4)::float8 AS confidence,
    m.epistemic_type AS epistemic, cardinality(m.source_sessions) AS sessions, coalesce(u.times, 0) AS used,
    coalesce(s.lately, 0) AS said_again, coalesce(s.ever, 0) AS confirmations, coalesce(o.times, 0) AS against
FROM memory_items m LEFT JOIN used u USING (memory_id) LEFT JOIN said s USING (memory_id)
    LEFT JOIN opposed o USING (memory_id)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.status = 'active' AND m.confidence >= %(confidence)s
    AND m.fused_at IS NULL AND (m.valid_until IS NULL OR m.valid_until > now())
    AND NOT 'self_benefit' = ANY(m.flags)
    AND NOT EXISTS (SELECT 1 FROM promotions p WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s
        AND p.memory_id = m.memory_id)
"""


async def candidates(conn: Connection, subject: Subject, confidence: float) -> list[PromotionCandidate]:
    """The user's memories without a proposal, except fused and self-serving ones."""
    params = {**subject.params, "confidence": confidence - 1e-6}
    return [PromotionCandidate(**row) for row in await (await conn.execute(_CANDIDATES, params)).fetchall()]


@dataclass(frozen=True, slots=True)
class Proposal:
    """The decision on one qualifying memory."""

    proposal_id: UUID
    memory_id: UUID
    class_: PromotionClass
    visibility: Visibility
    status: PromotionStatus
    figures: Mapping[str, Any]
    reason: str | None


_PUT: LiteralString = """
INSERT INTO promotions (tenant_id, user_id, proposal_id, memory_id, class, visibility, status, figures, reason,
    expires_at, decided_at)
SELECT %(tenant)s, %(user)s, p.proposal_id, p.memory_id, p.class_, p.visibility, p.status, p.figures, p.reason,
    now() + %(lasts)s, CASE WHEN p.status <> 'pending_approval' THEN now() END
FROM jsonb_to_recordset(%(rows)s::jsonb) AS p(proposal_id uuid, memory_id uuid, class_ text, visibility text,
    status text, figures jsonb, reason text)
ON CONFLICT DO NOTHING RETURNING proposal_id
"""


async def put(conn: Connection, subject: Subject, proposals: Sequence[Proposal], lasts: timedelta) -> set[UUID]:
    """Stores proposals; the new ids. A memory has at most one."""
    if not proposals:
        return set()
    rows = orjson.dumps(proposals).decode()
    params = {**subject.params, "rows": rows, "lasts": lasts}
    return {row["proposal_id"] for row in await (await conn.execute(_PUT, params)).fetchall()}


_END: LiteralString = """
UPDATE promotions p SET decided_at = now(),
    status = CASE WHEN m.status = 'active' AND m.fused_at IS NULL THEN 'expired' ELSE 'rejected' END,
    reason = CASE WHEN m.status = 'active' AND m.fused_at IS NULL THEN p.reason ELSE 'memory_ended' END
FROM memory_items m
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.status = 'pending_approval'
    AND (m.tenant_id, m.user_id, m.memory_id) = (p.tenant_id, p.user_id, p.memory_id)
    AND (p.expires_at <= now() OR m.status <> 'active' OR m.fused_at IS NOT NULL)
RETURNING p.status
"""


async def end(conn: Connection, subject: Subject) -> list[PromotionStatus]:
    """Ends the user's proposals that are past their deadline or whose memory is no longer active; the results."""
    return [row["status"] for row in await (await conn.execute(_END, subject.params)).fetchall()]


@dataclass(frozen=True, slots=True)
class Promotion:
    """A stored proposal with the text of its memory."""

    proposal_id: UUID
    memory_id: UUID
    content: str
    class_: PromotionClass
    visibility: Visibility
    status: PromotionStatus
    figures: dict[str, Any]
    reason: str | None
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    org_id: str
    written_at: datetime | None
    write_reason: str | None
    said_in: str
    """The organisation in which the memory was stated."""


_SHOW: LiteralString = """
SELECT p.proposal_id, p.memory_id, m.content_text AS content, p.class AS class_, p.visibility, p.status, p.figures,
    p.reason, p.created_at, p.expires_at, p.decided_at, p.org_id, p.written_at, p.write_reason,
    coalesce(t.org_id, '') AS said_in
FROM promotions p JOIN memory_items m USING (tenant_id, user_id, memory_id)
    LEFT JOIN turns t ON (t.tenant_id, t.user_id, t.turn_id) = (m.tenant_id, m.user_id, m.source_turn_id)
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s
"""
_LIST: LiteralString = (
    _SHOW
    + """ AND (%(status)s::text IS NULL OR p.status = %(status)s)
ORDER BY p.created_at DESC, p.proposal_id DESC LIMIT %(limit)s"""
)
_ONE: LiteralString = _SHOW + " AND p.proposal_id = %(proposal)s FOR UPDATE OF p"


async def list_promotions(conn: Connection, subject: Subject, status: str | None, limit: int) -> list[Promotion]:
    """The user's proposals, newest first."""
    params = {**subject.params, "status": status, "limit": limit}
    return [Promotion(**row) for row in await (await conn.execute(_LIST, params)).fetchall()]


async def one(conn: Connection, subject: Subject, proposal_id: UUID) -> Promotion | None:
    """This proposal, locked until the transaction ends."""
    row = await (await conn.execute(_ONE, {**subject.params, "proposal": proposal_id})).fetchone()
    return Promotion(**row) if row else None


_DECIDE: LiteralString = """
UPDATE promotions SET status = %(status)s, reason = %(reason)s, visibility = %(visibility)s, org_id = %(org)s,
    decided_at = now()
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND proposal_id = %(proposal)s
"""


async def decide(
    conn: Connection,
    subject: Subject,
    proposal_id: UUID,
    *,
    status: PromotionStatus,
    reason: str | None,
    visibility: Visibility,
    org_id: str,
) -> None:
    """Records the decision."""
    params = {
        **subject.params,
        "proposal": proposal_id,
        "status": status,
        "reason": reason,
        "visibility": visibility,
        "org": org_id,
    }
    await conn.execute(_DECIDE, params)
