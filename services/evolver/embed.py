"""Vectors for chunks without one, and pages of large users' vectors: timers, never on the path of a write."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

import numpy as np

from shared.classifiers.static_encoder import load_static_encoder
from shared.db import epoch_of
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.models.errors import ModelUnavailable
from shared.models.provider import ModelProvider, StoredVector
from shared.runtime import Runtime
from shared.store import chunks, memory, pages
from shared.store.pages import Gathered, Packable, Page
from shared.telemetry import logger
from shared.vectors import code_size, from_bytes, to_codes, to_units

EVERY_S = 0.5
BATCH = 64
FILL_EVERY_S = 5.0
FILLED_AT_ONCE = 500
PACK_EVERY_S = 30.0
PACKED_AT_ONCE = 20
DEADLINE_S = 60.0
ANY_TEXT = "tea"


async def embed_forever(rt: Runtime) -> None:
    """Runs until cancelled; without an encoder it ends at once."""
    if rt.models.embedding_model_id is None:
        return
    replaced = False
    while True:
        try:
            if not replaced:
                await forget_other_models(rt)
                replaced = True
            moved = await embed_some(rt)
        except (TransientError, ModelUnavailable) as error:
            logger().warning("embedding_waits", error=type(error).__name__)
            await asyncio.sleep(10 * EVERY_S)
            continue
        if not moved:
            await asyncio.sleep(EVERY_S)


async def forget_other_models(rt: Runtime) -> int:
    """Marks chunks with vectors of an encoder that is no longer configured; their number.

    Until they have a new vector they are compared by their static ones.
    """
    ids = rt.models.embedding_model_ids
    async with rt.db.system() as conn:
        if not await chunks.keep_vectors(conn):
            raise TransientError("pgvector is missing")
        whose = await chunks.embedded_otherwise(conn, ids)
    count = 0
    for subject in whose:
        async with rt.db.transaction(subject) as conn:
            await memory.lock(conn, subject)
            count += await chunks.drop_vectors(conn, subject, ids)
            await pages.drop(conn, subject)
    if count:
        logger().info("embedded_anew", chunks=count, model=rt.models.embedding_model_id)
    return count


async def embed_some(rt: Runtime) -> int:
    """Embeds waiting chunks; their number."""
    if rt.models.embedding_model_id is None:
        return 0
    async with rt.db.system() as conn:
        if not await chunks.keep_vectors(conn):
            raise TransientError("pgvector is missing")
        waiting = await chunks.load_unembedded(conn, BATCH)
    return sum([await embed_of(rt, Subject(row["tenant_id"], row["user_id"]), row["chunk_ids"]) for row in waiting])


async def embed_of(rt: Runtime, subject: Subject, chunk_ids: Sequence[UUID]) -> int:
    """Embeds these chunks; their number. Zero if something of the user was erased in the meantime, because a chunk may
    have lost text; the remaining ones wait for the next round.
    """
    if rt.models.embedding_model_id is None:
        return 0
    async with rt.db.transaction(subject) as conn:
        texts, epoch = await chunks.texts(conn, subject, chunk_ids), await epoch_of(conn)
    vectors = await _vectors(rt.models, texts)
    async with rt.db.transaction(subject) as conn:
        if await epoch_of(conn) != epoch:
            return 0
        await chunks.embed(conn, subject, vectors)
    return len(texts)


async def _vectors(models: ModelProvider, texts: Mapping[UUID, str]) -> Mapping[UUID, StoredVector]:
    """A vector for each text; None for one that the model never accepts, so that it delays no other."""
    try:
        return dict(zip(texts, await models.embed_kept(list(texts.values()), deadline_s=DEADLINE_S), strict=True))
    except ModelUnavailable as error:
        if error.reason != "bad_request":
            raise
    await models.embed([ANY_TEXT], deadline_s=DEADLINE_S)  # raises if the model accepts none at all
    return {chunk_id: await _vector(models, text) for chunk_id, text in texts.items()}


async def _vector(models: ModelProvider, text: str) -> StoredVector:
    try:
        (vector,) = await models.embed_kept([text], deadline_s=DEADLINE_S)
    except ModelUnavailable as error:
        if error.reason != "bad_request":
            raise
        logger().warning("text_not_embedded", model=models.embedding_model_id)
        return StoredVector(str(models.embedding_model_id), None)
    return vector


async def fill_forever(rt: Runtime) -> None:
    """Embeds chunks without a current static vector (older ones, or changed by an erasure); runs until cancelled."""
    renewed = False
    while True:
        moved = 0
        try:
            if not renewed:
                await renew_static(rt)
                renewed = True
            moved = await fill_some(rt)
        except TransientError as error:
            logger().warning("static_vectors_wait", error=type(error).__name__)
        if moved < FILLED_AT_ONCE:
            await asyncio.sleep(FILL_EVERY_S)


async def renew_static(rt: Runtime) -> int:
    """Replaces static vectors of another version; their number."""
    async with rt.db.system() as conn:
        found = await chunks.static_otherwise(conn)
    count = 0
    for row in found:
        subject, ids = Subject(row["tenant_id"], row["user_id"]), row["chunk_ids"]
        for start in range(0, len(ids), FILLED_AT_ONCE):
            count += await _fill(rt, subject, ids[start : start + FILLED_AT_ONCE])
    return count


async def fill_some(rt: Runtime) -> int:
    """Adds missing static vectors; their number."""
    async with rt.db.system() as conn:
        waiting = await chunks.without_static(conn, FILLED_AT_ONCE)
    return sum([await _fill(rt, Subject(row["tenant_id"], row["user_id"]), row["chunk_ids"]) for row in waiting])


async def _fill(rt: Runtime, subject: Subject, chunk_ids: Sequence[UUID]) -> int:
    async with rt.db.transaction(subject) as conn:
        return await chunks.fill_static(conn, subject, chunk_ids)


async def pack_forever(rt: Runtime) -> None:
    """Keeps the vectors of users with many chunks in pages; runs until cancelled."""
    while True:
        try:
            await pack_some(rt)
        except TransientError as error:
            logger().warning("packing_waits", error=type(error).__name__)
        await asyncio.sleep(PACK_EVERY_S)


async def pack_some(rt: Runtime) -> int:
    """Builds pages for users who need them, of static vectors and of an encoder's if configured;
    the number of users.
    """
    static_id = load_static_encoder().model_id
    sets: dict[str, tuple[str, ...]] = {static_id: ()}
    if rt.models.embedding_model_id is not None:
        sets[rt.models.embedding_model_id] = tuple(sorted(rt.models.embedding_model_ids))
    packed = 0
    for set_id, models in sets.items():
        async with rt.db.system() as conn:
            if models and not await chunks.keep_vectors(conn):
                continue
            whose = await pages.load_due(conn, set_id, PACKED_AT_ONCE)
        for subject in whose:
            await pack_of(rt, subject, set_id, models)
            packed += 1
    return packed


async def pack_of(rt: Runtime, subject: Subject, set_id: str, models: Sequence[str]) -> int:
    """Replaces the pages of this set of the user; their number."""
    encoder = load_static_encoder()
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        gathered = await pages.gather(conn, subject, encoder.model_id, models)
        make = partial(pack_all, gathered, encoder.model_id, encoder.dimension)
        made = await asyncio.to_thread(make)
        await pages.put(conn, subject, set_id, gathered, made)
    return len(made)


PAGE = 4096
ID_BYTES = 16


def pack_all(gathered: Gathered, static_id: str, static_dimension: int) -> list[Page]:
    """The pages of all models; an empty one without vectors records the time until which there were none."""
    made = [page for of in gathered.of for page in _pack(of, static_id, static_dimension)]
    return made or [Page(static_id, 0, b"", b"")]


def _pack(of: Packable, static_id: str, static_dimension: int) -> Sequence[Page]:
    count = len(of.ids) // ID_BYTES
    if of.model_id is None:
        units = to_units(from_bytes(of.vectors, static_dimension))
    else:
        units = to_units(np.frombuffer(of.vectors, dtype=">f2").astype(np.float16).reshape(count, -1))
    size = code_size(units.shape[1])
    codes = to_codes(units)
    return [
        Page(
            of.model_id or static_id,
            n,
            of.ids[start * ID_BYTES : (start + PAGE) * ID_BYTES],
            codes[start * size : (start + PAGE) * size],
        )
        for n, start in enumerate(range(0, count, PAGE))
    ]
