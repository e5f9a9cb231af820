"""turns, observations, proposals, resources, tombstones: the state behind a dead letter, and its reopening.

Reopening restores the state before the failed event. Written by compose for an operator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject

TurnState = Literal["missing", "erased", "open", "quarantined", "complete"]
"""The state of the turn behind an event."""


@dataclass(frozen=True)
class TurnBehind:
    """A turn and its outcome; `erased`: nothing may be learnt from it."""

    turn_id: UUID
    session_id: str
    seq: int
    trace_id: str
    policy_version: str
    outcome: Mapping[str, Any] | None
    complete: bool
    erased: bool

    @property
    def state(self) -> TurnState:
        """Its state."""
        if self.erased:
            return "erased"
        if not self.complete:
            return "open"
        return "quarantined" if (self.outcome or {}).get("status") == "quarantined" else "complete"


_TURN: LiteralString = """
SELECT turn_id, session_id, seq, trace_id, policy_version, outcome, outcome_at IS NOT NULL AS complete,
    coalesce(unlearnt_by, tombstone_id) IS NOT NULL AS erased
FROM turns t WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND
"""
_BY_ID: LiteralString = _TURN + "turn_id = %(turn)s FOR UPDATE"
_BY_KEY: LiteralString = _TURN + "idempotency_key = %(key)s"
_BY_OBSERVATIONS: LiteralString = (
    _TURN
    + """turn_id = (SELECT o.turn_id FROM observations o WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s
    AND o.observation_id = ANY(%(ids)s) LIMIT 1) FOR UPDATE"""
)


async def find_turn(conn: Connection, subject: Subject, turn_id: UUID) -> TurnBehind | None:
    """The turn, locked until the transaction ends."""
    return await _one(conn, _BY_ID, subject, turn=turn_id)


async def find_observed_turn(conn: Connection, subject: Subject, observation_ids: Sequence[UUID]) -> TurnBehind | None:
    """The turn of these observations, locked until the transaction ends."""
    return await _one(conn, _BY_OBSERVATIONS, subject, ids=list(observation_ids))


async def find_committed_turn(conn: Connection, subject: Subject, key: str) -> TurnBehind | None:
    """The turn committed under this idempotency key."""
    return await _one(conn, _BY_KEY, subject, key=key)


async def _one(conn: Connection, statement: LiteralString, subject: Subject, **params: Any) -> TurnBehind | None:
    row = await (await conn.execute(statement, {**subject.params, **params})).fetchone()
    return TurnBehind(**row) if row else None


_COVERED: LiteralString = """
SELECT EXISTS (SELECT FROM tombstones WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    AND requested_at > %(sent)s AND (scope IN ('all', 'personal')
        OR scope = 'session' AND %(session)s::text = ANY(session_ids))) AS covered
"""


async def is_erased(conn: Connection, subject: Subject, sent_at: datetime, session_id: str | None) -> bool:
    """Whether an erasure covers a record of that time."""
    row = await (await conn.execute(_COVERED, {**subject.params, "sent": sent_at, "session": session_id})).fetchone()
    return bool(row and row["covered"])


_REOPEN: LiteralString = """
UPDATE turns SET outcome_at = NULL, outcome = %(notes)s::jsonb,
    observed_at = CASE WHEN %(unobserved)s THEN NULL ELSE observed_at END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s
"""


async def reopen_turn(conn: Connection, subject: Subject, turn_id: UUID, notes: Mapping[str, Any] | None) -> None:
    """Removes the outcome of the turn, and keeps these notes of the observer or, for the observer itself, none."""
    params = {**subject.params, "turn": turn_id, "unobserved": notes is None}
    await conn.execute(_REOPEN, {**params, "notes": None if notes is None else orjson.dumps(notes).decode()})


_OBSERVATIONS: LiteralString = """
UPDATE observations SET state = 'new', reason = NULL, settled_at = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s AND state = 'quarantined'
RETURNING observation_id, ordinal, span_start, span_end, priority
"""
_PROPOSALS: LiteralString = """
DELETE FROM proposals WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(ids)s)
"""


async def reopen_observations(conn: Connection, subject: Subject, turn_id: UUID) -> Sequence[Mapping[str, Any]]:
    """Resets the turn's quarantined observations to new, without proposals."""
    params = {**subject.params, "turn": turn_id}
    found = await (await conn.execute(_OBSERVATIONS, params)).fetchall()
    await conn.execute(_PROPOSALS, {**params, "ids": [row["observation_id"] for row in found]})
    return found


_RESOURCE: LiteralString = """
UPDATE resources SET state = 'pending', reason = NULL, attempts = 0, settled_at = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND resource_id = %(resource)s AND state = 'failed'
"""


async def reopen_resource(conn: Connection, subject: Subject, resource_id: UUID) -> bool:
    """Whether it had failed, and is now pending again."""
    return (await conn.execute(_RESOURCE, {**subject.params, "resource": resource_id})).rowcount == 1
