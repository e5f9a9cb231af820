"""Removes the words of erased memories from remaining rows: the log, search, summaries. Role smartbrain_erasure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.store.erasure.sayings import TextSpan


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event of the log with text."""

    turn_id: UUID
    ordinal: int
    event_type: str
    content: Any
    meta: Any = None


_EVENTS: LiteralString = """
SELECT turn_id, ordinal, event_type, content, meta_json AS meta FROM conversation_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND content IS NOT NULL
"""
_REWRITE: LiteralString = """
UPDATE conversation_events e SET content = r.content, meta_json = r.meta,
    tombstone_id = CASE WHEN r.content IS NULL THEN %(tombstone)s::uuid END
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(turn_id uuid, ordinal integer, content jsonb, meta jsonb)
WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.turn_id = r.turn_id AND e.ordinal = r.ordinal
"""


async def events(conn: Connection, subject: Subject, turns: Iterable[UUID]) -> list[StoredEvent]:
    """The events of these turns with text."""
    params = {**subject.params, "turns": list(turns)}
    return [StoredEvent(**row) for row in await (await conn.execute(_EVENTS, params)).fetchall()]


async def rewrite(conn: Connection, subject: Subject, tombstone_id: UUID, events: Sequence[StoredEvent]) -> int:
    """Replaces the content of events; their number. One without content is a skeleton."""
    rows = [{"turn_id": str(e.turn_id), "ordinal": e.ordinal, "content": e.content, "meta": e.meta} for e in events]
    params = {**subject.params, "tombstone": tombstone_id}
    return (await conn.execute(_REWRITE, {**params, "rows": orjson.dumps(rows).decode()})).rowcount


@dataclass(frozen=True, slots=True)
class Quote:
    """The stored context sentences of a statement, in its observation (`seen`) or its memory."""

    seen: bool
    id: UUID
    quote: str


_QUOTES: LiteralString = """
SELECT true AS seen, observation_id AS id, value ->> 'quote' AS quote FROM observations
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND value ? 'quote'
UNION ALL
SELECT false, memory_id, value ->> 'quote' FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND source_turn_id = ANY(%(turns)s) AND value ? 'quote'
"""
_REQUOTE: tuple[LiteralString, ...] = (
    """
UPDATE observations o SET value = o.value || jsonb_build_object('quote', r.quote)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(seen boolean, id uuid, quote text)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.observation_id = r.id AND r.seen
""",
    """
UPDATE memory_items m SET value = m.value || jsonb_build_object('quote', r.quote)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(seen boolean, id uuid, quote text)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = r.id AND NOT r.seen
""",
)


async def quotes(conn: Connection, subject: Subject, turns: Iterable[UUID]) -> list[Quote]:
    """The stored context sentences of statements in these turns."""
    params = {**subject.params, "turns": list(turns)}
    return [Quote(**row) for row in await (await conn.execute(_QUOTES, params)).fetchall()]


async def requote(conn: Connection, subject: Subject, quotes: Sequence[Quote]) -> None:
    """Replaces them."""
    rows = [{"seen": q.seen, "id": str(q.id), "quote": q.quote} for q in quotes]
    for statement in _REQUOTE:
        await conn.execute(statement, {**subject.params, "rows": orjson.dumps(rows).decode()})


@dataclass(frozen=True, slots=True)
class IndexedText:
    """A search chunk and its text."""

    chunk_id: UUID
    turn_id: UUID
    text: str


_CHUNKS: LiteralString = """
SELECT chunk_id, turn_id, text FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND turn_id IS NOT NULL AND (turn_id = ANY(%(turns)s)
        OR EXISTS (SELECT FROM unnest(%(needles)s::text[]) AS n WHERE strpos(lower(text), lower(n)) > 0))
"""
_RECHUNK: tuple[LiteralString, ...] = (
    """
DELETE FROM postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(chunks)s)
""",
    """
UPDATE memory_chunks c SET text = r.text, term_count = r.length, media = NULL, embedding_model_id = NULL,
    static_vector = NULL, static_model_id = NULL
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(chunk_id uuid, text text, length integer)
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = r.chunk_id
""",
    """
DELETE FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(chunks)s) AND text !~ '\\S'
""",
    """
INSERT INTO postings (tenant_id, user_id, term, chunk_id, tf, length)
SELECT %(tenant)s, %(user)s, p.term, p.chunk, p.tf, p.length
FROM unnest(%(terms)s::text[], %(of)s::uuid[], %(tfs)s::smallint[], %(lengths)s::smallint[])
    AS p(term, chunk, tf, length)
JOIN memory_chunks c ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = p.chunk AND c.active
""",
)
_NO_VECTOR: LiteralString = """
UPDATE memory_chunks SET embedding = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(chunks)s)
"""
MAX_LENGTH = 32_000


async def chunks(
    conn: Connection, subject: Subject, turns: Iterable[UUID], needles: Sequence[str]
) -> list[IndexedText]:
    """The chunks of these turns, and all chunks that contain one of these texts."""
    params = {**subject.params, "turns": list(turns), "needles": list(needles)}
    return [IndexedText(**row) for row in await (await conn.execute(_CHUNKS, params)).fetchall()]


async def rechunk(
    conn: Connection, subject: Subject, texts: Sequence[tuple[IndexedText, Sequence[str]]], *, vectors: bool
) -> None:
    """Replaces text and terms of each chunk, which then waits for its vectors; an empty chunk is deleted."""
    posts = [
        (term, text.chunk_id, min(tf, MAX_LENGTH), min(len(terms), MAX_LENGTH))
        for text, terms in texts
        for term, tf in Counter(terms).items()
    ]
    terms, of, tfs, lengths = ([each[n] for each in posts] for n in range(4))
    rows = [{"chunk_id": str(text.chunk_id), "text": text.text, "length": len(terms)} for text, terms in texts]
    params = {
        **subject.params,
        "rows": orjson.dumps(rows).decode(),
        "chunks": [text.chunk_id for text, _ in texts],
        "terms": terms,
        "of": of,
        "tfs": tfs,
        "lengths": lengths,
    }
    for statement in _RECHUNK:
        await conn.execute(statement, params)
    if vectors:
        await conn.execute(_NO_VECTOR, params)


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """One version of a session's summary."""

    session_id: str
    version: int
    text: str
    block_text: str | None
    summary_json: Any
    model_id: str


_SUMMARIES: LiteralString = """
SELECT session_id, version, text, block_text, summary_json, model_id FROM session_summaries
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND text IS NOT NULL
"""
_SILENCE: LiteralString = """
UPDATE session_summaries SET text = NULL, block_text = NULL, summary_json = NULL, tombstone_id = %(tombstone)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""
_ANEW: LiteralString = """
UPDATE sessions SET summary_seq = 0, open_tokens = open_tokens + %(tokens)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""
_SLOTS: LiteralString = """
UPDATE sessions SET entity_slots = '{}'
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""
DUE_TOKENS = 1_000_000
"""More tokens than any summary interval allows: the next turn renews the summary."""


async def summaries(conn: Connection, subject: Subject) -> list[StoredSummary]:
    """All readable versions."""
    return [StoredSummary(**row) for row in await (await conn.execute(_SUMMARIES, subject.params)).fetchall()]


async def silence(conn: Connection, subject: Subject, tombstone_id: UUID, sessions: Iterable[str]) -> int:
    """Empties the versions; their number. The next turn of each session summarises the log again."""
    wanted = list(sessions)
    params = {**subject.params, "tombstone": tombstone_id, "sessions": wanted}
    gone = (await conn.execute(_SILENCE, params)).rowcount
    await conn.execute(_ANEW, {**params, "tokens": DUE_TOKENS})
    return gone


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """The caller's metadata of a session."""

    session_id: str
    metadata: Any


_METADATA: LiteralString = """
SELECT session_id, metadata_json AS metadata FROM sessions
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND metadata_json <> '{}'
"""
_KEEP_METADATA: LiteralString = """
UPDATE sessions s SET metadata_json = r.metadata
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(session_id text, metadata jsonb)
WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s AND s.session_id = r.session_id
"""


async def load_metadata(conn: Connection, subject: Subject) -> list[SessionMetadata]:
    """All of the user's sessions with metadata."""
    return [SessionMetadata(**row) for row in await (await conn.execute(_METADATA, subject.params)).fetchall()]


async def keep_metadata(conn: Connection, subject: Subject, kept: Sequence[SessionMetadata]) -> int:
    """Replaces the metadata of sessions; their number."""
    params = {**subject.params, "rows": orjson.dumps(list(kept)).decode()}
    return (await conn.execute(_KEEP_METADATA, params)).rowcount


_UNMENTION: LiteralString = """
UPDATE entity_mentions m SET tombstone_id = %(tombstone)s
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(turn_id uuid, ordinal integer, first integer, last integer)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.turn_id = r.turn_id AND m.ordinal = r.ordinal
    AND m.span_start >= r.first AND m.span_end <= r.last AND m.tombstone_id IS NULL
"""


_PART: LiteralString = """
UPDATE entity_mentions m SET same_as = NULL
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(turn_id uuid, ordinal integer)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.turn_id = r.turn_id AND m.ordinal = r.ordinal
    AND m.same_as IS NOT NULL AND m.tombstone_id IS NULL
"""


async def delete_mentions(conn: Connection, subject: Subject, tombstone_id: UUID, places: Sequence[TextSpan]) -> int:
    """Deletes the mentions of names at these positions; their number."""
    rows = [
        {"turn_id": str(p.turn_id), "ordinal": p.ordinal, "first": p.span_start, "last": p.span_end} for p in places
    ]
    params = {**subject.params, "tombstone": tombstone_id}
    params["rows"] = orjson.dumps(rows).decode()
    removed = (await conn.execute(_UNMENTION, params)).rowcount
    await conn.execute(_PART, params)
    sessions = list({p.session_id for p in places})
    await conn.execute(_SLOTS, {**params, "sessions": sessions})
    return removed


_FORGET: tuple[LiteralString, ...] = (
    """
DELETE FROM model_cache WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND (turn_id = ANY(%(turns)s)
    OR EXISTS (SELECT FROM unnest(%(needles)s::text[]) AS n WHERE strpos(lower(answer::text), lower(n)) > 0))
""",
    """
DELETE FROM model_answers WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND (turn_id = ANY(%(turns)s)
    OR EXISTS (SELECT FROM unnest(%(needles)s::text[]) AS n WHERE strpos(lower(raw), lower(n)) > 0))
""",
)


async def forget_answers(conn: Connection, subject: Subject, turns: Iterable[UUID], needles: Sequence[str]) -> None:
    """Deletes model answers about these turns, which quote them, and every answer that contains one of these texts."""
    for statement in _FORGET:
        await conn.execute(statement, {**subject.params, "turns": list(turns), "needles": list(needles)})
