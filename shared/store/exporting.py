"""All rows of a user in pages, for an export. Reads only."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject

PAGE = 200
FIRST = UUID(int=0)
Row = Mapping[str, Any]

_SESSIONS: LiteralString = """
SELECT s.session_id, s.created_at, s.last_turn_at, s.archived_at, s.metadata_json AS metadata, s.entity_slots,
    s.summary_seq, s.open_tokens, coalesce((
    SELECT jsonb_agg(jsonb_build_object('version', m.version, 'reason', m.reason, 'text', m.text,
        'summary_json', m.summary_json, 'source_from_seq', m.source_from_seq, 'source_to_seq', m.source_to_seq,
        'model_id', m.model_id, 'generated_at', m.generated_at, 'level', m.level, 'block_from_seq', m.block_from_seq,
        'block_text', m.block_text) ORDER BY m.version)
    FROM session_summaries m WHERE (m.tenant_id, m.user_id, m.session_id) = (s.tenant_id, s.user_id, s.session_id)
        AND m.text IS NOT NULL), '[]') AS summaries
FROM sessions s WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s AND s.tombstone_id IS NULL
    AND s.session_id > %(after)s ORDER BY s.session_id LIMIT %(limit)s
"""
_TURNS: LiteralString = """
SELECT t.turn_id, t.session_id, t.seq, t.said_at AS created_at, t.committed_at, t.org_id,
    coalesce((t.result ->> 'remember')::boolean, true) AND t.withheld IS NULL AND t.unlearnt_by IS NULL AS remember,
    coalesce((SELECT jsonb_agg(jsonb_build_object('ordinal', e.ordinal, 'event_type', e.event_type, 'role', e.role,
        'name', e.name, 'content', e.content, 'content_schema_version', e.content_schema_version,
        'meta', e.meta_json, 'created_at', e.said_at) ORDER BY e.ordinal)
    FROM conversation_events e WHERE (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id)
        AND e.content IS NOT NULL AND NOT e.content ? 'imported'), '[]') AS events
FROM turns t WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.tombstone_id IS NULL
    AND t.turn_id > %(after)s ORDER BY t.turn_id LIMIT %(limit)s
"""
_IN_SESSION: LiteralString = """
SELECT t.seq, t.said_at AS created_at, coalesce((
    SELECT jsonb_agg(jsonb_build_object('role', e.role, 'name', e.name, 'text', e.content ->> 'text')
        ORDER BY e.ordinal)
    FROM conversation_events e WHERE (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id)
        AND e.event_type IN ('user_message', 'assistant_message') AND e.content ->> 'text' <> ''), '[]') AS said
FROM turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = %(session)s AND t.tombstone_id IS NULL
    AND t.seq > %(after)s ORDER BY t.seq LIMIT %(limit)s
"""
_MEMORIES: LiteralString = """
SELECT memory_id, epistemic_prev, pinned, injection_count, positive_count, correction_count, miss_count
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status <> 'erased'
    AND memory_id > %(after)s ORDER BY memory_id LIMIT %(limit)s
"""
_FEEDBACK: LiteralString = """
SELECT context_id, session_id, turn_id, created_at, core_ids || evidence_ids AS memory_ids, used_ids, feedback_signal,
    utilization_signal
FROM injections WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND context_id > %(after)s
ORDER BY context_id LIMIT %(limit)s
"""


async def load_sessions(conn: Connection, subject: Subject, after: str) -> Sequence[Row]:
    """The next sessions by name, each with all its summaries."""
    return await _rows(conn, _SESSIONS, subject, after)


async def load_turns(conn: Connection, subject: Subject, after: UUID) -> Sequence[Row]:
    """The next turns by id, i.e. in order of arrival, with their events; erased ones are omitted."""
    return await _rows(conn, _TURNS, subject, after)


async def load_figures(conn: Connection, subject: Subject, after: UUID) -> Sequence[Row]:
    """The next versions of memories by id, with their usage statistics."""
    return await _rows(conn, _MEMORIES, subject, after)


async def load_feedback(conn: Connection, subject: Subject, after: UUID) -> Sequence[Row]:
    """The next packages by id, with their receptions."""
    return await _rows(conn, _FEEDBACK, subject, after)


async def load_said(conn: Connection, subject: Subject, session_id: str, after: int) -> Sequence[Row]:
    """The next messages of a session after that turn number."""
    params = {**subject.params, "session": session_id, "after": after, "limit": PAGE}
    return await (await conn.execute(_IN_SESSION, params)).fetchall()


async def _rows(conn: Connection, statement: LiteralString, subject: Subject, after: str | UUID) -> Sequence[Row]:
    return await (await conn.execute(statement, {**subject.params, "after": after, "limit": PAGE})).fetchall()
