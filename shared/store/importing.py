"""Writes an import into the log of a user, in one transaction. Written by compose."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.envelope import Envelope
from schemas.topics import TURN_COMMITTED
from shared.db import Connection
from shared.domain.subjects import Subject

Row = Mapping[str, Any]
BATCH = 500
_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%(tenant)s || ':' || %(user)s, 0))"
_KNOWN_TURNS: LiteralString = """
SELECT turn_id, tombstone_id IS NOT NULL OR unlearnt_by IS NOT NULL AS erased FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(ids)s)
"""
_ON_THEIR_WAY: LiteralString = """
SELECT (content ->> 'memory_id')::uuid AS memory_id FROM conversation_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND event_type = 'item' AND content ? 'imported'
    AND content ->> 'memory_id' = ANY(%(ids)s)
"""
_NEXT_SEQS: LiteralString = """
SELECT session_id, next_seq FROM sessions
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(ids)s)
"""
_SESSIONS: LiteralString = """
INSERT INTO sessions AS s (tenant_id, user_id, session_id, next_seq, summary_seq, open_tokens, entity_slots, created_at,
    last_turn_at, archived_at, metadata_json)
SELECT %(tenant)s, %(user)s, r.session_id, r.next_seq, r.summary_seq, r.open_tokens, r.entity_slots, r.created_at,
    r.last_turn_at, r.archived_at, r.metadata
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(session_id text, next_seq integer, summary_seq integer,
    open_tokens integer, entity_slots jsonb, created_at timestamptz, last_turn_at timestamptz,
    archived_at timestamptz, metadata jsonb)
ON CONFLICT (tenant_id, user_id, session_id) DO UPDATE SET next_seq = greatest(s.next_seq, excluded.next_seq),
    last_turn_at = greatest(s.last_turn_at, excluded.last_turn_at), tombstone_id = NULL
"""
_TURNS: LiteralString = """
INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash, event_id, trace_id,
    policy_version, said_at, result, org_id, imported)
SELECT %(tenant)s, %(user)s, r.turn_id, r.session_id, r.seq, 'import:' || r.turn_id, r.request_hash, r.event_id,
    r.trace_id, r.policy_version, r.said_at, r.result, r.org_id, true
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(turn_id uuid, session_id text, seq integer, request_hash text,
    event_id uuid, trace_id text, policy_version text, said_at timestamptz, result jsonb, org_id text)
"""
_EVENTS: LiteralString = """
INSERT INTO conversation_events (tenant_id, user_id, event_id, turn_id, session_id, ordinal, event_type, role, name,
    content, meta_json, content_schema_version, said_at)
SELECT %(tenant)s, %(user)s, r.event_id, r.turn_id, r.session_id, r.ordinal, r.event_type, r.role, r.name, r.content,
    r.meta, coalesce(r.version, 0), r.said_at
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(event_id uuid, turn_id uuid, session_id text, ordinal integer,
    event_type text, role text, name text, content jsonb, meta jsonb, version integer,
    said_at timestamptz)
"""
_SUMMARIES: LiteralString = """
INSERT INTO session_summaries (tenant_id, user_id, session_id, version, reason, text, summary_json, source_from_seq,
    source_to_seq, model_id, generated_at, level, block_from_seq, block_text)
SELECT %(tenant)s, %(user)s, r.session_id, r.version, r.reason, r.text, r.summary_json, r.source_from_seq,
    r.source_to_seq, r.model_id, coalesce(r.generated_at, now()), r.level, r.block_from_seq, r.block_text
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(session_id text, version integer, reason text, text text,
    summary_json jsonb, source_from_seq integer, source_to_seq integer, model_id text, generated_at timestamptz,
    level text, block_from_seq integer, block_text text)
ON CONFLICT DO NOTHING
"""
_OUTBOX: LiteralString = """
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, waits_for, payload)
SELECT r.id, %(topic)s, %(tenant)s || ':' || %(user)s, r.type, %(tenant)s, r.payload
FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (id uuid, type text, payload jsonb))
    WITH ORDINALITY AS r(id, type, payload, n) ORDER BY r.n
"""


async def lock(conn: Connection, subject: Subject) -> None:
    """Prevents other commits of this user until the transaction ends."""
    await conn.execute(_LOCK, subject.params)


async def load_known_turns(conn: Connection, subject: Subject, ids: Sequence[UUID]) -> Mapping[UUID, bool]:
    """Those of the turns that exist, and whether each was erased."""
    rows = await (await conn.execute(_KNOWN_TURNS, {**subject.params, "ids": list(ids)})).fetchall()
    return {row["turn_id"]: row["erased"] for row in rows}


async def load_on_their_way(conn: Connection, subject: Subject, ids: Sequence[UUID]) -> frozenset[UUID]:
    """Those of the memories that an earlier import has written to the log, whether or not they are learnt."""
    params = {**subject.params, "ids": [str(each) for each in ids]}
    rows = await (await conn.execute(_ON_THEIR_WAY, params)).fetchall()
    return frozenset(row["memory_id"] for row in rows)


async def load_next_seqs(conn: Connection, subject: Subject, ids: Sequence[str]) -> dict[str, int]:
    """The next turn number of each existing session."""
    rows = await (await conn.execute(_NEXT_SEQS, {**subject.params, "ids": list(ids)})).fetchall()
    return {row["session_id"]: row["next_seq"] for row in rows}


async def put_sessions(conn: Connection, subject: Subject, rows: Sequence[Row]) -> None:
    """Creates the sessions; of existing ones only the next turn number grows."""
    await _put(conn, _SESSIONS, subject, rows)


async def put_summaries(conn: Connection, subject: Subject, rows: Sequence[Row]) -> None:
    """Stores the sessions' summaries."""
    await _put(conn, _SUMMARIES, subject, rows)


async def put_turns(conn: Connection, subject: Subject, turns: Sequence[Row], events: Sequence[Row]) -> None:
    """Stores the imported turns and their events in the log."""
    await _put(conn, _TURNS, subject, turns)
    await _put(conn, _EVENTS, subject, events)


async def announce(conn: Connection, subject: Subject, envelopes: Sequence[Envelope]) -> None:
    """Puts the turns into the outbox in this order, among others of the tenant."""
    rows = [{"id": e.event_id, "type": e.event_type, "payload": e.model_dump(mode="json")} for e in envelopes]
    for at in range(0, len(rows), BATCH):
        body = orjson.dumps(rows[at : at + BATCH]).decode()
        await conn.execute(_OUTBOX, {**subject.params, "topic": TURN_COMMITTED.name, "rows": body})


async def _put(conn: Connection, statement: LiteralString, subject: Subject, rows: Sequence[Row]) -> None:
    for at in range(0, len(rows), BATCH):
        await conn.execute(statement, {**subject.params, "rows": orjson.dumps(rows[at : at + BATCH]).decode()})
