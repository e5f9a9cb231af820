"""Waiting work, its place and throughput: figures over all users, a tenant or a user. Read by compose."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString

from schemas.operations import ConsumerFlow, OutboxFlow, SeriesMoment, StageFlow, WorkFlow
from shared.db import Connection


@dataclass(frozen=True, slots=True)
class Whose:
    """The owner of the figures; None means all."""

    tenant_id: str | None = None
    user_id: str | None = None

    @property
    def params(self) -> dict[str, Any]:
        """As parameters of statements."""
        return {"tenant": self.tenant_id, "user": self.user_id}


_OF: LiteralString = """
(%(tenant)s::text IS NULL OR tenant_id = %(tenant)s) AND (%(user)s::text IS NULL OR user_id = %(user)s)
"""
_OUTBOX: LiteralString = """
SELECT aggregatetype AS topic, count(*) FILTER (WHERE NOT failed AND NOT held) AS waiting,
    count(*) FILTER (WHERE held) AS held, count(*) FILTER (WHERE failed) AS failed,
    coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE NOT failed AND NOT held)), 0)::float8 AS oldest_s
FROM (SELECT o.aggregatetype, o.created_at, o.failed_at IS NOT NULL AS failed,
        o.failed_at IS NULL AND u.tenant IS NOT NULL AS held
    FROM event_outbox o LEFT JOIN (SELECT DISTINCT tenant FROM turns_under_way) u ON u.tenant = o.waits_for
    WHERE (%(tenant)s::text IS NULL OR o.payload ->> 'tenant_id' = %(tenant)s)
        AND (%(user)s::text IS NULL OR o.payload ->> 'user_id' = %(user)s)) each
GROUP BY aggregatetype ORDER BY aggregatetype
"""


async def load_outbox(conn: Connection, whose: Whose) -> list[OutboxFlow]:
    """The rows in the outbox, by topic."""
    return [OutboxFlow(**row) for row in await (await conn.execute(_OUTBOX, whose.params)).fetchall()]


_DONE: LiteralString = """
SELECT consumer, count(*) AS done, max(processed_at) AS last_at FROM inbox
WHERE processed_at > now() - %(within)s GROUP BY consumer ORDER BY consumer
"""


async def load_done(conn: Connection, within: timedelta) -> list[ConsumerFlow]:
    """The events that consumers have handled within this time, for the whole system: claims name no user."""
    return [ConsumerFlow(**row) for row in await (await conn.execute(_DONE, {"within": within})).fetchall()]


_WORK: LiteralString = (
    """
SELECT
    (SELECT count(*) FROM turns WHERE outcome_at IS NULL AND observed_at IS NULL AND """
    + _OF
    + """) AS turns_unobserved,
    (SELECT count(*) FROM turns WHERE outcome_at IS NULL AND observed_at IS NOT NULL AND """
    + _OF
    + """) AS turns_observed,
    (SELECT count(*) FROM turns WHERE outcome_at IS NULL AND committed_at < now() - %(grace)s AND """
    + _OF
    + """) AS turns_overdue,
    (SELECT coalesce(extract(epoch FROM now() - min(committed_at)), 0)::float8 FROM turns
        WHERE outcome_at IS NULL AND """
    + _OF
    + """) AS oldest_turn_s,
    (SELECT count(*) FROM turns WHERE committed_at > now() - interval '1 hour' AND """
    + _OF
    + """) AS turns_committed_hour,
    (SELECT count(*) FROM turns WHERE committed_at > now() - interval '1 hour' AND outcome_at IS NOT NULL AND """
    + _OF
    + """) AS turns_settled_hour,
    (SELECT count(*) FROM observations WHERE state = 'new' AND """
    + _OF
    + """) AS observations_new,
    (SELECT count(*) FROM observations WHERE state = 'analyzed' AND """
    + _OF
    + """) AS observations_analyzed,
    (SELECT count(*) FROM proposals WHERE state = 'new' AND """
    + _OF
    + """) AS proposals_new,
    (SELECT count(*) FROM resources WHERE state = 'pending' AND """
    + _OF
    + """) AS resources_pending,
    (SELECT count(*) FROM promotions WHERE status = 'pending_approval' AND """
    + _OF
    + """) AS promotions_pending,
    (SELECT count(*) FROM tombstones WHERE status <> 'completed' AND """
    + _OF
    + """) AS erasures_open
"""
)


async def load_work(conn: Connection, whose: Whose, grace: timedelta) -> WorkFlow:
    """The turns in progress; one without an outcome for longer than `grace` is overdue."""
    row = await (await conn.execute(_WORK, {**whose.params, "grace": grace})).fetchone()
    assert row is not None  # noqa: S101 # a statement without FROM has one row
    return WorkFlow(**row)


_GIVEN_UP: LiteralString = (
    """
SELECT stage, count(*) AS events, max(created_at) AS last_at FROM quarantine q
WHERE NOT EXISTS (SELECT FROM audit_events a WHERE a.about = 'event:' || q.event_id::text) AND """
    + _OF
    + "GROUP BY stage ORDER BY stage"
)


async def load_given_up(conn: Connection, whose: Whose) -> list[StageFlow]:
    """The open rows of the quarantine, by stage."""
    return [StageFlow(**row) for row in await (await conn.execute(_GIVEN_UP, whose.params)).fetchall()]


_BY_MOMENT: LiteralString = """
SELECT at, sum(n)::integer AS n, sum(lacking)::integer AS lacking, min(took) FILTER (WHERE upto >= 0.5 * timed) AS p50,
    min(took) FILTER (WHERE upto >= 0.95 * timed) AS p95
FROM (SELECT at, n, lacking, took, sum(n) OVER (PARTITION BY at ORDER BY bin) AS upto,
        sum(n) FILTER (WHERE bin IS NOT NULL) OVER (PARTITION BY at) AS timed FROM {}) each
GROUP BY at
"""
_SERIES: LiteralString = (
    """
WITH span AS (SELECT date_bin(%(step)s, now(), 'epoch') + %(step)s - %(window)s AS since),
times AS (SELECT generate_series(since, now(), %(step)s) AS at FROM span),
said AS MATERIALIZED (
    SELECT date_bin(%(step)s, committed_at, 'epoch') AS begun, date_bin(%(step)s, outcome_at, 'epoch') AS at,
        round(50 * ln(0.001 + abs(date_part('epoch', outcome_at - committed_at)))) AS bin, count(*) AS n,
        0 AS lacking, avg(date_part('epoch', outcome_at - committed_at)) AS took
    FROM turns WHERE committed_at >= (SELECT since - interval '1 hour' FROM span) AND """
    + _OF
    + """ GROUP BY 1, 2, 3),
composed AS MATERIALIZED (
    SELECT date_bin(%(step)s, created_at, 'epoch') AS at, round(50 * ln(0.001 + abs(took_ms))) AS bin, count(*) AS n,
        count(*) FILTER (WHERE degraded) AS lacking, avg(took_ms) AS took
    FROM injections WHERE created_at >= (SELECT since FROM span) AND """
    + _OF
    + """ GROUP BY 1, 2),
committed AS (SELECT begun AS at, sum(n)::integer AS n FROM said GROUP BY 1),
settled AS ("""
    + _BY_MOMENT.format("said")
    + """), packed AS ("""
    + _BY_MOMENT.format("composed")
    + """)
SELECT t.at, coalesce(c.n, 0) AS committed, coalesce(s.n, 0) AS settled, coalesce(p.n, 0) AS packages,
    coalesce(p.lacking, 0) AS degraded, s.p50 AS settled_p50_s, s.p95 AS settled_p95_s, p.p50 AS package_p50_ms,
    p.p95 AS package_p95_ms
FROM times t LEFT JOIN committed c USING (at) LEFT JOIN settled s USING (at) LEFT JOIN packed p USING (at) ORDER BY t.at
"""
)
"""Times are grouped in bins of 2 % width, each represented by its mean: sorting all of them takes
five times as long.
"""


async def load_series(conn: Connection, whose: Whose, window: timedelta, step: timedelta) -> Sequence[SeriesMoment]:
    """Turns and packages of the last `window`, in steps, oldest first; the last step is incomplete."""
    params = {**whose.params, "window": window, "step": step}
    return [SeriesMoment(**row) for row in await (await conn.execute(_SERIES, params)).fetchall()]


_REDRIVEN: LiteralString = "SELECT count(*) AS n FROM redriven WHERE last_at > now() - %(within)s"
_LATELY: LiteralString = "SELECT count(*) AS n FROM quarantine WHERE created_at > now() - %(within)s AND " + _OF


async def count_redriven(conn: Connection, within: timedelta) -> int:
    """The number of redrives from state within this time, for the whole system."""
    row = await (await conn.execute(_REDRIVEN, {"within": within})).fetchone()
    return row["n"] if row else 0


async def count_given_up(conn: Connection, whose: Whose, within: timedelta) -> int:
    """The number of events given up within this time."""
    row = await (await conn.execute(_LATELY, {**whose.params, "within": within})).fetchone()
    return row["n"] if row else 0
