"""sessions, turns, conversation_events: the log, written by compose; turn states: shared.store.turn_states.

turns_under_way, tenants_about: turns in progress, and recently active tenants, written by relay.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection, Database, Read
from shared.domain.subjects import Subject
from shared.domain.tenant_queues import TenantQueue, TenantQueues
from shared.domain.turns import Event, Turn

_COMMIT: LiteralString = "SELECT commit_turn(%(body)s::jsonb) AS answer"


async def commit(conn: Connection, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """`written`, `repeated`, `clash` or `refused`, and the turn's CommitResult as JSON. Own transaction."""
    row = await (await conn.execute(_COMMIT, {"body": orjson.dumps(body).decode()})).fetchone()
    answer: dict[str, Any] = row["answer"] if row else {}
    return answer["outcome"], answer.get("result") or {}


_EVENTS: LiteralString = """
coalesce((SELECT jsonb_agg(jsonb_build_object('event_id', e.event_id, 'ordinal', e.ordinal, 'type', e.event_type,
    'role', e.role, 'name', e.name, 'content', e.content, 'said_at', e.said_at, 'version', e.content_schema_version,
    'meta', e.meta_json,
    'unsafe', CASE WHEN e.content_schema_version = 1 THEN (
        SELECT jsonb_agg(r.media_id) FROM jsonb_array_elements(e.content -> 'blocks') AS b(block)
        JOIN media r ON (r.tenant_id, r.user_id, r.media_id) = (e.tenant_id, e.user_id, b.block ->> 'media_id')
        WHERE r.security_status <> 'safe') END) ORDER BY e.ordinal)
  FROM conversation_events e
  WHERE (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id)), '[]') AS events
"""
_COLUMNS: LiteralString = (
    "SELECT t.turn_id, t.session_id, t.seq, t.event_id, t.trace_id, t.policy_version, t.said_at, t.committed_at,"
    " t.context_id, t.observed_at IS NOT NULL AS observed, t.experiment, t.recalled, t.org_id,"
    " coalesce((t.result ->> 'remember')::boolean, true) AS remember,"
    " coalesce((t.result ->> 'learning')::boolean, true) AS learning, t.withheld, t.imported,"
    " t.result -> 'command' AS command," + _EVENTS
)
_LOAD: LiteralString = (
    _COLUMNS
    + """FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = ANY(%(turns)s) ORDER BY t.committed_at, t.seq
"""
)


async def load(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> list[Turn]:
    """The existing ones of the turns with their events, oldest first."""
    params = {**subject.params, "turns": list(turn_ids)}
    return [_turn(row) for row in await (await conn.execute(_LOAD, params)).fetchall()]


_LEARNABLE: LiteralString = (
    _COLUMNS
    + """FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = %(turn)s AND t.unlearnt_by IS NULL
"""
)


async def learnable(conn: Connection, subject: Subject, turn_id: UUID) -> Turn | None:
    """The turn with its events; None if it does not exist, or if nothing may be learnt from it."""
    row = await (await conn.execute(_LEARNABLE, {**subject.params, "turn": turn_id})).fetchone()
    return _turn(row) if row else None


_WINDOW: LiteralString = (
    _COLUMNS
    + """FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = %(session)s
    AND t.seq > %(after)s AND t.seq < %(before)s AND t.unlearnt_by IS NULL AND t.withheld IS NULL
ORDER BY t.seq DESC LIMIT %(limit)s
"""
)


def window(subject: Subject, session_id: str, limit: int, *, after: int, before: int) -> Read[list[Turn]]:
    """The newest turns of the session with numbers between `after` and `before`, both exclusive, oldest first.

    Turns from which nothing may be learnt are excluded.
    """
    params = {**subject.params, "session": session_id, "limit": limit, "after": after, "before": before}
    return Read(_WINDOW, params, lambda rows: [_turn(row) for row in reversed(rows)])


@dataclass(frozen=True)
class Recent:
    """The newest turns of a session, and the user's turns without an outcome, each oldest first."""

    window: list[Turn]
    pending: list[Turn]


_PENDING: LiteralString = (
    "("
    + _COLUMNS
    + """, false AS inside FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.outcome_at IS NULL
ORDER BY t.committed_at DESC LIMIT %(open)s)
"""
)
_RECENT: LiteralString = (
    "("
    + _COLUMNS
    + """, true AS inside FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = %(session)s AND t.tombstone_id IS NULL
ORDER BY t.seq DESC LIMIT %(limit)s)
UNION ALL
"""
    + _PENDING
)


def recent(subject: Subject, session_id: str, limit: int, pending: int) -> Read[Recent]:
    """At most `limit` turns of the session's window, and the user's newest `pending` turns without an outcome."""
    return Read(_RECENT, {**subject.params, "session": session_id, "limit": limit, "open": pending}, _recent)


def _recent(rows: Sequence[Mapping[str, Any]]) -> Recent:
    window = sorted((_turn(row) for row in rows if row["inside"]), key=lambda turn: turn.seq)
    return Recent(window, _in_order(row for row in rows if not row["inside"]))


def load_pending(subject: Subject, limit: int) -> Read[list[Turn]]:
    """The user's newest turns without an outcome, oldest first."""
    return Read(_PENDING, {**subject.params, "open": limit}, _in_order)


_LAST: LiteralString = """
SELECT seq, withheld FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
ORDER BY seq DESC LIMIT 1
"""


def load_last(subject: Subject, session_id: str) -> Read[tuple[int, str | None]]:
    """The number of the session's newest turn, 0 without one, and the wish by which it was withheld, if any."""
    params = {**subject.params, "session": session_id}
    return Read(_LAST, params, lambda rows: (rows[0]["seq"], rows[0]["withheld"]) if rows else (0, None))


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[Turn]:
    return sorted((_turn(row) for row in rows), key=lambda turn: (turn.committed_at, turn.session_id, turn.seq))


def _turn(row: Mapping[str, Any]) -> Turn:
    events = tuple(
        Event(
            UUID(e["event_id"]),
            row["turn_id"],
            e["ordinal"],
            e["type"],
            e["role"],
            e["name"],
            e["content"],
            datetime.fromisoformat(e["said_at"]),
            e["version"],
            frozenset(e["unsafe"] or ()),
            e["meta"],
        )
        for e in row["events"]
    )
    return Turn(
        row["turn_id"],
        row["session_id"],
        row["seq"],
        row["event_id"],
        row["trace_id"],
        row["policy_version"],
        row["said_at"],
        row["committed_at"],
        row["observed"],
        events,
        row["context_id"],
        row["experiment"],
        row["recalled"] or {},
        row["remember"],
        row["learning"],
        row["withheld"],
        row["org_id"],
        row["imported"],
        row["command"],
    )


ANSWERED_WITHIN = 8
"""An answer further back than this many turns is not the context of a message."""
_ANSWERED: LiteralString = (
    "SELECT found.* FROM unnest(%(sessions)s::text[], %(seqs)s::integer[]) AS w(session_id, seq) CROSS JOIN LATERAL ("
    + _COLUMNS
    + """FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = w.session_id
    AND t.seq < w.seq AND t.seq >= w.seq - %(within)s AND t.unlearnt_by IS NULL AND t.withheld IS NULL
    AND EXISTS (SELECT FROM conversation_events e WHERE e.event_type = 'assistant_message'
        AND (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id))
ORDER BY t.seq DESC LIMIT 1) AS found
"""
)


async def answered_before(conn: Connection, subject: Subject, places: Iterable[tuple[str, int]]) -> list[Turn]:
    """For each position (session and number) the latest nearby earlier turn with an assistant message.

    Turns from which nothing may be learnt are excluded.
    """
    wanted = list(places)
    if not wanted:
        return []
    params = {
        **subject.params,
        "sessions": [session for session, _ in wanted],
        "seqs": [seq for _, seq in wanted],
        "within": ANSWERED_WITHIN,
    }
    return [_turn(row) for row in await (await conn.execute(_ANSWERED, params)).fetchall()]


_QUIET: LiteralString = """
SELECT t.session_id, t.seq, t.withheld FROM turns t
JOIN unnest(%(sessions)s::text[], %(seqs)s::integer[]) AS w(session_id, seq) USING (session_id, seq)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.withheld IS NOT NULL
"""


async def withheld_at(
    conn: Connection, subject: Subject, places: Iterable[tuple[str, int]]
) -> list[tuple[str, int, str]]:
    """Those of the positions (session and number) whose turn was withheld, and by which wish."""
    wanted = list(places)
    if not wanted:
        return []
    params = {**subject.params, "sessions": [session for session, _ in wanted], "seqs": [seq for _, seq in wanted]}
    found = await (await conn.execute(_QUIET, params)).fetchall()
    return [(row["session_id"], row["seq"], row["withheld"]) for row in found]


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
