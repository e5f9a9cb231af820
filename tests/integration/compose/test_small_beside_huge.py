"""Search of a small user is exact beside a huge one of the same tenant: what is near is found, all of it."""

from collections.abc import AsyncGenerator

import pytest

from services.compose.rules.nearby import DEFAULT_CONTEXT, VectorIndex, WordIndex
from shared.db import Database, Subject
from shared.store import search
from shared.store.search import Within
from tests.system.databases import rows

WHO = Subject("default", "small")
HUGE, SMALL, DIMENSION, NEAREST = 20_000, 200, 16, 20
_CHUNKS = """
INSERT INTO memory_chunks (tenant_id, user_id, chunk_id, memory_id, text, term_count, language, normalizer_version,
    said_at, embedding, embedding_model_id)
SELECT 'default', %(user)s, uuidv7(), uuidv7(), 'green tea ' || i, 3, 'en', '2', now(),
    (SELECT array_agg(random() - 0.5) FROM generate_series(1, %(dimension)s) AS d
        WHERE i > 0)::real[]::public.vector::public.halfvec, 'm'
FROM generate_series(1, %(many)s) AS i RETURNING 1
"""
_ITEMS = """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash, language,
    status, confidence, provenance_class, assertion, epistemic_type, valid_at, last_validated_at)
SELECT tenant_id, user_id, memory_id, memory_id, 1, 'note', text, md5(chunk_id::text), 'en', 'active', 0.6,
    'observation', 'declared', 'fact', now(), now() FROM memory_chunks RETURNING 1
"""
_POSTINGS = """
INSERT INTO postings SELECT c.tenant_id, c.user_id, t.term, c.chunk_id, 1, 3
FROM memory_chunks c CROSS JOIN unnest(string_to_array(c.text, ' ')) AS t(term) RETURNING 1
"""
_STATS = """
INSERT INTO search_stats SELECT tenant_id, user_id, count(*), 3 * count(*) FROM memory_chunks GROUP BY 1, 2 RETURNING 1
"""
_EXACT = """
SELECT memory_id FROM memory_chunks WHERE user_id = 'small'
ORDER BY embedding OPERATOR(public.<=>) %(vector)s::public.halfvec LIMIT %(many)s
"""


@pytest.fixture
async def db(dsn: str) -> AsyncGenerator[Database]:
    """A small user beside a huge one."""
    for user, many in (("huge", HUGE), ("small", SMALL)):
        rows(dsn, _CHUNKS, user=user, many=many, dimension=DIMENSION)
    for statement in (_ITEMS, _POSTINGS, _STATS):
        rows(dsn, statement)
    rows(dsn, "ANALYZE memory_chunks, memory_items, postings, search_stats")
    found = Database(dsn, size=2)
    await found.open()
    yield found
    await found.close()


@pytest.mark.parametrize("turn", range(5))
async def test_the_nearest_by_meaning_are_all_found(db: Database, dsn: str, turn: int) -> None:
    vector = [(n * (turn + 1) * 37 % 11) - 5.0 for n in range(DIMENSION)]
    near = (
        await db.read(Subject("default", "small"), search.near(Subject("default", "small"), vector, "m", Within()))
    )[0]
    assert near
    found, _ = VectorIndex(*near, DEFAULT_CONTEXT).best(NEAREST)
    hits = await _read(db, [f"{a:016x}{b:016x}" for a, b in found.tolist()])
    literal = "[" + ",".join(map(str, vector)) + "]"
    exact = {row["memory_id"] for row in rows(dsn, _EXACT, vector=literal, many=NEAREST)}
    assert {hit.memory_id for hit in hits} == exact


async def test_a_rare_word_is_found_though_a_neighbour_has_it_too(db: Database) -> None:
    (words,) = await db.read(WHO, search.words(WHO, ["tea", "77"], DEFAULT_CONTEXT.common))
    assert (words.chunks, words.terms) == (SMALL, 3 * SMALL)
    posted = {term: (each.ids, each.counts) for term, each in words.posted.items()}
    memories, _ = WordIndex(posted, words.chunks, words.terms, DEFAULT_CONTEXT).best(["tea", "77"])
    hits = await _read(db, [f"{a:016x}{b:016x}" for a, b in memories[:1].tolist()])
    assert [hit.text for hit in hits] == ["green tea 77"]


async def test_of_a_word_that_a_huge_user_says_all_the_time_the_latest_are_read(db: Database) -> None:
    huge = Subject("default", "huge")
    (words,) = await db.read(huge, search.words(huge, ["tea"], DEFAULT_CONTEXT.common))
    memories, _ = WordIndex(
        {"tea": (words.posted["tea"].ids, words.posted["tea"].counts)}, words.chunks, words.terms, DEFAULT_CONTEXT
    ).best(["tea"])
    hits = await _read(db, [f"{a:016x}{b:016x}" for a, b in memories.tolist()], huge)
    assert len(hits) == DEFAULT_CONTEXT.memories
    assert min(int(hit.text.split()[-1]) for hit in hits) > HUGE - DEFAULT_CONTEXT.common


async def _read(db: Database, ids: list[str], subject: Subject = WHO) -> list[search.Hit]:
    return (await db.read(subject, search.at(subject, ids, [], 100, Within())))[0]
