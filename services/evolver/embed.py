"""Vectors for chunks that have none yet: a timer, never on the path of a write."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from shared.db import Subject, epoch_of
from shared.errors import TransientError
from shared.models import ModelProvider
from shared.models.errors import ModelUnavailable
from shared.runtime import Runtime
from shared.store import chunks
from shared.telemetry import logger

EVERY_S = 0.5
BATCH = 64
DEADLINE_S = 60.0
ANY_TEXT = "tea"


async def embed_forever(rt: Runtime) -> None:
    """Goes on until cancelled; without an embedding model it ends at once."""
    if rt.models.embedding_model_id is None:
        return
    while True:
        try:
            moved = await embed_some(rt)
        except (TransientError, ModelUnavailable) as error:
            logger().warning("embedding_waits", error=type(error).__name__)
            await asyncio.sleep(10 * EVERY_S)
            continue
        if not moved:
            await asyncio.sleep(EVERY_S)


async def embed_some(rt: Runtime) -> int:
    """How many chunks got their vector."""
    model_id = rt.models.embedding_model_id
    if model_id is None:
        return 0
    async with rt.db.system() as conn:
        if not await chunks.keep_vectors(conn):
            raise TransientError("pgvector is missing")
        waiting = await chunks.unembedded(conn, BATCH)
    return sum([await embed_of(rt, Subject(row["tenant_id"], row["user_id"]), row["chunk_ids"]) for row in waiting])


async def embed_of(rt: Runtime, subject: Subject, chunk_ids: Sequence[UUID]) -> int:
    """How many of these chunks got their vector: none where something of the user was erased meanwhile, since a chunk
    may say less than its text did; what is left of them waits for the next go.
    """
    model_id = rt.models.embedding_model_id
    if model_id is None:
        return 0
    async with rt.db.transaction(subject) as conn:
        texts, epoch = await chunks.texts(conn, subject, chunk_ids), await epoch_of(conn)
    vectors = await _vectors(rt.models, texts)
    async with rt.db.transaction(subject) as conn:
        if await epoch_of(conn) != epoch:
            return 0
        await chunks.embed(conn, subject, model_id, vectors)
    return len(texts)


async def _vectors(models: ModelProvider, texts: Mapping[UUID, str]) -> Mapping[UUID, Sequence[float] | None]:
    """A vector for each text; None for one that the model will never take, so that the others need not wait for it."""
    try:
        return dict(zip(texts, await models.embed(list(texts.values()), deadline_s=DEADLINE_S), strict=True))
    except ModelUnavailable as error:
        if error.reason != "bad_request":
            raise
    await models.embed([ANY_TEXT], deadline_s=DEADLINE_S)  # raises where the model takes none at all
    return {chunk_id: await _vector(models, text) for chunk_id, text in texts.items()}


async def _vector(models: ModelProvider, text: str) -> Sequence[float] | None:
    try:
        (vector,) = await models.embed([text], deadline_s=DEADLINE_S)
    except ModelUnavailable as error:
        if error.reason != "bad_request":
            raise
        logger().warning("text_not_embedded", model=models.embedding_model_id)
        return None
    return vector
