"""The places where erased memories were stated, and other rows that state or depend on them. Role
smartbrain_erasure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class TextSpan:
    """The source of an observation: a span of an event's text, with the current event."""

    observation_id: UUID
    turn_id: UUID
    session_id: str
    ordinal: int
    span_start: int
    span_end: int
    text: str
    old_value: str | None
    event_type: str | None
    content: Any


_PLACES: LiteralString = """
SELECT o.observation_id, o.turn_id, o.session_id, o.ordinal, o.span_start, o.span_end, o.text, o.old_value,
    e.event_type, e.content
FROM observations o LEFT JOIN conversation_events e ON (e.tenant_id, e.user_id, e.turn_id, e.ordinal)
    = (o.tenant_id, o.user_id, o.turn_id, o.ordinal)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.observation_id = ANY(%(observations)s)
"""
# an import's statement was made elsewhere: in the turn of the exporting system from which it was learnt
_FIRST_PLACES: LiteralString = """
SELECT o.observation_id, e.turn_id, e.session_id, e.ordinal, (m.provenance #>> '{span,0}')::integer AS span_start,
    (m.provenance #>> '{span,1}')::integer AS span_end, o.text, o.old_value, e.event_type, e.content
FROM observations o
JOIN memory_items m ON (m.tenant_id, m.user_id, m.memory_id) = (o.tenant_id, o.user_id, o.related_memory_id)
JOIN conversation_events e ON (e.tenant_id, e.user_id, e.turn_id, e.ordinal)
    = (o.tenant_id, o.user_id, (m.provenance ->> 'turn_id')::uuid, (m.provenance ->> 'ordinal')::integer)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.pattern = 'import' AND m.provenance ? 'span'
"""
_IMPORTED_PLACES: LiteralString = f"{_FIRST_PLACES} AND o.observation_id = ANY(%(observations)s)"
_CONTENTS: LiteralString = """
SELECT content_text FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(memories)s)
"""
_SAYING: LiteralString = """
SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND lower(content_text) = ANY(%(texts)s)
"""
_OBSERVED: LiteralString = """
SELECT observation_id FROM observations WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND lower(text) = ANY(%(texts)s)
"""
_UNOBSERVED: LiteralString = """
SELECT turn_id FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observed_at IS NULL AND tombstone_id IS NULL
"""


async def places(conn: Connection, subject: Subject, observations: Iterable[UUID]) -> list[TextSpan]:
    """The places where these were stated; for imported ones also those before the export."""
    params = {**subject.params, "observations": list(observations)}
    return [
        TextSpan(**row)
        for statement in (_PLACES, _IMPORTED_PLACES)
        for row in await (await conn.execute(statement, params)).fetchall()
    ]


async def contents(conn: Connection, subject: Subject, memories: Iterable[UUID]) -> list[str]:
    """The texts of these memories."""
    params = {**subject.params, "memories": list(memories)}
    return [row["content_text"] for row in await (await conn.execute(_CONTENTS, params)).fetchall()]


async def find_memories_with_text(conn: Connection, subject: Subject, texts: Iterable[str]) -> list[UUID]:
    """The memories with exactly the words of one of these."""
    wanted = [text.lower() for text in texts]
    params = {**subject.params, "texts": wanted}
    return [row["memory_id"] for row in await (await conn.execute(_SAYING, params)).fetchall()]


async def find_observed(conn: Connection, subject: Subject, texts: Iterable[str]) -> list[UUID]:
    """The observations with exactly the words of one of these, whatever their state."""
    wanted = [text.lower() for text in texts]
    params = {**subject.params, "texts": wanted}
    return [row["observation_id"] for row in await (await conn.execute(_OBSERVED, params)).fetchall()]


async def find_unobserved(conn: Connection, subject: Subject) -> set[UUID]:
    """The unobserved turns."""
    return {row["turn_id"] for row in await (await conn.execute(_UNOBSERVED, subject.params)).fetchall()}


@dataclass(frozen=True, slots=True)
class NeighbourSpan:
    """An observation of a turn in which another statement is erased, with position and text."""

    observation_id: UUID
    turn_id: UUID
    ordinal: int
    span_start: int
    span_end: int
    text: str
    old_value: str | None


_BESIDE: LiteralString = """
SELECT observation_id, turn_id, ordinal, span_start, span_end, text, old_value FROM observations
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND tombstone_id IS NULL
"""
_IMPORTED_BESIDE: LiteralString = f"""
SELECT observation_id, turn_id, ordinal, span_start, span_end, text, old_value FROM ({_FIRST_PLACES}
    AND o.tombstone_id IS NULL) AS said WHERE turn_id = ANY(%(turns)s)
"""
_RESTING: LiteralString = """
SELECT m.memory_id FROM memory_items m
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.tombstone_id IS NULL
    AND m.memory_id IN (SELECT unnest(ARRAY[observation_id, related_memory_id]) FROM observations
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(observations)s))
    AND (m.memory_id = ANY(%(observations)s) OR NOT EXISTS (SELECT FROM observations o
        WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s
            AND (o.observation_id = m.memory_id OR o.related_memory_id = m.memory_id) AND o.state = 'evolved'
            AND o.observation_id <> ALL(%(observations)s)))
"""


async def load_beside(conn: Connection, subject: Subject, turns: Iterable[UUID]) -> list[NeighbourSpan]:
    """All observations of these turns, here or where they were exported."""
    return [
        NeighbourSpan(**row)
        for statement in (_BESIDE, _IMPORTED_BESIDE)
        for row in await (await conn.execute(statement, {**subject.params, "turns": list(turns)})).fetchall()
    ]


async def find_resting(conn: Connection, subject: Subject, observations: Iterable[UUID]) -> list[UUID]:
    """The memories with the words of these observations, whoever confirmed them, or with no other evidence."""
    params = {**subject.params, "observations": list(observations)}
    return [row["memory_id"] for row in await (await conn.execute(_RESTING, params)).fetchall()]
