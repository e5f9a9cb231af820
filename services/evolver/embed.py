"""Vectors for chunks that have none yet: a timer, never on the path of a write."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from shared.db import Subject, epoch_of
from shared.errors import TransientError
from shared.models.errors import ModelUnavailable
from shared.runtime import Runtime
from shared.store import chunks
from shared.telemetry import logger

EVERY_S = 0.5
BATCH = 64
DEADLINE_S = 60.0


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
    vectors = await rt.models.embed(list(texts.values()), deadline_s=DEADLINE_S)
    async with rt.db.transaction(subject) as conn:
        if await epoch_of(conn) != epoch:
            return 0
        await chunks.embed(conn, subject, model_id, dict(zip(texts, vectors, strict=True)))
    return len(texts)
