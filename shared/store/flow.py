"""Waiting work, its place and throughput, over all users, a tenant or a user; and one turn through every step.

Read by compose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from schemas.operations import ConsumerFlow, OutboxFlow, SeriesMoment, StageFlow, WorkFlow
from shared.db import Connection
from shared.domain.subjects import Subject


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


_WHOSE: LiteralString = "WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s"
_PARTS: Mapping[str, LiteralString] = {
    "turns": """SELECT turn_id, session_id, seq, event_id, trace_id, policy_version, context_id, said_at, committed_at,
        observed_at, outcome_at, outcome ->> 'status' AS status, tombstone_id IS NOT NULL AS erased FROM turns """
    + _WHOSE,
    "observations": """SELECT observation_id, ordinal, kind, priority, state, detector, pattern, epistemic, confidence,
        created_at, settled_at, related_memory_id,
        CASE WHEN reason ~ '^[a-z_]+(:[a-z_0-9]+)*$' THEN reason END AS reason FROM observations """
    + _WHOSE
    + " ORDER BY ordinal, span_start, observation_id",
    "proposals": """SELECT proposal_id, observation_id, action, target_memory_id, type, provenance, confidence, state,
        created_at FROM proposals """
    + _WHOSE
    + " ORDER BY created_at, proposal_id",
    "memories": """SELECT memory_id, root_id, version, type, status, confidence, provenance_class, created_at,
        updated_at FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND source_turn_id = %(turn)s
        ORDER BY created_at, memory_id""",
    "packages": """SELECT context_id, created_at, degraded, utilized, utilization_signal, feedback_signal
        FROM injections """
    + _WHOSE
    + " ORDER BY created_at",
    "quarantine": """SELECT quarantine_id, stage, event_id, created_at FROM quarantine """
    + _WHOSE
    + " ORDER BY created_at",
    "resources": """SELECT resource_id, ref_type, state, attempts, requested_at, settled_at FROM resources """
    + _WHOSE
    + " ORDER BY requested_at",
}


async def load_turn_parts(conn: Connection, subject: Subject, turn_id: UUID) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table about the turn, without user text."""
    params = {**subject.params, "turn": turn_id}
    return {name: await (await conn.execute(statement, params)).fetchall() for name, statement in _PARTS.items()}


_DELIVERED: LiteralString = """
SELECT
    (SELECT jsonb_build_object('topic', aggregatetype, 'since', created_at, 'held', waits_for IS NOT NULL,
        'failed_at', failed_at) FROM event_outbox WHERE id = %(event)s LIMIT 1) AS waiting,
    (SELECT since FROM turns_under_way WHERE turn_id = %(turn)s) AS published_at,
    (SELECT min(processed_at) FROM inbox WHERE event_id = %(event)s AND consumer = 'observer') AS taken_at
"""


async def load_turn_delivery(conn: Connection, event_id: UUID, turn_id: UUID) -> dict[str, Any]:
    """Whether the event of the turn still waits, since when it is in progress, and when it was observed."""
    params = {"event": event_id, "turn": turn_id}
    row = await (await conn.execute(_DELIVERED, params)).fetchone()
    assert row is not None  # noqa: S101 # a statement without FROM returns one row
    return row
