"""Search of a small user is exact among huge ones: the same results in the same order as alone."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import pytest

from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT, LexicalIndex
from services.compose.rules.searching.nearness import VectorIndex, to_lifts
from shared.db import Database
from shared.domain.search_results import Hit
from shared.domain.subjects import Subject
from shared.store import search
from shared.store.search import SearchScope
from shared.vectors import Scale
from tests.system.databases import Databases, rows

WHO, HUGE = Subject("default", "small"), Subject("default", "huge")
NAMESAKE = Subject("enormous", "small")
"""The same user name in a huge tenant."""
MANY, FEW, DIMENSION, NEAREST = 12_000, 200, 16, 20
VECTORS = [[(n * (turn + 1) * 37 % 11) - 5.0 for n in range(DIMENSION)] for turn in range(5)]
QUESTIONS = (
    ["tea"],
    ["tea", "77"],
    ["green", "tea", "like"],
    ["black", "nowhere"],
    ["茶"],
    ["绿茶", "喜欢"],
    ["茶", "红茶", "78"],
    ["tea", "绿茶"],
)
_CHUNKS = """
INSERT INTO memory_chunks (tenant_id, user_id, chunk_id, memory_id, text, term_count, language, normalizer_version,
    said_at, embedding, embedding_model_id)
SELECT %(tenant)s, %(user)s, uuidv7(), uuidv7(), t.text, cardinality(string_to_array(t.text, ' ')),
    CASE i %% 2 WHEN 0 THEN 'zh' ELSE 'en' END, '2', now(),
    (SELECT array_agg(random() - 0.5) FROM generate_series(1, %(dimension)s) AS d
        WHERE i > 0)::real[]::public.vector::public.halfvec, 'm'
FROM generate_series(1, %(many)s) AS i CROSS JOIN LATERAL (SELECT CASE i %% 2
    WHEN 0 THEN repeat('茶 ', 1 + i %% 3) || (ARRAY['绿茶', '红茶', '喜欢'])[1 + i %% 3] || ' ' || i
    ELSE repeat('tea ', 1 + i %% 3) || (ARRAY['green', 'black', 'like'])[1 + i %% 3] || ' ' || i END AS text) AS t
RETURNING 1
"""
_ITEMS = """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash, language,
    status, confidence, provenance_class, assertion, epistemic_type, valid_at, last_validated_at)
SELECT tenant_id, user_id, memory_id, memory_id, 1, 'note', text, md5(chunk_id::text), language, 'active', 0.6,
    'observation', 'declared', 'fact', now(), now() FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s RETURNING 1
"""
_POSTINGS = """
INSERT INTO postings SELECT c.tenant_id, c.user_id, t.term, c.chunk_id, count(*), c.term_count
FROM memory_chunks c CROSS JOIN unnest(string_to_array(c.text, ' ')) AS t(term)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s GROUP BY 1, 2, 3, 4, 6 RETURNING 1
"""
_STATS = """
INSERT INTO search_stats SELECT tenant_id, user_id, count(*), sum(term_count) FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s GROUP BY 1, 2 RETURNING 1
"""
_EXACT = """
SELECT memory_id FROM memory_chunks WHERE user_id = 'small' AND tenant_id = 'default'
ORDER BY embedding OPERATOR(public.<=>) %(vector)s::public.halfvec LIMIT %(many)s
"""


@dataclass(frozen=True)
class World:
    """The database with all users, and the small user's results before the others existed."""

    dsn: str
    db: Database
    alone: list[list[str]]


def _load(dsn: str, who: Subject, many: int) -> None:
    whose = {"tenant": who.tenant_id, "user": who.user_id}
    rows(dsn, _CHUNKS, **whose, many=many, dimension=DIMENSION)
    for statement in (_ITEMS, _POSTINGS, _STATS):
        rows(dsn, statement, **whose)
    rows(dsn, "ANALYZE memory_chunks, memory_items, postings, search_stats")


@pytest.fixture(scope="module")
async def world(databases: Databases) -> AsyncGenerator[World]:
    """A small user, first alone, then with a huge user and a huge tenant."""
    dsn = databases.fresh()
    db = Database(dsn, size=2)
    await db.open()
    _load(dsn, WHO, FEW)
    alone = await list_results(db)
    for who in (HUGE, NAMESAKE):
        _load(dsn, who, MANY)
    yield World(dsn, db, alone)
    await db.close()


async def list_results(db: Database) -> list[list[str]]:
    """The small user's results for each vector and each question, in order."""
    by_meaning = [await find_nearest(db, vector) for vector in VECTORS]
    return [*by_meaning, *[await find_by_terms(db, WHO, question) for question in QUESTIONS]]


async def find_nearest(db: Database, vector: Sequence[float]) -> list[str]:
    """The nearest memories, in order."""
    (found,) = await db.read(WHO, search.load_near(WHO, "none", {"m": vector}, SearchScope(), set_id="m"))
    lifts = to_lifts(found.newer, {}, {"m": Scale(-1.0, 1.0)})
    assert len(lifts.ids) == FEW
    return _ids(VectorIndex(lifts, DEFAULT_CONTEXT).list_best(NEAREST)[0].tolist())


async def find_by_terms(db: Database, who: Subject, terms: Sequence[str]) -> list[str]:
    """The memories with the most terms, in order."""
    (words,) = await db.read(who, search.words(who, terms, DEFAULT_CONTEXT.common))
    posted = {term: (each.ids, each.counts) for term, each in words.posted.items()}
    return _ids(LexicalIndex(posted, words.chunks, words.terms, DEFAULT_CONTEXT).list_best(terms)[0].tolist())


def _ids(found: list[list[int]]) -> list[str]:
    return [f"{first:016x}{last:016x}" for first, last in found]


async def test_a_small_user_finds_the_same_in_the_same_order_as_alone(world: World) -> None:
    beside = await list_results(world.db)
    assert beside == world.alone
    assert all(len(found) == NEAREST for found in beside[: len(VECTORS)])
    assert all(beside)


@pytest.mark.parametrize("vector", VECTORS)
async def test_all_nearest_neighbours_are_found(world: World, vector: list[float]) -> None:
    hits = await _read(world.db, await find_nearest(world.db, vector))
    literal = "[" + ",".join(map(str, vector)) + "]"
    exact = {row["memory_id"] for row in rows(world.dsn, _EXACT, vector=literal, many=NEAREST)}
    assert {hit.memory_id for hit in hits} == exact


@pytest.mark.parametrize(("terms", "text"), [(["tea", "77"], "tea tea tea like 77"), (["茶", "78"], "茶 绿茶 78")])
async def test_a_rare_word_is_found_although_another_user_has_it_too(world: World, terms: list[str], text: str) -> None:
    (words,) = await world.db.read(WHO, search.words(WHO, terms, DEFAULT_CONTEXT.common))
    assert words.chunks == FEW
    hits = await _read(world.db, (await find_by_terms(world.db, WHO, terms))[:1])
    assert [hit.text for hit in hits] == [text]


@pytest.mark.parametrize("term", ["tea", "茶"])
async def test_the_latest_uses_of_a_very_frequent_word_are_read(world: World, term: str) -> None:
    hits = await _read(world.db, await find_by_terms(world.db, HUGE, [term]), HUGE)
    assert len(hits) == DEFAULT_CONTEXT.memories
    assert min(int(hit.text.split()[-1]) for hit in hits) > MANY - 2 * DEFAULT_CONTEXT.common


async def _read(db: Database, ids: list[str], subject: Subject = WHO) -> list[Hit]:
    return (await db.read(subject, search.at(subject, ids, [], 100, SearchScope())))[0]
