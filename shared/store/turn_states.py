"""turns: how far each is, from what the observer notes to its outcome, and those that wait."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject

_OBSERVED: LiteralString = """
UPDATE turns t SET observed_at = now(), outcome = d.notes, recalled = coalesce(d.recalled, t.recalled),
    withheld = coalesce(t.withheld, d.withheld)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(turn_id uuid, notes jsonb, recalled jsonb, withheld text)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = d.turn_id AND t.observed_at IS NULL
RETURNING t.turn_id
"""


async def note_observed(
    conn: Connection,
    subject: Subject,
    notes: Mapping[UUID, Mapping[str, Any]],
    recalled: Mapping[UUID, Mapping[str, Any]] | None = None,
    withheld: Mapping[UUID, str] | None = None,
) -> set[UUID]:
    """The turns that nobody had observed: each keeps what the observer decided until its outcome is complete, and for
    good which parts of it were recalled, and by whose wish nothing was learnt from it.
    """
    known, silent = recalled or {}, withheld or {}
    rows = [
        {"turn_id": str(turn), "notes": note, "recalled": known.get(turn), "withheld": silent.get(turn)}
        for turn, note in notes.items()
    ]
    params = {**subject.params, "rows": orjson.dumps(rows).decode()}
    return {r["turn_id"] for r in await (await conn.execute(_OBSERVED, params)).fetchall()}


_FINISH: LiteralString = """
UPDATE turns t SET outcome = d.outcome, outcome_at = now(), observed_at = coalesce(t.observed_at, now())
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(turn_id uuid, outcome jsonb)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = d.turn_id AND t.outcome_at IS NULL
RETURNING t.turn_id, t.session_id, t.trace_id, t.policy_version,
    extract(epoch FROM now() - t.committed_at)::float8 AS took
"""


@dataclass(frozen=True)
class Finished:
    """A turn that has just got its outcome; `took_s` is the time since its commit in seconds."""

    turn_id: UUID
    session_id: str
    trace_id: str
    policy_version: str
    took_s: float


async def finish(conn: Connection, subject: Subject, outcomes: Mapping[UUID, Mapping[str, Any]]) -> list[Finished]:
    """The turns that had no outcome have this one now; a turn gets exactly one."""
    rows = [{"turn_id": str(turn), "outcome": outcome} for turn, outcome in outcomes.items()]
    found = await (await conn.execute(_FINISH, {**subject.params, "rows": orjson.dumps(rows).decode()})).fetchall()
    return [Finished(r["turn_id"], r["session_id"], r["trace_id"], r["policy_version"], r["took"]) for r in found]


_OUTCOME: LiteralString = """
SELECT turn_id, session_id, seq, committed_at, observed_at, outcome, outcome_at FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s
"""
_NOTES: LiteralString = """
SELECT turn_id, outcome FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND outcome_at IS NULL
ORDER BY turn_id FOR UPDATE
"""


async def open_notes(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """The observer's notes on those of the turns that have no outcome yet."""
    params = {**subject.params, "turns": list(turn_ids)}
    return {r["turn_id"]: r["outcome"] or {} for r in await (await conn.execute(_NOTES, params)).fetchall()}


async def outcome(conn: Connection, subject: Subject, turn_id: UUID) -> dict[str, Any] | None:
    """The turn's row with its outcome so far, or None when there is no such turn."""
    return await (await conn.execute(_OUTCOME, {**subject.params, "turn": turn_id})).fetchone()


_OVERDUE: LiteralString = """
SELECT t.tenant_id, t.user_id, t.turn_id, t.session_id, t.seq, t.event_id, t.trace_id, t.policy_version
FROM turns t LEFT JOIN turns_under_way u ON u.turn_id = t.turn_id
WHERE t.outcome_at IS NULL AND t.observed_at IS NULL AND t.committed_at < now() - %(grace)s
    AND (u.turn_id IS NULL OR u.since < now() - %(grace)s)
    AND NOT EXISTS (SELECT FROM event_outbox o
        WHERE o.id = t.event_id AND o.waits_for IS NOT NULL AND o.failed_at IS NULL)
ORDER BY t.committed_at LIMIT %(limit)s
"""


async def load_unobserved(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Turns of all users that no observer has finished within the grace period, oldest first (ids only).

    It begins when the event of the turn leaves the outbox.
    """
    return await (await conn.execute(_OVERDUE, {"grace": grace, "limit": limit})).fetchall()


_LATE: LiteralString = "SELECT count(*) AS n FROM turns WHERE outcome_at IS NULL AND committed_at < now() - %(grace)s"


async def count_late(conn: Connection, grace: timedelta) -> int:
    """How many accepted turns have waited for their outcome longer than the grace period."""
    row = await (await conn.execute(_LATE, {"grace": grace})).fetchone()
    return row["n"] if row else 0
