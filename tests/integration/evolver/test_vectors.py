"""Vectors of chunks on a real PostgreSQL: written with the text, replaced by an encoder's, packed,
and deleted in time.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import LiteralString, cast
from uuid import UUID, uuid4

import numpy as np
import pytest

from services.compose.context.scope_indexes import NearnessResult, read_near
from services.evolver.embed import embed_some, fill_some, forget_other_models, pack_some, renew_static
from shared.classifiers.static_encoder import load_static_encoder
from shared.db import Read
from shared.domain import chunk_ids
from shared.domain.search_results import Meant
from shared.domain.subjects import Subject
from shared.models.errors import ModelUnavailable
from shared.models.none import NoModels
from shared.runtime import Runtime
from shared.store import chunks, pages, search
from shared.store.chunks import Chunk, chunk_of
from shared.store.erasure import extent, hide
from shared.store.search import SearchScope
from tests.integration.evolver.memories import LIN, evolver, stand, version
from tests.system.databases import rows

MANY = pages.LARGE + 60
QUESTION = "What did we say about the harbour and the boats?"


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """An evolver on a new database; compose would receive the same settings."""
    async with evolver(dsn) as found:
        yield found


class Letters(NoModels):
    """Replaces an encoder: counts letters."""

    def __init__(self, name: str = "letters") -> None:
        self.embedding_model_id = name
        self.dimension = 26
        self.away = False

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text."""
        del deadline_s
        if self.away:
            raise ModelUnavailable("connection", "away")
        counted = [np.array([text.lower().count(chr(97 + n)) + 0.01 for n in range(26)]) for text in texts]
        return [(each / np.sqrt(each @ each)).tolist() for each in counted]


def message(n: int, text: str) -> Chunk:
    """A message of a long conversation."""
    return Chunk(
        chunk_id=chunk_ids.chunk_of(f"s{n % 7}", 1 + n // 7, 0),
        text=text,
        terms=("x",),
        language="en",
        normalizer_version="1",
        said_at=datetime(2026, 1, 1, tzinfo=UTC),
        turn_id=uuid4(),
        session_id=f"s{n % 7}",
        seq=1 + n // 7,
        role="user",
    )


WORDS = ("harbour", "boat", "tea", "meeting", "knee", "garden", "train", "invoice", "piano", "rain", "pen", "kitchen")


async def talk(rt: Runtime, many: int, subject: Subject = LIN, *, first: int = 0) -> list[UUID]:
    """This many messages about various topics."""
    said = [
        message(n, f"The {WORDS[n % 12]} and the {WORDS[n * 5 % 11]} number {n}") for n in range(first, first + many)
    ]
    async with rt.db.transaction(subject) as conn:
        await chunks.put(conn, subject, said)
    return [each.chunk_id for each in said]


async def long_ago(dsn: str) -> None:
    """Makes all rows one hour old."""
    rows(dsn, "UPDATE memory_chunks SET created_at = now() - interval '1 hour' RETURNING 1")


async def compare_all(rt: Runtime, subject: Subject = LIN, within: SearchScope | None = None) -> NearnessResult:
    """How near everything is to the question."""
    return await read_near(rt, subject, lambda _: {0: QUESTION}, within or SearchScope())


def to_scores(near: NearnessResult) -> dict[UUID, float]:
    """The lifts by chunk."""
    lifts = near.lifts[0]
    return {
        UUID(bytes=bytes(each)): lift for each, lift in zip(lifts.ids.view("V16").tolist(), lifts.lift, strict=True)
    }


def list_page_models(dsn: str, user: str = "lin") -> list[str]:
    """The models in the user's pages."""
    found = rows(dsn, "SELECT DISTINCT model_id FROM vector_pages WHERE user_id = %(u)s", u=user)
    return sorted(row["model_id"] for row in found)


async def test_a_new_chunk_has_its_static_vector(rt: Runtime, dsn: str) -> None:
    sentence = "I keep a small boat in the harbour"
    async with rt.db.transaction(LIN) as conn:
        await chunks.put(conn, LIN, [message(0, sentence), message(1, "Nobody answered the telephone")])
    await stand(rt, version(sentence))
    found = rows(dsn, "SELECT static_model_id AS model, length(static_vector) AS size FROM memory_chunks")
    encoder = load_static_encoder()
    assert [(row["model"], row["size"]) for row in found] == [(encoder.model_id, encoder.dimension)] * 3
    lifts = to_scores(await compare_all(rt))
    said, other, remembered = (
        lifts[chunk] for chunk in sorted(lifts, key=lambda each: (each.int >> 127, -lifts[each]))
    )
    assert remembered == said > other, "its sentence counts, not what stands before it"


async def test_pages_contain_all_old_vectors_unchanged(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    assert await pack_some(rt) == 1, "the user is large"
    assert list_page_models(dsn) == [load_static_encoder().model_id]
    assert rows(dsn, "SELECT sum(length(ids)) / 16 AS n FROM vector_pages")[0]["n"] == 0, "all of it is new"
    exact = to_scores(await compare_all(rt))
    assert len(exact) == MANY
    await long_ago(dsn)
    assert await pack_some(rt) == 1
    assert rows(dsn, "SELECT sum(length(ids)) / 16 AS n FROM vector_pages")[0]["n"] == MANY
    newer = await talk(rt, 5, first=MANY)
    packed = to_scores(await compare_all(rt))
    assert packed.keys() == exact.keys() | set(newer)
    assert [packed[chunk] for chunk in exact] == pytest.approx([*exact.values()], abs=0.1)
    best = sorted(exact, key=lambda chunk: -exact[chunk])
    assert set(best[:10]) <= set(sorted(packed, key=lambda chunk: -packed[chunk])[:30])
    assert await pack_some(rt) == 0, "five more are no reason to pack"
    held = rt.pages.find(LIN, load_static_encoder().model_id)
    assert held is not None
    again = to_scores(await compare_all(rt))
    assert again == packed
    assert rt.pages.find(LIN, load_static_encoder().model_id) is held, "what is known is not read again"
    await talk(rt, pages.TAIL, first=MANY + 5)
    await long_ago(dsn)
    assert await pack_some(rt) == 1
    assert len(to_scores(await compare_all(rt))) == MANY + 5 + pages.TAIL
    assert rt.pages.find(LIN, load_static_encoder().model_id) is not held


async def test_cached_pages_are_not_fetched_again(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    await long_ago(dsn)
    await pack_some(rt)
    static_id = load_static_encoder().model_id
    (first,) = await rt.db.read(LIN, search.load_near(LIN, static_id, {}, SearchScope(), set_id=static_id))
    assert first.pages
    known = search.load_near(LIN, static_id, {}, SearchScope(), set_id=static_id, held_version=first.pages.version)
    (again,) = await rt.db.read(LIN, known)
    assert again.pages == replace(first.pages, of=())
    whole = search.load_near(LIN, static_id, {}, SearchScope(), set_id=static_id)
    assert await buffers(rt, known) < await buffers(rt, whole) / 3, "not even the database reads what is in them"


async def buffers(rt: Runtime, read: Read[Meant]) -> int:
    """The number of blocks that the database reads for it."""
    explained = cast("LiteralString", "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + read.statement)
    async with rt.db.transaction(LIN) as conn:
        row = await (await conn.execute(explained, read.params)).fetchone()
    assert row
    plan = row["QUERY PLAN"][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


async def test_limits_apply_to_users_with_pages(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    await long_ago(dsn)
    await pack_some(rt)
    rows(dsn, "UPDATE memory_chunks SET said_at = '2026-05-01' WHERE seq = 3 RETURNING 1")
    inside = to_scores(await compare_all(rt, within=SearchScope(since=datetime(2026, 4, 1, tzinfo=UTC))))
    assert len(inside) == 7


async def test_pages_of_others_are_not_read(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    await long_ago(dsn)
    await pack_some(rt)
    assert to_scores(await compare_all(rt, Subject("t", "marta"))) == {}
    assert to_scores(await compare_all(rt, Subject("other", "lin"))) == {}


async def test_hidden_data_is_in_no_page_and_new_pages_omit_it(rt: Runtime, dsn: str) -> None:
    said = await talk(rt, MANY)
    await long_ago(dsn)
    await pack_some(rt)
    await compare_all(rt)
    turn = rows(dsn, "SELECT turn_id FROM memory_chunks WHERE chunk_id = %(c)s", c=said[0])[0]["turn_id"]
    async with rt.db.as_erasure(LIN) as conn:
        covered = extent.ErasureExtent("session", ("s0",), (turn,))
        hidden = await hide.hide_rows(conn, LIN, uuid4(), covered)
    assert hidden.rows["vector_pages"] == 1
    assert list_page_models(dsn) == []
    assert said[0] not in to_scores(await compare_all(rt))
    await pack_some(rt)
    assert list_page_models(dsn) == [load_static_encoder().model_id]
    assert said[0] not in to_scores(await compare_all(rt))
    assert len(to_scores(await compare_all(rt))) == MANY - 1


async def test_a_memory_that_is_visible_again_is_found_by_meaning_again(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    memory = version("I keep a small boat in the harbour")
    await stand(rt, memory)
    async with rt.db.transaction(LIN) as conn:
        await chunks.hide(conn, LIN, [memory.memory_id])
    await long_ago(dsn)
    await pack_some(rt)
    mine = chunk_ids.chunk_of_memory(memory.memory_id)
    assert mine not in to_scores(await compare_all(rt))
    async with rt.db.transaction(LIN) as conn:
        await chunks.show(conn, LIN, [chunk_of(memory)])
    assert mine in to_scores(await compare_all(rt))


async def test_an_encoder_replaces_static_vectors_chunk_by_chunk(rt: Runtime, dsn: str) -> None:
    said = await talk(rt, MANY)
    static = to_scores(await compare_all(rt))
    with_encoder = replace(rt, models=Letters())
    assert to_scores(await compare_all(with_encoder)) == static, "before any has the encoder's vector, all are compared"
    assert await embed_some(with_encoder) == 64
    half = to_scores(await compare_all(with_encoder))
    assert half.keys() == static.keys()
    changed = {chunk for chunk in said if half[chunk] != static[chunk]}
    assert len(changed) == 64
    while await embed_some(with_encoder):
        pass
    whole = to_scores(await compare_all(with_encoder))
    assert all(whole[chunk] == half[chunk] for chunk in changed)
    assert whole.keys() == static.keys()
    await long_ago(dsn)
    assert await pack_some(with_encoder) == 2, "of static vectors, and of the encoder's"
    assert list_page_models(dsn) == sorted(["letters", load_static_encoder().model_id])
    packed = to_scores(await compare_all(with_encoder))
    assert np.corrcoef([packed[chunk] for chunk in whole], [*whole.values()])[0, 1] > 0.97
    with_encoder.models.away = True  # pyright: ignore[reportAttributeAccessIssue] # it is a Letters
    late = await compare_all(with_encoder)
    assert late.missing == "embedding_unavailable"
    assert [to_scores(late)[chunk] for chunk in static] == pytest.approx([*static.values()], abs=0.1)


async def test_a_text_without_an_encoder_vector_keeps_its_static_one_in_pages_too(rt: Runtime, dsn: str) -> None:
    said = await talk(rt, MANY)
    static = to_scores(await compare_all(rt))
    rows(dsn, "UPDATE memory_chunks SET embedding_model_id = 'letters' WHERE chunk_id = %(c)s RETURNING 1", c=said[3])
    with_encoder = replace(rt, models=Letters())
    while await embed_some(with_encoder):
        pass
    await long_ago(dsn)
    await pack_some(with_encoder)
    found = rows(dsn, "SELECT model_id, length(ids) / 16 AS n FROM vector_pages WHERE set_id = 'letters'")
    assert {row["model_id"]: row["n"] for row in found} == {"letters": MANY - 1, load_static_encoder().model_id: 1}
    assert to_scores(await compare_all(with_encoder))[said[3]] == pytest.approx(static[said[3]], abs=0.1)


async def test_chunks_of_another_encoder_are_found_while_they_wait_for_the_new_one(rt: Runtime, dsn: str) -> None:
    await talk(rt, MANY)
    static = to_scores(await compare_all(rt))
    old, new = replace(rt, models=Letters()), replace(rt, models=Letters("other letters"))
    while await embed_some(old):
        pass
    await long_ago(dsn)
    await pack_some(old)
    assert await forget_other_models(old) == 0
    assert await forget_other_models(new) == MANY
    assert list_page_models(dsn) == []
    assert to_scores(await compare_all(new)) == static
    assert await embed_some(new) == 64
    assert await forget_other_models(new) == 0


async def test_chunks_without_static_vectors_get_one(rt: Runtime, dsn: str) -> None:
    await talk(rt, 40)
    await stand(rt, version("I keep a small boat in the harbour"))
    before = to_scores(await compare_all(rt))
    rows(dsn, "UPDATE memory_chunks SET static_vector = NULL, static_model_id = NULL RETURNING 1")
    assert to_scores(await compare_all(rt)) == {}
    assert await fill_some(rt) == 41
    assert await fill_some(rt) == 0
    assert to_scores(await compare_all(rt)) == before


async def test_chunks_with_static_vectors_of_another_version_get_the_current_ones(rt: Runtime, dsn: str) -> None:
    await talk(rt, 40)
    before = to_scores(await compare_all(rt))
    rows(dsn, "UPDATE memory_chunks SET static_model_id = 'of before' WHERE seq < 3 RETURNING 1")
    await long_ago(dsn)
    assert 0 < len(to_scores(await compare_all(rt))) < 40
    assert await renew_static(rt) == 14
    assert to_scores(await compare_all(rt)) == before


async def test_chunks_that_wait_for_a_vector_stay_outside_the_pages(rt: Runtime, dsn: str) -> None:
    said = await talk(rt, MANY)
    await long_ago(dsn)
    waiting = "UPDATE memory_chunks SET static_vector = NULL, static_model_id = NULL, created_at = created_at - %(t)s"
    rows(dsn, waiting + "::interval WHERE chunk_id = %(c)s RETURNING 1", c=said[5], t="1 second")
    await pack_some(rt)
    await fill_some(rt)
    assert len(to_scores(await compare_all(rt))) == MANY
