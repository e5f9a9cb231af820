"""One turn through every step, by its id: times, ids and states. Read by compose."""

from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject

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


async def load_parts(conn: Connection, subject: Subject, turn_id: UUID) -> dict[str, list[dict[str, Any]]]:
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


async def load_delivery(conn: Connection, event_id: UUID, turn_id: UUID) -> dict[str, Any]:
    """Whether the event of the turn still waits, since when it is in progress, and when it was observed."""
    params = {"event": event_id, "turn": turn_id}
    row = await (await conn.execute(_DELIVERED, params)).fetchone()
    assert row is not None  # noqa: S101 # a statement without FROM returns one row
    return row
