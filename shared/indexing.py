"""What search reads of a memory: its chunk, hidden and shown."""

from collections.abc import Collection
from uuid import UUID

from shared import place
from shared.db import Connection, Subject
from shared.reading.related import about
from shared.store import chunks, memory
from shared.store.chunks import Chunk
from shared.store.memory import Memory
from shared.text import language, segment
from shared.text.contextual import contextual, topic_of


def chunk_of(fresh: Memory) -> Chunk:
    """The memory as it is indexed: its sentence with what it is about in front of it."""
    standing = "confirmed" if fresh.provenance_class == "confirmed_by_user" else fresh.provenance_class
    topic = topic_of(fresh.key)
    text = contextual(fresh.type, topic, f"{fresh.valid_at:%Y-%m}", standing, fresh.content_text, fresh.language)
    terms = segment.terms(f"{topic or ''} {fresh.content_text}")
    return Chunk(
        chunk_id=place.chunk_of_memory(fresh.memory_id),
        text=text,
        sentence=fresh.content_text,
        terms=(*terms, *about(fresh.content_text).signs),
        language=language.detect(fresh.content_text),
        normalizer_version=segment.SEGMENTER_VERSION,
        said_at=fresh.valid_at,
        memory_id=fresh.memory_id,
        session_id=fresh.source_sessions[0] if fresh.source_sessions else None,
    )


async def show(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Search finds these memories again."""
    found = await memory.by_ids(conn, subject, ids)
    await chunks.show(conn, subject, [chunk_of(each) for each in found])
