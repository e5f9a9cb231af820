"""memory_chunks, postings, search_stats: the search index. Written by observer (turns) and evolver (memories)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.classifiers.static_encoder import load_static_encoder
from shared.db import Connection
from shared.domain import chunk_ids
from shared.domain.memories import Memory
from shared.domain.statements import to_indexed_text, topic_of
from shared.domain.subjects import Subject
from shared.extraction.habits import PREFIX, list_kinds
from shared.language import segment
from shared.language.normalise import detect
from shared.models.provider import StoredVector
from shared.resolution.related import about
from shared.store import memory, pages
from shared.store.search import asked_of, vector_literal
from shared.vectors import to_bytes


@dataclass(frozen=True)
class Chunk:
    """The searchable text of a memory or of a message of a turn, with its search terms in order.

    `sentence` is the text for vectors, if the searchable text has a prefix for lexical search.
    """

    chunk_id: UUID
    text: str
    terms: tuple[str, ...]
    language: str
    normalizer_version: str
    said_at: datetime
    memory_id: UUID | None = None
    turn_id: UUID | None = None
    ordinal: int = 0
    session_id: str | None = None
    seq: int | None = None
    role: str | None = None
    name: str | None = None
    media: list[dict[str, Any]] | None = None
    sentence: str | None = None


_PUT: LiteralString = """
INSERT INTO memory_chunks (tenant_id, user_id, chunk_id, memory_id, turn_id, ordinal, session_id, seq, role, name, text,
    term_count, language, normalizer_version, said_at, media, static_vector, static_model_id)
SELECT %(tenant)s, %(user)s, c.chunk_id, c.memory_id, c.turn_id, c.ordinal, c.session_id, c.seq, c.role, c.name, c.text,
    c.term_count, c.language, c.normalizer_version, c.said_at, nullif(c.media, 'null'),
    decode(c.vector, 'hex'), %(static)s
FROM jsonb_to_recordset(%(rows)s::jsonb) AS c(chunk_id uuid, memory_id uuid, turn_id uuid, ordinal integer,
    session_id text, seq integer, role text, name text, text text, term_count integer, language text,
    normalizer_version text, said_at timestamptz, media jsonb, vector text)
ON CONFLICT (tenant_id, user_id, memory_id, turn_id, ordinal) DO NOTHING
RETURNING chunk_id
"""
_POST: LiteralString = """
INSERT INTO postings (tenant_id, user_id, term, chunk_id, tf, length)
SELECT %(tenant)s, %(user)s, p.term, p.chunk, p.tf, p.length
FROM unnest(%(terms)s::text[], %(chunks)s::uuid[], %(tfs)s::smallint[], %(lengths)s::smallint[])
    AS p(term, chunk, tf, length)
ORDER BY p.term, p.chunk
"""
_COUNT: LiteralString = """
INSERT INTO search_stats AS s (tenant_id, user_id, chunks, terms, names)
VALUES (%(tenant)s, %(user)s, %(chunks)s, %(terms)s, %(names)s)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET chunks = s.chunks + excluded.chunks, terms = s.terms + excluded.terms,
    names = CASE WHEN s.names @> excluded.names OR cardinality(s.names) >= %(most)s THEN s.names
        ELSE ARRAY(SELECT DISTINCT n FROM unnest(s.names || excluded.names) AS n) END
"""
MAX_NAMES = 500
MAX_LENGTH = 32_000


async def put(conn: Connection, subject: Subject, chunks: Sequence[Chunk]) -> None:
    """Adds the chunks with their postings and static vectors; vectors of an encoder follow."""
    if not chunks:
        return
    whose = subject.params
    encoder = load_static_encoder()
    rows = [
        {
            **vars(chunk),
            "terms": None,
            "term_count": len(chunk.terms),
            "vector": to_bytes(encoder.encode(chunk.text if chunk.sentence is None else chunk.sentence)).hex(),
        }
        for chunk in chunks
    ]
    cursor = await conn.execute(_PUT, {**whose, "static": encoder.model_id, "rows": orjson.dumps(rows).decode()})
    new = {row["chunk_id"] for row in await cursor.fetchall()}
    await _post(conn, whose, [chunk for chunk in chunks if chunk.chunk_id in new])


async def _post(conn: Connection, whose: Mapping[str, Any], fresh: Sequence[Chunk]) -> None:
    """Adds the postings of these stored chunks."""
    postings = [(term, c.chunk_id, tf, len(c.terms)) for c in fresh for term, tf in Counter(c.terms).items()]
    if postings:
        terms, of, tfs, lengths = (list(column) for column in zip(*postings, strict=True))
        bounded = {"tfs": [min(tf, MAX_LENGTH) for tf in tfs], "lengths": [min(n, MAX_LENGTH) for n in lengths]}
        await conn.execute(_POST, {**whose, "terms": terms, "chunks": of, **bounded})
    if fresh:
        names = sorted({c.name for c in fresh if c.name and c.role != "tool"})
        length = sum(len(c.terms) for c in fresh)
        counted = {"chunks": len(fresh), "terms": length, "names": names, "most": MAX_NAMES}
        await conn.execute(_COUNT, {**whose, **counted})


_HIDE: LiteralString = """
WITH hidden AS (
    UPDATE memory_chunks SET active = false
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND active
    RETURNING chunk_id, term_count
), gone AS (
    DELETE FROM postings
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id IN (SELECT chunk_id FROM hidden)
)
UPDATE search_stats SET chunks = chunks - (SELECT count(*) FROM hidden),
    terms = terms - (SELECT coalesce(sum(term_count), 0) FROM hidden)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


async def hide(conn: Connection, subject: Subject, memory_ids: Iterable[UUID]) -> None:
    """Removes these memories from search."""
    await conn.execute(_HIDE, {**subject.params, "ids": list(memory_ids)})


_SHOW: LiteralString = """
UPDATE memory_chunks SET active = true
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND NOT active
RETURNING chunk_id, memory_id
"""


async def show(conn: Connection, subject: Subject, chunks: Sequence[Chunk]) -> None:
    """Returns the hidden ones of these memories to search; the chunks provide their terms."""
    of = {chunk.memory_id: chunk for chunk in chunks}
    cursor = await conn.execute(_SHOW, {**subject.params, "ids": list(of)})
    back = [replace(of[row["memory_id"]], chunk_id=row["chunk_id"]) for row in await cursor.fetchall()]
    if back:
        await pages.drop(conn, subject)
    await _post(conn, subject.params, back)


_WAITING: LiteralString = """
SELECT tenant_id, user_id, array_agg(chunk_id) AS chunk_ids FROM (
    SELECT tenant_id, user_id, chunk_id FROM memory_chunks
    WHERE active AND embedding_model_id IS NULL ORDER BY created_at LIMIT %(limit)s) AS waiting
GROUP BY tenant_id, user_id
"""


async def load_unembedded(conn: Connection, limit: int) -> Sequence[Mapping[str, Any]]:
    """The oldest chunks of all users without a vector, by user (ids only)."""
    return await (await conn.execute(_WAITING, {"limit": limit})).fetchall()


_VECTORS: LiteralString = """
SELECT EXISTS (SELECT FROM pg_attribute
    WHERE attrelid = 'memory_chunks'::regclass AND attname = 'embedding' AND NOT attisdropped) AS kept
"""


async def keep_vectors(conn: Connection) -> bool:
    """Whether the column for vectors exists; it does not without the extension."""
    row = await (await conn.execute(_VECTORS)).fetchone()
    return bool(row and row["kept"])


_TEXTS: LiteralString = """
SELECT chunk_id, text FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(ids)s) AND embedding_model_id IS NULL
"""


async def texts(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> dict[UUID, str]:
    """The texts of the given chunks that still have no vector."""
    params = {**subject.params, "ids": list(ids)}
    return {r["chunk_id"]: r["text"] for r in await (await conn.execute(_TEXTS, params)).fetchall()}


_EMBED: LiteralString = """
UPDATE memory_chunks c SET embedding = d.vector::public.halfvec, embedding_model_id = d.model
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(chunk_id uuid, vector text, model text)
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = d.chunk_id
"""


async def embed(conn: Connection, subject: Subject, vectors: Mapping[UUID, StoredVector]) -> None:
    """Stores these vectors; a chunk without one in the model is not embedded again."""
    rows = [
        {
            "chunk_id": str(chunk),
            "model": kept.model_id,
            "vector": None if kept.vector is None else vector_literal(kept.vector),
        }
        for chunk, kept in vectors.items()
    ]
    await conn.execute(_EMBED, {**subject.params, "rows": orjson.dumps(rows).decode()})


_OTHERS: LiteralString = """
SELECT DISTINCT tenant_id, user_id FROM memory_chunks WHERE active AND embedding_model_id <> ALL(%(models)s)
"""
_UNEMBED: LiteralString = """
UPDATE memory_chunks SET embedding_model_id = NULL
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND embedding_model_id <> ALL(%(models)s)
"""


async def embedded_otherwise(conn: Connection, models: Collection[str]) -> list[Subject]:
    """The users whose chunks have vectors of other models (role smartbrain_system; reads all chunks)."""
    found = await (await conn.execute(_OTHERS, {"models": list(models)})).fetchall()
    return [Subject(row["tenant_id"], row["user_id"]) for row in found]


async def drop_vectors(conn: Connection, subject: Subject, models: Collection[str]) -> int:
    """The number of the user's chunks marked for a new vector because theirs is of another model."""
    return (await conn.execute(_UNEMBED, {**subject.params, "models": list(models)})).rowcount


_WITHOUT: LiteralString = """
SELECT tenant_id, user_id, array_agg(chunk_id) AS chunk_ids FROM (
    SELECT tenant_id, user_id, chunk_id FROM memory_chunks
    WHERE active AND static_model_id IS NULL ORDER BY created_at LIMIT %(limit)s) AS waiting
GROUP BY tenant_id, user_id
"""
_OTHER_STATIC: LiteralString = """
SELECT tenant_id, user_id, array_agg(chunk_id) AS chunk_ids FROM memory_chunks
WHERE active AND static_model_id <> %(static)s GROUP BY tenant_id, user_id
"""
_SENTENCES: LiteralString = """
SELECT c.chunk_id, coalesce(m.content_text, c.text) AS sentence FROM memory_chunks c
LEFT JOIN memory_items m ON m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = c.memory_id
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = ANY(%(ids)s)
    AND c.static_model_id IS DISTINCT FROM %(static)s
"""
_FILL: LiteralString = """
UPDATE memory_chunks c SET static_vector = decode(d.vector, 'hex'), static_model_id = %(static)s
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(chunk_id uuid, vector text)
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = d.chunk_id
"""


async def without_static(conn: Connection, limit: int) -> Sequence[Mapping[str, Any]]:
    """The oldest chunks of all users without a static vector, by user (ids only)."""
    return await (await conn.execute(_WITHOUT, {"limit": limit})).fetchall()


async def static_otherwise(conn: Connection) -> Sequence[Mapping[str, Any]]:
    """The chunks of all users with a static vector of another version, by user (ids only; reads all chunks)."""
    return await (await conn.execute(_OTHER_STATIC, {"static": load_static_encoder().model_id})).fetchall()


async def fill_static(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> int:
    """The number of these chunks that got a static vector of the current encoder."""
    encoder = load_static_encoder()
    whose = {**subject.params, "static": encoder.model_id}
    found = await (await conn.execute(_SENTENCES, {**whose, "ids": list(ids)})).fetchall()
    rows = [
        {"chunk_id": str(row["chunk_id"]), "vector": to_bytes(encoder.encode(row["sentence"])).hex()} for row in found
    ]
    if not rows:
        return 0
    return (await conn.execute(_FILL, {**whose, "rows": orjson.dumps(rows).decode()})).rowcount


_NEAREST: LiteralString = """
WITH asked AS MATERIALIZED (
    SELECT a.model, a.vector::public.halfvec FROM unnest(%(models)s::text[], %(vectors)s::text[]) AS a(model, vector))
SELECT c.memory_id, 1 - (c.embedding OPERATOR(public.<=>) a.vector) AS cosine
FROM memory_chunks c JOIN asked a ON a.model = c.embedding_model_id
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.memory_id IS NOT NULL AND c.active
    AND c.embedding IS NOT NULL
ORDER BY 2 DESC, c.memory_id LIMIT %(limit)s
"""


async def nearest(
    conn: Connection, subject: Subject, vectors: Mapping[str, Sequence[float]], limit: int
) -> dict[UUID, float]:
    """The memories nearest by these models, each with its own vector, with their cosines, nearest first."""
    given = {**subject.params, **asked_of(vectors), "limit": limit}
    return {row["memory_id"]: row["cosine"] for row in await (await conn.execute(_NEAREST, given)).fetchall()}


def chunk_of(fresh: Memory) -> Chunk:
    """The memory as it is indexed: its sentence with what it is about in front of it."""
    standing = "confirmed" if fresh.provenance_class == "confirmed_by_user" else fresh.provenance_class
    topic = topic_of(fresh.key)
    kinds = list_kinds(fresh.content_text) if fresh.key and fresh.key.startswith(PREFIX) else ""
    topic = f"{topic} {kinds}" if kinds else topic
    text = to_indexed_text(fresh.type, topic, f"{fresh.valid_at:%Y-%m}", standing, fresh.content_text, fresh.language)
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


async def show_memories(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Search finds these memories again."""
    found = await memory.by_ids(conn, subject, ids)
    await show(conn, subject, [chunk_of(each) for each in found])
