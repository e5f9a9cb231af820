"""What search reads of a memory: its chunk, hidden and shown."""

from collections.abc import Collection
from uuid import UUID

from shared.db import Connection
from shared.domain import chunk_ids
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.extraction.habits import PREFIX, list_kinds
from shared.language import segment
from shared.language.contextual import contextual, topic_of
from shared.language.normalise import detect
from shared.resolution.related import about
from shared.store import chunks, memory
from shared.store.chunks import Chunk


def chunk_of(fresh: Memory) -> Chunk:
    """The memory as it is indexed: its sentence with what it is about in front of it."""
    standing = "confirmed" if fresh.provenance_class == "confirmed_by_user" else fresh.provenance_class
    topic = topic_of(fresh.key)
    kinds = list_kinds(fresh.content_text) if fresh.key and fresh.key.startswith(PREFIX) else ""
    topic = f"{topic} {kinds}" if kinds else topic
    text = contextual(fresh.type, topic, f"{fresh.valid_at:%Y-%m}", standing, fresh.content_text, fresh.language)
    terms = segment.terms(f"{topic or ''} {fresh.content_text}")
    return Chunk(
        chunk_id=chunk_ids.chunk_of_memory(fresh.memory_id),
        text=text,
        sentence=f"{fresh.content_text} {kinds}" if kinds else fresh.content_text,
        terms=(*terms, *about(fresh.content_text).signs),
        language=detect(fresh.content_text),
        normalizer_version=segment.SEGMENTER_VERSION,
        said_at=fresh.valid_at,
        memory_id=fresh.memory_id,
        session_id=fresh.source_sessions[0] if fresh.source_sessions else None,
    )


async def show(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Search finds these memories again."""
    found = await memory.by_ids(conn, subject, ids)
    await chunks.show(conn, subject, [chunk_of(each) for each in found])
