"""turns_under_way, tenants_about: turns in progress, and recently active tenants. Written by relay."""

from collections.abc import Callable
from datetime import timedelta
from typing import LiteralString

from shared.db import Connection, Database
from shared.domain.tenant_queues import TenantQueue, TenantQueues

AHEAD: LiteralString = "smartbrain_ahead"
"""The channel on which relay announces events on fast topics."""
_QUEUES: LiteralString = """
WITH RECURSIVE waiting (tenant) AS (
    SELECT min(waits_for) FROM event_outbox WHERE failed_at IS NULL AND waits_for IS NOT NULL
    UNION ALL
    SELECT (SELECT min(o.waits_for) FROM event_outbox o WHERE o.failed_at IS NULL AND o.waits_for > w.tenant)
    FROM waiting w WHERE w.tenant IS NOT NULL
), queues AS (
    SELECT w.tenant,
        (SELECT count(*) FROM (SELECT FROM event_outbox o WHERE o.failed_at IS NULL AND o.waits_for = w.tenant
            LIMIT greatest(%(flooding)s, %(many)s)) AS each) AS waiting,
        (SELECT count(*) FROM turns_under_way u WHERE u.tenant = w.tenant AND u.since > now() - %(most)s) AS under_way,
        coalesce((SELECT extract(epoch FROM now() - a.last_at)::float8 FROM tenants_about a WHERE a.tenant = w.tenant),
            'infinity') AS rested_s
    FROM waiting w WHERE w.tenant IS NOT NULL
)
SELECT q.*, about.others, about.recent, about.busy, about.crowding FROM queues q CROSS JOIN (
    SELECT coalesce(array_agg(tenant), '{}') AS others,
        coalesce(array_agg(tenant) FILTER (WHERE last_at > now() - %(moment)s), '{}') AS recent,
        (SELECT count(*) FROM turns_under_way u WHERE u.since > now() - %(moment)s
            AND u.tenant NOT IN (SELECT tenant FROM queues WHERE waiting >= %(flooding)s)) AS busy,
        ARRAY(SELECT u.tenant FROM turns_under_way u WHERE u.since > now() - %(most)s AND NOT u.ahead
            GROUP BY u.tenant HAVING count(*) >= %(many)s LIMIT 2) AS crowding
    FROM (SELECT a.tenant, a.last_at FROM tenants_about a WHERE a.last_at > now() - %(lately)s
        ORDER BY a.last_at DESC LIMIT (SELECT count(*) + 1 FROM queues)) AS each
) AS about
"""


async def load_queues(
    conn: Connection, flooding: int, many: int, *, lately: timedelta, most: timedelta, moment: timedelta
) -> TenantQueues:
    """Waiting and recently active tenants; a turn in progress for longer than `most` no longer counts.

    A tenant with `flooding` waiting turns is a flood, and one with `many` in progress crowds others. Waiting turns are
    counted only up to the flood limit, and tenants listed only as far as needed to see whether another is active.
    """
    params = {"flooding": flooding, "many": many, "lately": lately, "most": most, "moment": moment}
    queues = await (await conn.execute(_QUEUES, params)).fetchall()
    if not queues:
        return TenantQueues((), frozenset(), frozenset(), 0)
    waiting = tuple(TenantQueue(r["tenant"], r["waiting"], r["under_way"], r["rested_s"]) for r in queues)
    first = queues[0]
    others, recent, crowding = (frozenset(first[name]) for name in ("others", "recent", "crowding"))
    return TenantQueues(waiting, others, recent, first["busy"], crowding)


_FORGET: LiteralString = """
WITH away AS (DELETE FROM tenants_about WHERE last_at < now() - %(lately)s)
DELETE FROM turns_under_way u WHERE (SELECT t.outcome_at IS NULL FROM turns t
    WHERE t.tenant_id = u.tenant AND t.user_id = u.who AND t.turn_id = u.turn_id) IS NOT TRUE
"""
"""Turn by turn by its key: joined, a thousand under way were each compared with a thousand that wait."""


async def forget_ended(conn: Connection, lately: timedelta) -> int:
    """Removes turns in progress without a reported end, and inactive tenants; the number of such turns."""
    return (await conn.execute(_FORGET, {"lately": lately})).rowcount


async def tell_ahead(db: Database) -> None:
    """Announces events on fast topics to the workers within milliseconds."""
    async with db.system_single() as conn:
        await conn.execute(f"NOTIFY {AHEAD}")


async def follow_ahead(db: Database, heard: Callable[[], None]) -> None:
    """Calls `heard` for every such announcement, until cancelled."""
    await db.follow(AHEAD, lambda notice: heard() if notice is not None else None)
