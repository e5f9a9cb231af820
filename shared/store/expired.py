"""tombstones, erasure_steps, audit_events: deleted by the governor after the retention years."""

from typing import LiteralString

from shared.db import Connection

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
