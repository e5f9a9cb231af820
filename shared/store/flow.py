"""What waits, where, and how fast it goes: figures over all users, of a tenant or of a user. Read by compose."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from shared.db import Connection


@dataclass(frozen=True, slots=True)
class Whose:
    """Of whom the figures are: None means of all."""

    tenant_id: str | None = None
    user_id: str | None = None

    @property
    def params(self) -> dict[str, Any]:
        """As statements name them."""
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


@dataclass(frozen=True, slots=True)
class OutboxTopic:
    """Rows of one topic that wait for the relay, are held back for their tenant, or were refused by the broker."""

    topic: str
    waiting: int
    held: int
    failed: int
    oldest_s: float


async def load_outbox(conn: Connection, whose: Whose) -> list[OutboxTopic]:
    """What stands in the outbox, by topic."""
    return [OutboxTopic(**row) for row in await (await conn.execute(_OUTBOX, whose.params)).fetchall()]


_DONE: LiteralString = """
SELECT consumer, count(*) AS done, max(processed_at) AS last_at FROM inbox
WHERE processed_at > now() - %(within)s GROUP BY consumer ORDER BY consumer
"""


@dataclass(frozen=True, slots=True)
class ConsumerDone:
    """How many events a consumer has had lately, and when the last."""

    consumer: str
    done: int
    last_at: datetime


async def load_done(conn: Connection, within: timedelta) -> list[ConsumerDone]:
    """What consumers have had within this time, of the whole house: claims name no user."""
    return [ConsumerDone(**row) for row in await (await conn.execute(_DONE, {"within": within})).fetchall()]


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


@dataclass(frozen=True, slots=True)
class Work:
    """How many of what are at which stage; times in seconds."""

    turns_unobserved: int
    turns_observed: int
    turns_overdue: int
    oldest_turn_s: float
    turns_committed_hour: int
    turns_settled_hour: int
    observations_new: int
    observations_analyzed: int
    proposals_new: int
    resources_pending: int
    promotions_pending: int
    erasures_open: int


async def load_work(conn: Connection, whose: Whose, grace: timedelta) -> Work:
    """What is under way; a turn that has had no outcome for longer than `grace` is overdue."""
    row = await (await conn.execute(_WORK, {**whose.params, "grace": grace})).fetchone()
    assert row is not None  # noqa: S101 # a statement without FROM has one row
    return Work(**row)


_GIVEN_UP: LiteralString = (
    """
SELECT stage, count(*) AS events, max(created_at) AS last_at FROM quarantine q
WHERE NOT EXISTS (SELECT FROM audit_events a WHERE a.about = 'event:' || q.event_id::text) AND """
    + _OF
    + "GROUP BY stage ORDER BY stage"
)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Events that a stage gave up and about which nobody has done anything."""

    stage: str
    events: int
    last_at: datetime


async def load_given_up(conn: Connection, whose: Whose) -> list[GivenUp]:
    """What lies in quarantine untouched, by stage."""
    return [GivenUp(**row) for row in await (await conn.execute(_GIVEN_UP, whose.params)).fetchall()]


_SERIES: LiteralString = (
    """
WITH span AS (SELECT date_bin(%(step)s, now(), 'epoch') + %(step)s - %(window)s AS since),
times AS (SELECT generate_series(since, now(), %(step)s) AS at FROM span),
committed AS (
    SELECT date_bin(%(step)s, committed_at, 'epoch') AS at, count(*) AS turns FROM turns, span
    WHERE committed_at >= since AND """
    + _OF
    + """ GROUP BY 1),
settled AS (
    SELECT date_bin(%(step)s, outcome_at, 'epoch') AS at, count(*) AS turns,
        percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM outcome_at - committed_at)) AS took
    FROM turns, span WHERE outcome_at >= since AND committed_at >= since - interval '1 hour' AND """
    + _OF
    + """ GROUP BY 1),
packed AS (
    SELECT date_bin(%(step)s, created_at, 'epoch') AS at, count(*) AS packages,
        count(*) FILTER (WHERE degraded) AS lacking,
        percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY took_ms) AS took
    FROM injections, span WHERE created_at >= since AND """
    + _OF
    + """ GROUP BY 1)
SELECT t.at, coalesce(c.turns, 0) AS committed, coalesce(s.turns, 0) AS settled, coalesce(p.packages, 0) AS packages,
    coalesce(p.lacking, 0) AS degraded, s.took[1]::float8 AS settled_p50_s, s.took[2]::float8 AS settled_p95_s,
    p.took[1]::float8 AS package_p50_ms, p.took[2]::float8 AS package_p95_ms
FROM times t LEFT JOIN committed c USING (at) LEFT JOIN settled s USING (at) LEFT JOIN packed p USING (at) ORDER BY t.at
"""
)


@dataclass(frozen=True, slots=True)
class StepFigures:
    """What happened from `at` on for one step of a series; latencies are null where nothing happened."""

    at: datetime
    committed: int
    settled: int
    packages: int
    degraded: int
    settled_p50_s: float | None
    settled_p95_s: float | None
    package_p50_ms: float | None
    package_p95_ms: float | None


async def load_series(conn: Connection, whose: Whose, window: timedelta, step: timedelta) -> Sequence[StepFigures]:
    """Turns and packages of the last `window`, in steps, oldest first; the last step is not over yet."""
    params = {**whose.params, "window": window, "step": step}
    return [StepFigures(**row) for row in await (await conn.execute(_SERIES, params)).fetchall()]


_REDRIVEN: LiteralString = "SELECT count(*) AS n FROM redriven WHERE last_at > now() - %(within)s"
_LATELY: LiteralString = "SELECT count(*) AS n FROM quarantine WHERE created_at > now() - %(within)s AND " + _OF


async def count_redriven(conn: Connection, within: timedelta) -> int:
    """How much was driven again from state within this time, in the whole house."""
    row = await (await conn.execute(_REDRIVEN, {"within": within})).fetchone()
    return row["n"] if row else 0


async def count_given_up(conn: Connection, whose: Whose, within: timedelta) -> int:
    """How many events were given up within this time."""
    row = await (await conn.execute(_LATELY, {**whose.params, "within": within})).fetchone()
    return row["n"] if row else 0
