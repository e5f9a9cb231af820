"""tool_receipts: written by observer, pruned by governor. agent_experience: written by evolver, read by compose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.vocabulary import Intent
from shared.db import Connection, Read
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class ToolReceipt:
    """The result of one tool call, and the intent of its turn."""

    turn_id: UUID
    ordinal: int
    tool: str
    status: str
    intent: Intent | None
    said_at: datetime


_PUT: LiteralString = """
INSERT INTO tool_receipts (tenant_id, user_id, turn_id, ordinal, tool, status, intent, said_at)
SELECT %(tenant)s, %(user)s, r.turn_id, r.ordinal, r.tool, r.status, r.intent, r.said_at
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(turn_id uuid, ordinal integer, tool text, status text, intent text,
    said_at timestamptz)
ON CONFLICT DO NOTHING
"""


async def receive(conn: Connection, subject: Subject, receipts: Sequence[ToolReceipt]) -> None:
    """Stores a receipt for each call, once."""
    if receipts:
        rows = orjson.dumps(receipts).decode()
        await conn.execute(_PUT, {**subject.params, "rows": rows})


_PRUNE: LiteralString = """
DELETE FROM tool_receipts WHERE (tenant_id, user_id, turn_id, ordinal) IN (
    SELECT tenant_id, user_id, turn_id, ordinal FROM tool_receipts WHERE said_at < now() - %(age)s LIMIT %(limit)s)
"""


async def prune(conn: Connection, age: timedelta, limit: int) -> int:
    """Deletes receipts older than `age` of all users, with the system role; their number."""
    return (await conn.execute(_PRUNE, {"age": age, "limit": limit})).rowcount


@dataclass(frozen=True, slots=True)
class Counted:
    """Statistics of one tenant's receipts; `user_id` None means several users, `part` is an intent or None for all."""

    tenant_id: str
    user_id: str | None
    about: str
    part: str | None
    figures: Mapping[str, int]


_TOOLS: LiteralString = """
WITH shared AS (
    SELECT tenant_id, tool, count(DISTINCT user_id) >= %(users)s AS several FROM tool_receipts
    WHERE said_at > now() - %(age)s AND tool <> '?' GROUP BY tenant_id, tool)
SELECT r.tenant_id, CASE WHEN s.several THEN NULL ELSE r.user_id END AS user_id, 'tool:' || r.tool AS about,
    r.intent AS part, GROUPING(r.intent) = 1 AS whole, count(DISTINCT r.user_id) AS users,
    count(*) FILTER (WHERE status = 'ok') AS succeeded, count(*) FILTER (WHERE status = 'error') AS errors,
    count(*) FILTER (WHERE status = 'pending') AS pending
FROM tool_receipts r JOIN shared s USING (tenant_id, tool)
WHERE r.said_at > now() - %(age)s
GROUP BY GROUPING SETS ((1, 2, 3, s.several), (1, 2, 3, s.several, r.intent))
HAVING NOT s.several OR count(DISTINCT r.user_id) >= %(users)s
"""
_RETRIEVAL: LiteralString = """
WITH answered AS (
    SELECT tenant_id, user_id, feedback_signal, part, cardinality(ids) AS carried, ids && used_ids AS used
    FROM injections CROSS JOIN LATERAL (VALUES ('evidence', evidence_ids), ('core', core_ids)) AS p(part, ids)
    WHERE created_at > now() - %(age)s AND used_ids IS NOT NULL AND NOT degraded AND cardinality(ids) > 0),
shared AS (SELECT tenant_id, part, count(DISTINCT user_id) >= %(users)s AS several FROM answered GROUP BY 1, 2)
SELECT a.tenant_id, CASE WHEN s.several THEN NULL ELSE a.user_id END AS user_id, 'retrieval:' || a.part AS about,
    true AS whole, NULL AS part, count(DISTINCT a.user_id) AS users, count(*) AS packages,
    count(*) FILTER (WHERE used) AS utilized,
    count(*) FILTER (WHERE used AND feedback_signal IN ('correction', 'negative')) AS corrected,
    count(*) FILTER (WHERE used AND feedback_signal = 'positive_confirm') AS confirmed
FROM answered a JOIN shared s USING (tenant_id, part) GROUP BY 1, 2, 3
"""
_SOLE: LiteralString = "SELECT pg_try_advisory_xact_lock(727005) AS sole"


async def count_receipts(conn: Connection, age: timedelta, users: int) -> list[Counted] | None:
    """The statistics of all receipts within `age`; None while another evolver computes them. With the system role.

    Tools used by fewer than `users` users of a tenant are counted per user, so that shared figures and tool names
    reveal no single user's activity.
    """
    row = await (await conn.execute(_SOLE)).fetchone()
    if not (row and row["sole"]):
        return None
    params = {"age": age, "users": users}
    return [
        to_counted(row)
        for statement in (_TOOLS, _RETRIEVAL)
        for row in await (await conn.execute(statement, params)).fetchall()
        if row["whole"] or row["part"]
    ]


def to_counted(row: Mapping[str, Any]) -> Counted:
    named = ("tenant_id", "user_id", "about", "part", "whole")
    figures = {name: int(value) for name, value in row.items() if name not in named}
    return Counted(row["tenant_id"], row["user_id"], row["about"], row["part"], figures)


@dataclass(frozen=True, slots=True)
class Experience:
    """One experience of an agent; `user_id` None means that the tenant shares it."""

    experience_id: UUID
    tenant_id: str
    user_id: str | None
    key: str
    figures: Mapping[str, Any]
    confidence: float
    updated_at: datetime | None = None


_KEEP: LiteralString = """
INSERT INTO agent_experience AS e (tenant_id, user_id, experience_id, key, figures, confidence)
SELECT n.tenant_id, n.user_id, n.experience_id, n.key, n.figures, n.confidence
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(tenant_id text, user_id text, experience_id uuid, key text, figures jsonb,
    confidence real)
ON CONFLICT (tenant_id, user_id, key) DO UPDATE SET figures = excluded.figures, confidence = excluded.confidence,
    updated_at = now()
WHERE (e.figures, e.confidence) IS DISTINCT FROM (excluded.figures, excluded.confidence)
"""
_FORGET: LiteralString = """
DELETE FROM agent_experience e WHERE NOT EXISTS (
    SELECT 1 FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(tenant_id text, user_id text, key text)
    WHERE n.tenant_id = e.tenant_id AND n.user_id IS NOT DISTINCT FROM e.user_id AND n.key = e.key)
"""


async def keep(conn: Connection, learnt: Sequence[Experience]) -> None:
    """Replaces all experience of agents: new rows are added, changed ones updated, the rest deleted."""
    rows = {"rows": orjson.dumps(learnt, default=str).decode()}
    await conn.execute(_KEEP, rows)
    await conn.execute(_FORGET, rows)


_OF: LiteralString = """
SELECT experience_id, tenant_id, user_id, key, figures, confidence::float8 AS confidence, updated_at
FROM agent_experience WHERE tenant_id = %(tenant)s AND (user_id IS NULL OR user_id = %(user)s)
ORDER BY confidence DESC, key, user_id LIMIT %(limit)s
"""


def of(subject: Subject, limit: int) -> Read[list[Experience]]:
    """Experience of the tenant's agent, shared or from this user; highest confidence first."""
    return Read(_OF, {**subject.params, "limit": limit}, lambda rows: [Experience(**row) for row in rows])
