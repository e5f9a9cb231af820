"""memory_items: written only by evolver; a new version is a new row, the old one superseded or retracted."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.memory_item import MemoryItem
from schemas.memory_types import MEMORY_TYPES
from schemas.vocabulary import Assertion, MemoryStatus, Provenance
from shared.db import Connection, Read
from shared.domain import chunk_ids
from shared.domain.memories import Memory
from shared.domain.statements import Statement
from shared.domain.subjects import Subject
from shared.resolution.meant import NEAR_MOST, NEWEST_MOST
from shared.resolution.related import about

_COLUMNS: LiteralString = """
SELECT memory_id, root_id, version, type, key, value, content_text, content_hash, language, polarity, status,
    confidence::float8 AS confidence, provenance_class, provenance, assertion, epistemic_type, flags, supersedes,
    superseded_by, valid_at, invalid_at, valid_until, last_validated_at, source_sessions, source_turn_id, source_turns,
    created_at, fused_at, fused_from::float8 AS fused_from, pinned, silenced_at
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


async def _rows(conn: Connection, statement: LiteralString, params: Mapping[str, Any]) -> list[Memory]:
    return _memories(await (await conn.execute(statement, params)).fetchall())


def _memories(found: Iterable[Mapping[str, Any]]) -> list[Memory]:
    lists = ("flags", "supersedes", "source_sessions", "source_turns", "replaced")
    rows: list[dict[str, Any]] = [{**row, **{name: tuple(row[name]) for name in lists if name in row}} for row in found]
    return [Memory(**row) for row in rows]


_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%(tenant)s || ':' || %(user)s, 1))"


async def lock(conn: Connection, subject: Subject) -> None:
    """Locks this user's memories against other evolvers until the transaction ends."""
    await conn.execute(_LOCK, subject.params)


_BY_ID: LiteralString = _COLUMNS + " AND memory_id = ANY(%(ids)s)"


async def by_ids(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[Memory]:
    """These versions, whatever their status."""
    wanted = list(ids)
    return await _rows(conn, _BY_ID, {**subject.params, "ids": wanted}) if wanted else []


_SAID_BEFORE: LiteralString = (
    _COLUMNS
    + """ AND status = 'active' AND (type <> 'entity' OR key IS NULL) AND source_turn_id = (SELECT t.turn_id
    FROM turns now JOIN turns t
        ON t.tenant_id = now.tenant_id AND t.user_id = now.user_id AND t.session_id = now.session_id AND t.seq < now.seq
    WHERE now.tenant_id = %(tenant)s AND now.user_id = %(user)s AND now.turn_id = %(turn)s
        AND EXISTS (SELECT FROM conversation_events e WHERE e.tenant_id = t.tenant_id AND e.user_id = t.user_id
            AND e.turn_id = t.turn_id AND e.event_type = 'user_message')
    ORDER BY t.seq DESC LIMIT 1)
ORDER BY (provenance ->> 'ordinal')::integer DESC, (provenance -> 'span' ->> 0)::integer DESC, memory_id"""
)


async def said_before(conn: Connection, subject: Subject, turn_id: UUID) -> list[Memory]:
    """The active memories from the last sentence with any in the user's previous turn."""
    found = await _rows(conn, _SAID_BEFORE, {**subject.params, "turn": turn_id})
    last = found[0].value.get("quote") if found else None
    return [each for n, each in enumerate(found) if not n or (last and each.value.get("quote") == last)]


_CONCERNED: LiteralString = (
    """SELECT concerned.*, ARRAY(SELECT before.content_text FROM memory_items before
    WHERE before.tenant_id = %(tenant)s AND before.user_id = %(user)s AND before.status = 'superseded'
        AND before.memory_id = ANY(concerned.supersedes) ORDER BY before.memory_id) AS replaced
FROM ("""
    + _COLUMNS
    + """ AND status = 'active' AND memory_id = ANY(ARRAY(
    SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active'
        AND (key = ANY(%(keys)s) OR (key IS NULL AND content_hash = ANY(%(hashes)s)))
    UNION ALL SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s
        AND status = 'active' AND value ? 'also' AND value -> 'also' ?| %(keys)s::text[]
    UNION ALL SELECT unnest(%(ids)s::uuid[])
    UNION ALL SELECT said.memory_id FROM unnest(%(patterns)s::text[]) AS p(pattern) CROSS JOIN LATERAL (
        SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s
            AND status = 'active' AND (type <> 'entity' OR key IS NULL) AND (lower(content_text) LIKE p.pattern
                OR lower(value ->> 'target') LIKE p.pattern OR lower(value ->> 'value') LIKE p.pattern)
        ORDER BY valid_at DESC, memory_id DESC LIMIT %(each)s) AS said
    UNION ALL (SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s
        AND status = 'active' AND cardinality(%(terms)s::text[]) > 0
        ORDER BY valid_at DESC, memory_id DESC LIMIT %(newest)s)
    UNION ALL SELECT memory_id FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(ARRAY(
        SELECT near.chunk_id FROM unnest(%(terms)s::text[]) AS t(term) CROSS JOIN LATERAL (
            SELECT chunk_id FROM postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND term = t.term
                AND chunk_id >= %(first)s ORDER BY chunk_id DESC LIMIT %(near)s) AS near))))) AS concerned
ORDER BY valid_at DESC, memory_id DESC"""
)
"""Arrays are built once. A join with their content would be repeated for each row if the planner takes a table for
empty, as it does for a new user and during a rebuild.
"""
SAYING_MOST = 20
SPARE = 2
"""The factor of additional rows to load, because some may end before their turn."""


def load_concerned(
    subject: Subject, statements: Iterable[Statement], advised: Iterable[UUID] = ()
) -> Read[list[Memory]]:
    """The active memories that these statements may concern, newest first.

    Those under their keys, those that they name, those with equal or contradicted words, the newest that share a word
    or name the same kind of thing, the newest of all, and those `advised`.
    """
    stated = list(statements)
    keyless = [each for each in stated if each.key is None]
    params = {
        **subject.params,
        "keys": list({key for each in stated for key in (each.key, each.old_key) if key}),
        "hashes": list({each.sense for each in keyless}),
        "ids": list({*advised, *(each.related for each in stated if each.related)}),
        "patterns": list({_pattern(each.old_value) for each in stated if each.old_value}),
        "each": SAYING_MOST,
        "terms": list({sign for each in stated if each.quote for sign in about(each.quote).all}),
        "first": chunk_ids.FIRST_OF_MEMORIES,
        "near": NEAR_MOST * SPARE,
        "newest": NEWEST_MOST * SPARE,
    }
    return Read(_CONCERNED, params, _memories)


def _pattern(words: str) -> str:
    escaped = words.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


LISTED_TYPE: LiteralString = (
    " AND CASE WHEN %(type)s::text IS NULL THEN type <> 'entity' OR key IS NULL ELSE type = %(type)s END"
)
"""Filters by the requested type; without one, all but entities, which help search and state nothing."""
_LISTED: LiteralString = " AND (%(status)s::text IS NULL OR status = %(status)s)" + LISTED_TYPE
_LIST: LiteralString = _COLUMNS + _LISTED + " ORDER BY valid_at DESC, memory_id DESC LIMIT %(limit)s OFFSET %(offset)s"
_COUNT: LiteralString = (
    "SELECT count(*) AS n FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s" + _LISTED
)


async def list_memories(
    conn: Connection,
    subject: Subject,
    *,
    status: str | None = "active",
    type: str | None = None,  # the column name
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Memory], int]:
    """A page of the user's memories, newest validity first, and their number; `status` None: all versions."""
    params = {**subject.params, "status": status, "type": type, "limit": limit, "offset": offset}
    rows = await _rows(conn, _LIST, params)
    if not offset and len(rows) < limit:
        return rows, len(rows)
    counted = await (await conn.execute(_COUNT, params)).fetchone()
    return rows, counted["n"] if counted else 0


_INSERT: LiteralString = """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, key, value, content_text, content_hash,
    language, polarity, status, confidence, provenance_class, provenance, assertion, epistemic_type, flags, supersedes,
    superseded_by, valid_at, invalid_at, valid_until, last_validated_at, source_sessions, source_turn_id, source_turns,
    pinned)
VALUES (%(tenant)s, %(user)s, %(memory_id)s, %(root_id)s, %(version)s, %(type)s, %(key)s, %(value)s::jsonb,
    %(content_text)s, %(content_hash)s, %(language)s, %(polarity)s, %(status)s, %(confidence)s, %(provenance_class)s,
    %(provenance)s::jsonb, %(assertion)s, %(epistemic_type)s, %(flags)s, %(supersedes)s, %(superseded_by)s,
    %(valid_at)s, %(invalid_at)s, %(valid_until)s, %(last_validated_at)s, %(source_sessions)s, %(source_turn_id)s,
    %(source_turns)s, %(pinned)s OR EXISTS (SELECT FROM memory_items p WHERE p.tenant_id = %(tenant)s
        AND p.user_id = %(user)s AND p.memory_id = ANY(%(supersedes)s::uuid[]) AND p.pinned))
"""


async def insert(conn: Connection, subject: Subject, memory: Memory) -> None:
    """Stores a new version, pinned if one that it supersedes is; a second active one under the same
    key raises TransientError.
    """
    lists = ("flags", "supersedes", "source_sessions", "source_turns")
    row = {
        **vars(memory),
        **{name: list(getattr(memory, name)) for name in lists},
        "value": orjson.dumps(memory.value).decode(),
        "provenance": orjson.dumps(memory.provenance).decode(),
        **subject.params,
    }
    await conn.execute(_INSERT, row)


FORGOTTEN = "forgotten"
"""In the provenance of an ended memory: it is not shown for questions about the past either."""
_CLOSE: LiteralString = """
UPDATE memory_items SET status = %(status)s, invalid_at = %(at)s, superseded_by = %(by)s, updated_at = now(),
    provenance = CASE WHEN %(forgotten)s THEN provenance || '{"forgotten": true}' ELSE provenance END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND status = 'active'
"""


async def close(
    conn: Connection,
    subject: Subject,
    ids: Iterable[UUID],
    status: MemoryStatus,
    at: datetime,
    by: UUID | None = None,
    *,
    forgotten: bool = False,
) -> int:
    """Ends versions, superseded by another or retracted, from `at` on; their number.

    A `forgotten` one is not shown for the past either.
    """
    params = {**subject.params, "ids": list(ids), "status": status, "at": at, "by": by, "forgotten": forgotten}
    return (await conn.execute(_CLOSE, params)).rowcount


TURNS_MOST = 100
"""The number of source turns kept for a memory: the first and the newest."""


def turns_kept(turns: Iterable[UUID]) -> tuple[UUID, ...]:
    """These turns without duplicates, limited to the first and the newest."""
    first, *others = dict.fromkeys(turns) or (None,)
    return (first, *others[1 - TURNS_MOST :]) if first else ()


_CONFIRM: LiteralString = """
UPDATE memory_items SET
    confidence = CASE WHEN fused_at IS NULL OR %(by_user)s THEN %(confidence)s ELSE confidence END,
    provenance_class = CASE WHEN fused_at IS NULL OR %(by_user)s THEN %(provenance_class)s ELSE provenance_class END,
    assertion = CASE WHEN fused_at IS NULL OR %(by_user)s THEN %(assertion)s ELSE assertion END,
    last_validated_at = greatest(last_validated_at, %(at)s),
    source_sessions = (SELECT array_agg(DISTINCT s) FROM unnest(source_sessions || %(session)s::text) AS s),
    source_turns = CASE WHEN %(turn)s::uuid = ANY(source_turns) THEN source_turns
        ELSE (source_turns || %(turn)s::uuid)[1:1]
            || (source_turns || %(turn)s::uuid)[greatest(cardinality(source_turns) + 3 - %(most)s, 2):] END,
    updated_at = now(),
    correction_count = CASE WHEN %(by_user)s THEN 0 ELSE correction_count END,
    calibrated = CASE WHEN %(by_user)s THEN calibrated - 'correction_count' ELSE calibrated END,
    fused_at = CASE WHEN %(by_user)s THEN silenced_at ELSE fused_at END,
    fused_from = CASE WHEN NOT %(by_user)s THEN fused_from WHEN silenced_at IS NOT NULL THEN %(confidence)s END,
    epistemic_type = CASE WHEN %(by_user)s THEN coalesce(epistemic_prev, epistemic_type) ELSE epistemic_type END,
    epistemic_prev = CASE WHEN %(by_user)s THEN NULL ELSE epistemic_prev END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = %(id)s AND status = 'active'
RETURNING source_sessions
"""


async def confirm(
    conn: Connection,
    subject: Subject,
    memory_id: UUID,
    *,
    confidence: float,
    provenance_class: Provenance,
    assertion: Assertion,
    at: datetime,
    session: str,
    turn: UUID,
    by_user: bool = True,
) -> tuple[str, ...]:
    """Adds evidence to a repeated memory without changing its words; the sessions that stated it.

    A statement of the user resets rejections and the outdated mark. A statement of others does not change a fused
    memory. A suppressed memory stays hidden.
    """
    params = {
        **subject.params,
        "id": memory_id,
        "confidence": confidence,
        "provenance_class": provenance_class,
        "assertion": assertion,
        "at": at,
        "session": session,
        "turn": turn,
        "by_user": by_user,
        "most": TURNS_MOST,
    }
    row = await (await conn.execute(_CONFIRM, params)).fetchone()
    return tuple(row["source_sessions"]) if row else ()


def to_item(memory: Memory, subject: Subject) -> MemoryItem:
    """The memory as its contract."""
    return MemoryItem(
        memory_id=memory.memory_id,
        user_id=subject.user_id,
        memory_type=MEMORY_TYPES[memory.type].v1,
        content=memory.content_text,
        valid_at=memory.valid_at,
        invalid_at=memory.invalid_at,
        confidence=round(memory.confidence, 4),
        source_sessions=memory.source_sessions,
        superseded_by=memory.superseded_by,
        version=memory.version,
        provenance={"class": memory.provenance_class, **memory.provenance},
        epistemic_type=memory.epistemic_type,
        type=memory.type,
        key=memory.key,
        value=memory.value,
        status=memory.status,
        assertion=memory.assertion,
        root_id=memory.root_id,
        supersedes=memory.supersedes,
        valid_until=memory.valid_until,
        fused_at=memory.fused_at,
        pinned=memory.pinned,
        silenced_at=memory.silenced_at,
        created_at=memory.created_at,
    )
