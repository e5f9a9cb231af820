"""Users, erasures and model costs over all users: ids, states and figures. Read by compose for operators."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from schemas.operations import ErasureState, ModelUse, UserView
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.store.flow import Whose

_OF: LiteralString = """
(%(tenant)s::text IS NULL OR tenant_id = %(tenant)s) AND (%(user)s::text IS NULL OR user_id = %(user)s)
"""
_USERS: LiteralString = (
    """
WITH people AS (
    SELECT tenant_id, user_id, count(*) AS sessions, sum(next_seq - 1)::bigint AS turns, max(last_turn_at) AS last_at
    FROM sessions WHERE tombstone_id IS NULL AND (%(begins)s::text IS NULL OR starts_with(user_id, %(begins)s)) AND """
    + _OF
    + """ GROUP BY tenant_id, user_id
    ORDER BY max(last_turn_at) DESC, tenant_id, user_id LIMIT %(limit)s OFFSET %(offset)s
)
SELECT p.tenant_id, p.user_id, p.sessions, p.turns, p.last_at,
    (SELECT count(*) FROM memory_items m WHERE m.tenant_id = p.tenant_id AND m.user_id = p.user_id
        AND m.status = 'active') AS memories,
    (SELECT count(*) FROM turns t WHERE t.tenant_id = p.tenant_id AND t.user_id = p.user_id
        AND t.outcome_at IS NULL) AS turns_open,
    (SELECT count(*) FROM tombstones d WHERE d.tenant_id = p.tenant_id AND d.user_id = p.user_id
        AND d.status <> 'completed') AS erasures_open
FROM people p ORDER BY p.last_at DESC, p.tenant_id, p.user_id
"""
)


async def load_users(conn: Connection, whose: Whose, begins: str | None, limit: int, offset: int) -> list[UserView]:
    """Users whose id has this prefix, the latest active first."""
    params = {**whose.params, "begins": begins, "limit": limit, "offset": offset}
    return [UserView(**row) for row in await (await conn.execute(_USERS, params)).fetchall()]


_ERASURES: LiteralString = (
    """
SELECT tenant_id, user_id, tombstone_id, scope, status, profile, attempts, requested_at, deadline_at, next_try_at,
    escalated_at, completed_at
FROM tombstones WHERE (completed_at IS NULL OR NOT %(open)s) AND """
    + _OF
    + """ ORDER BY completed_at IS NOT NULL, CASE WHEN completed_at IS NULL THEN deadline_at END,
    completed_at DESC, tombstone_id LIMIT %(limit)s
"""
)


async def load_erasures(conn: Connection, whose: Whose, limit: int, *, open_only: bool) -> list[ErasureState]:
    """The erasures: open ones first, by deadline, then the newest completed ones."""
    params = {**whose.params, "limit": limit, "open": open_only}
    return [ErasureState(**row) for row in await (await conn.execute(_ERASURES, params)).fetchall()]


_MODELS: LiteralString = (
    """
SELECT day, model, purpose, sum(calls)::bigint AS calls, sum(tokens_in)::bigint AS tokens_in,
    sum(tokens_out)::bigint AS tokens_out, sum(seconds)::float8 AS seconds, sum(malformed)::bigint AS unreadable
FROM model_usage WHERE day > current_date - %(days)s::integer AND """
    + _OF
    + " GROUP BY day, model, purpose ORDER BY day DESC, model, purpose"
)


async def load_models(conn: Connection, whose: Whose, days: int) -> list[ModelUse]:
    """The last `days` days (UTC), newest first."""
    return [ModelUse(**row) for row in await (await conn.execute(_MODELS, {**whose.params, "days": days})).fetchall()]


_OWNER: LiteralString = (
    """
SELECT tenant_id, user_id FROM turns WHERE turn_id = %(turn)s
    AND committed_at BETWEEN %(from)s AND %(to)s AND """
    + _OF
)


async def find_owner_of_turn(
    conn: Connection, whose: Whose, turn_id: UUID, since: datetime, until: datetime
) -> Subject | None:
    """The owner of a turn, among those committed within this time."""
    row = await (await conn.execute(_OWNER, {**whose.params, "turn": turn_id, "from": since, "to": until})).fetchone()
    return Subject(row["tenant_id"], row["user_id"]) if row else None
