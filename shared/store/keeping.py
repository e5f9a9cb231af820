"""memory_items as upkeep reads and changes them: statistics and states, no text. Written only by evolver."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.decay import MemoryStats
from shared.domain.subjects import Subject

_COLUMNS: LiteralString = """
SELECT memory_id, root_id, version, type, key, status, confidence::float8 AS confidence, provenance_class,
    epistemic_type, epistemic_prev, flags, pinned, superseded_by, valid_at, invalid_at, valid_until, last_validated_at,
    created_at, injection_count, positive_count, correction_count, miss_count, calibrated, fused_at,
    fused_from::float8 AS fused_from, silenced_at
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active'
"""
_ACTIVE: LiteralString = _COLUMNS + " ORDER BY valid_at, memory_id"
_THESE: LiteralString = _COLUMNS + " AND memory_id = ANY(%(ids)s) ORDER BY valid_at, memory_id"


async def active(conn: Connection, subject: Subject, ids: Collection[UUID] | None = None) -> list[MemoryStats]:
    """The active memories of the user, or those of these ids, oldest validity first."""
    if ids is None:
        return to_stats(await (await conn.execute(_ACTIVE, subject.params)).fetchall())
    params = {**subject.params, "ids": list(ids)}
    return to_stats(await (await conn.execute(_THESE, params)).fetchall()) if ids else []


def to_stats(rows: Iterable[Mapping[str, Any]]) -> list[MemoryStats]:
    kept: list[dict[str, Any]] = [{**row, "flags": tuple(row["flags"])} for row in rows]
    return [MemoryStats(**row) for row in kept]


_SAVE: LiteralString = """
UPDATE memory_items m SET status = d.status, confidence = d.confidence, epistemic_type = d.epistemic_type,
    epistemic_prev = d.epistemic_prev, pinned = d.pinned, superseded_by = d.superseded_by, invalid_at = d.invalid_at,
    last_validated_at = d.last_validated_at, injection_count = d.injection_count, positive_count = d.positive_count,
    correction_count = d.correction_count, miss_count = d.miss_count, calibrated = d.calibrated,
    fused_at = d.fused_at, fused_from = d.fused_from, silenced_at = d.silenced_at, updated_at = now()
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(memory_id uuid, status text, confidence real, epistemic_type text,
    epistemic_prev text, pinned boolean, superseded_by uuid, invalid_at timestamptz, last_validated_at timestamptz,
    injection_count integer, positive_count integer, correction_count integer, miss_count integer, calibrated jsonb,
    fused_at timestamptz, fused_from real, silenced_at timestamptz)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = d.memory_id AND m.status = 'active'
"""


async def save(conn: Connection, subject: Subject, changed: Sequence[MemoryStats]) -> None:
    """Updates statistics and states of these memories, active until now; the caller holds the lock."""
    if changed:
        rows = orjson.dumps(list(changed)).decode()
        await conn.execute(_SAVE, {**subject.params, "rows": rows})


_LATEST: LiteralString = """
SELECT max(version) AS version FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND root_id = %(root)s
"""


async def latest_version(conn: Connection, subject: Subject, root_id: UUID) -> int:
    """The highest version number of this root; 0 if there is none."""
    row = await (await conn.execute(_LATEST, {**subject.params, "root": root_id})).fetchone()
    return int(row["version"] or 0) if row else 0


_TAKEN: LiteralString = """
SELECT FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND root_id = %(root)s AND version = %(version)s
"""


async def find_free_version(conn: Connection, subject: Subject, root_id: UUID, wanted: int) -> int:
    """The requested version number of this root or, if it is taken, the next free one."""
    taken = (await conn.execute(_TAKEN, {**subject.params, "root": root_id, "version": wanted})).rowcount
    return await latest_version(conn, subject, root_id) + 1 if taken else wanted


_EMBEDDED: LiteralString = """
SELECT memory_id, embedding_model_id AS model FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND active
    AND embedding_model_id IS NOT NULL AND embedding IS NOT NULL
"""
_NEAR: LiteralString = """
WITH mine AS MATERIALIZED (
    SELECT memory_id, embedding_model_id, embedding FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND active
        AND embedding_model_id IS NOT NULL AND embedding IS NOT NULL
)
SELECT a.memory_id AS one, b.memory_id AS other
FROM mine a JOIN mine b ON b.embedding_model_id = a.embedding_model_id AND a.memory_id < b.memory_id
WHERE 1 - (a.embedding OPERATOR(public.<=>) b.embedding) > %(least)s
"""


async def load_embedded_by(conn: Connection, subject: Subject, ids: Collection[UUID]) -> dict[UUID, str]:
    """The model of each of these memories' vectors."""
    found = await conn.execute(_EMBEDDED, {**subject.params, "ids": list(ids)})
    return {row["memory_id"]: row["model"] for row in await found.fetchall()}


async def find_near(
    conn: Connection, subject: Subject, ids: Collection[UUID], least: float
) -> frozenset[frozenset[UUID]]:
    """The pairs of these memories whose vectors, of one model, have a higher cosine than this."""
    found = await conn.execute(_NEAR, {**subject.params, "ids": list(ids), "least": least})
    return frozenset(frozenset((row["one"], row["other"])) for row in await found.fetchall())


_PIN: LiteralString = """
UPDATE memory_items SET pinned = %(pinned)s, updated_at = now(),
    epistemic_type = CASE WHEN %(pinned)s THEN coalesce(epistemic_prev, epistemic_type) ELSE epistemic_type END,
    epistemic_prev = CASE WHEN %(pinned)s THEN NULL ELSE epistemic_prev END,
    confidence = CASE WHEN %(pinned)s THEN coalesce(fused_from, confidence) ELSE confidence END,
    correction_count = CASE WHEN %(pinned)s AND fused_at IS NOT NULL THEN 0 ELSE correction_count END,
    fused_at = CASE WHEN %(pinned)s THEN NULL ELSE fused_at END,
    fused_from = CASE WHEN %(pinned)s THEN NULL ELSE fused_from END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = %(id)s AND status = 'active'
"""


async def pin(conn: Connection, subject: Subject, memory_id: UUID, *, pinned: bool) -> None:
    """The memory leads core memory, or no more; pinned it counts as neither outdated nor rejected."""
    await conn.execute(_PIN, {**subject.params, "id": memory_id, "pinned": pinned})
