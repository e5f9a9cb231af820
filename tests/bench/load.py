"""A database as after months of use: memories of many users in mixed order, loaded in bulk."""

from collections import Counter
from collections.abc import Sequence

import psycopg
from psycopg.types.json import Jsonb

from shared.classifiers.static_encoder import load_static_encoder
from shared.db import SCHEMA
from shared.language import segment
from shared.store.search import vector_literal
from shared.vectors import to_bytes
from tests.bench.talk import Fact, facts

POOL = 2000
USER = "user-0"
"""The user with many memories; the others share the rest evenly."""
OTHERS = 400

_POOL = """
CREATE TEMP TABLE pool AS
SELECT p.*, (SELECT sum(t.value::integer) FROM jsonb_each_text(p.terms) AS t)::integer AS size
FROM jsonb_to_recordset(%s) AS p(n integer, type text, language text, text text, terms jsonb, vector text,
    meaning text)
"""
_PLACES = """
CREATE TEMP TABLE places AS SELECT i, uuidv7() AS memory_id, uuidv7() AS chunk_id, uuidv7() AS turn_id,
    CASE WHEN i %% (%(total)s / %(own)s) = 0 THEN %(user)s ELSE 'user-' || 1 + i %% %(others)s END AS user_id,
    (i * 7919) %% %(pool)s AS n, now() - (%(total)s - i) * interval '2 minutes' AS said_at
FROM generate_series(1, %(total)s) AS i ORDER BY i
"""
_MEMORIES = """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, key, content_text, content_hash,
    language, status, confidence, provenance_class, provenance, assertion, epistemic_type, valid_at, last_validated_at,
    source_sessions, source_turn_id, source_turns)
SELECT 'default', o.user_id, o.memory_id, o.memory_id, 1, p.type, p.type || ':bench:' || o.i, p.text || ' #' || o.i,
    md5(o.i::text), p.language, 'active', 0.5 + (o.i %% 40) / 100.0,
    CASE WHEN o.i %% 7 = 0 THEN 'confirmed_by_user' ELSE 'observation' END,
    jsonb_build_object('ordinal', 0, 'span', jsonb_build_array(0, 40)), 'declared', 'preference', o.said_at, o.said_at,
    ARRAY['s-' || o.i / 40], o.turn_id, ARRAY[o.turn_id]
FROM places o JOIN pool p USING (n) ORDER BY o.i
"""
_CHUNKS = """
INSERT INTO memory_chunks (tenant_id, user_id, chunk_id, memory_id, session_id, text, term_count, language,
    normalizer_version, said_at, created_at, embedding, embedding_model_id, static_vector, static_model_id)
SELECT 'default', o.user_id, o.chunk_id, o.memory_id, 's-' || o.i / 40, p.text || ' #' || o.i, p.size, p.language,
    %(version)s, o.said_at, o.said_at, p.vector::public.halfvec, CASE WHEN p.vector IS NOT NULL THEN %(model)s END,
    decode(p.meaning, 'hex'), %(static)s
FROM places o JOIN pool p USING (n) ORDER BY o.i
"""
_POSTINGS = """
WITH term AS MATERIALIZED (SELECT p.n, p.size, t.key AS term, t.value::smallint AS tf
    FROM pool p CROSS JOIN jsonb_each_text(p.terms) AS t)
INSERT INTO postings (tenant_id, user_id, term, chunk_id, tf, length)
SELECT 'default', o.user_id, t.term, o.chunk_id, t.tf, t.size FROM places o JOIN term t USING (n)
"""
_STATS = """
INSERT INTO search_stats (tenant_id, user_id, chunks, terms)
SELECT 'default', o.user_id, count(*), sum(p.size) FROM places o JOIN pool p USING (n) GROUP BY o.user_id
"""
_BARE = ("ALTER TABLE postings DROP CONSTRAINT postings_pkey", "DROP INDEX postings_of_chunk")
_INDEXED = (
    "ALTER TABLE postings ADD PRIMARY KEY (tenant_id, user_id, term, chunk_id) INCLUDE (tf, length)",
    "CREATE INDEX postings_of_chunk ON postings (tenant_id, user_id, chunk_id)",
)
LOADED = "memory_items, memory_chunks, postings, search_stats, vector_pages"


async def load(
    dsn: str, own: int, total: int, vectors: Sequence[Sequence[float]] | None = None, model_id: str | None = None
) -> None:
    """`own` memories of USER among `total`; the n-th vector belongs to the n-th text of the pool."""
    static = load_static_encoder().model_id
    pool = [_make_pool_row(n, fact) for n, fact in enumerate(facts(POOL))]
    for each, vector in zip(pool, vectors or (), strict=False):
        each["vector"] = vector_literal(vector)
    spread = {"total": total, "own": own, "user": USER, "others": OTHERS, "pool": POOL}
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, options=f"-c search_path={SCHEMA},public -c synchronous_commit=off"
    ) as conn:
        for statement in (f"TRUNCATE {LOADED}", *_BARE):
            await conn.execute(statement.encode())
        await conn.execute(_POOL, (Jsonb(pool),))
        await conn.execute(_PLACES, spread)
        await conn.execute(_MEMORIES, {})
        await conn.execute(_CHUNKS, {"version": segment.SEGMENTER_VERSION, "model": model_id, "static": static})
        for statement in (_POSTINGS, _STATS, *_INDEXED, f"VACUUM ANALYZE {LOADED}", "CHECKPOINT"):
            await conn.execute(statement.encode())


def _make_pool_row(n: int, fact: Fact) -> dict[str, object]:
    return {
        "n": n,
        "type": fact.type,
        "language": fact.language,
        "text": fact.text,
        "terms": Counter(segment.terms(fact.text)),
        "meaning": to_bytes(load_static_encoder().encode(fact.text)).hex(),
    }
