"""Rows that go for their age: of erasures after the retention years, of users after what they or their tenant chose."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject

_TOMBSTONES: LiteralString = """
DELETE FROM tombstones WHERE (tenant_id, user_id, tombstone_id) IN (SELECT tenant_id, user_id, tombstone_id
    FROM tombstones WHERE completed_at < now() - make_interval(years => %(years)s) LIMIT %(limit)s)
RETURNING tenant_id, user_id, tombstone_id
"""
_OF_THEM: tuple[LiteralString, ...] = tuple(
    "DELETE FROM " + table + """ AS x USING unnest(%(tenants)s::text[], %(users)s::text[], %(ids)s::uuid[])
    AS gone(tenant_id, user_id, tombstone_id)
WHERE (x.tenant_id, x.user_id, x.tombstone_id) = (gone.tenant_id, gone.user_id, gone.tombstone_id)
"""
    for table in ("erasure_steps", "audit_events")
)  # fmt: skip


async def prune_erasures(conn: Connection, years: int, limit: int) -> int:
    """Deletes erasures completed this long ago, with their steps and audit events; their number."""
    gone = await (await conn.execute(_TOMBSTONES, {"years": years, "limit": limit})).fetchall()
    whose = {
        "tenants": [row["tenant_id"] for row in gone],
        "users": [row["user_id"] for row in gone],
        "ids": [row["tombstone_id"] for row in gone],
    }
    for statement in _OF_THEM:
        await conn.execute(statement, whose)
    return len(gone)


_OLD_SESSION: LiteralString = """
FROM sessions s JOIN turns t
    ON (t.tenant_id, t.user_id, t.session_id, t.seq) = (s.tenant_id, s.user_id, s.session_id, s.next_seq - 1)
WHERE s.tombstone_id IS NULL AND greatest(s.last_turn_at, t.committed_at) < now() - make_interval(days => {days})
"""
_OLD_MEMORY: LiteralString = """
FROM memory_items m WHERE m.status IN ('active', 'retracted', 'expired', 'candidate_evict')
    AND greatest(m.valid_at, m.created_at, m.last_validated_at) < now() - make_interval(days => {days})
"""
_OWN_DAYS: LiteralString = "coalesce(least(r.own, r.of_tenant), %(days)s)"
_OWNERS: LiteralString = (
    """
WITH users AS (SELECT DISTINCT tenant_id, user_id FROM sessions),
rules AS (
    SELECT w.tenant_id, w.user_id, coalesce(g.chosen, '{}') AS tenant, coalesce(u.chosen, '{}') AS user_,
        (u.chosen ->> 'retention_days')::integer AS own, (g.chosen ->> 'retention_days')::integer AS of_tenant
    FROM users w LEFT JOIN user_settings u USING (tenant_id, user_id) LEFT JOIN tenant_settings g USING (tenant_id)
)
SELECT r.tenant_id, r.user_id, r.tenant, r.user_ FROM rules r
WHERE coalesce(r.own, r.of_tenant, %(days)s) IS NOT NULL AND (
    EXISTS (SELECT """
    + _OLD_SESSION.replace("{days}", _OWN_DAYS)
    + """ AND s.tenant_id = r.tenant_id AND s.user_id = r.user_id)
    OR EXISTS (SELECT """
    + _OLD_MEMORY.replace("{days}", _OWN_DAYS)
    + """ AND m.tenant_id = r.tenant_id AND m.user_id = r.user_id))
ORDER BY random() LIMIT %(limit)s
"""
)
_WHOSE: LiteralString = " AND {0}.tenant_id = %(tenant)s AND {0}.user_id = %(user)s"
_SESSIONS: LiteralString = (
    "SELECT s.session_id "
    + _OLD_SESSION.replace("{days}", "%(days)s")
    + _WHOSE.replace("{0}", "s")
    + " ORDER BY s.last_turn_at LIMIT %(limit)s"
)
_MEMORIES: LiteralString = (
    "SELECT m.memory_id "
    + _OLD_MEMORY.replace("{days}", "%(days)s")
    + _WHOSE.replace("{0}", "m")
    + " ORDER BY m.valid_at LIMIT %(limit)s"
)


async def find_owners(conn: Connection, days: int | None, limit: int) -> Sequence[Mapping[str, Any]]:
    """Users who may have expired data, with their and their tenant's choices; `days` if nobody chose."""
    return await (await conn.execute(_OWNERS, {"days": days, "limit": limit})).fetchall()


async def list_sessions(conn: Connection, owner: Subject, days: int, limit: int) -> list[str]:
    """The user's sessions without a message for this many days, oldest first."""
    return [row["session_id"] for row in await _find(conn, _SESSIONS, owner, days, limit)]


async def list_memories(conn: Connection, owner: Subject, days: int, limit: int) -> list[UUID]:
    """The user's memories neither stated nor confirmed for this many days, oldest first."""
    return [row["memory_id"] for row in await _find(conn, _MEMORIES, owner, days, limit)]


async def _find(
    conn: Connection, statement: LiteralString, owner: Subject, days: int, limit: int
) -> Sequence[Mapping[str, Any]]:
    return await (await conn.execute(statement, {**owner.params, "days": days, "limit": limit})).fetchall()
