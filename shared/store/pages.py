"""vector_pages: packed vectors of users with many chunks, for search. Written by evolver, read by compose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from shared import clock
from shared.db import Connection
from shared.domain.subjects import Subject

LARGE = 500
"""Up to this number of chunks, all vectors are read for each question: their transfer takes longer
than the comparison.
"""
TAIL = 200
"""This many chunks, or a tenth of all, may be outside the pages, or in them without need, before a
rebuild of the pages.
"""
_DUE: LiteralString = """
SELECT s.tenant_id, s.user_id FROM search_stats s
LEFT JOIN (SELECT tenant_id, user_id, max(covered) AS covered FROM vector_pages
    WHERE set_id = %(set)s GROUP BY tenant_id, user_id) AS p USING (tenant_id, user_id)
WHERE s.chunks > %(large)s AND abs(s.chunks - coalesce(p.covered, 0)) > greatest(%(tail)s, s.chunks / 10)
LIMIT %(limit)s
"""


async def load_due(conn: Connection, set_id: str, limit: int) -> list[Subject]:
    """Users with this many chunks outside the pages (role smartbrain_system)."""
    params = {"set": set_id, "large": LARGE, "tail": TAIL, "limit": limit}
    found = await (await conn.execute(_DUE, params)).fetchall()
    return [Subject(row["tenant_id"], row["user_id"]) for row in found]


@dataclass(frozen=True, slots=True)
class Packable:
    """The vectors of one model in id order, as PostgreSQL returns them; `model_id` None: static ones."""

    model_id: str | None
    ids: bytes
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Gathered:
    """All chunks created before a time, for packing."""

    until: Any
    covered: int
    of: tuple[Packable, ...]


_SETTLED: LiteralString = "interval '5 minutes'"
"""No transaction that writes chunks takes this long, so that earlier chunks are visible."""
_UNTIL: LiteralString = (
    "SELECT least(now() - " + _SETTLED + ", (SELECT min(created_at) - interval '1 microsecond' FROM memory_chunks"
    " WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND active AND ({waits}))) AS until"
)
_WAITS_STATIC: LiteralString = "static_model_id IS DISTINCT FROM %(static)s"
_WAITS: LiteralString = _WAITS_STATIC + " OR embedding_model_id IS NULL OR embedding_model_id <> ALL(%(models)s)"
_MADE: LiteralString = """
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND active AND created_at <= %(until)s
"""
_COVERED: LiteralString = "SELECT count(*) AS covered FROM memory_chunks" + _MADE
_STATIC: LiteralString = (
    """
SELECT NULL AS model_id, string_agg(uuid_send(chunk_id), '' ORDER BY chunk_id) AS ids,
    string_agg(static_vector, '' ORDER BY chunk_id) AS vectors FROM memory_chunks"""
    + _MADE
)
_EMBEDDED: LiteralString = (
    """
SELECT embedding_model_id AS model_id, string_agg(uuid_send(chunk_id), '' ORDER BY chunk_id) AS ids,
    string_agg(substring(public.halfvec_send(embedding) FROM 5), '' ORDER BY chunk_id) AS vectors FROM memory_chunks"""
    + _MADE
    + " AND embedding IS NOT NULL GROUP BY embedding_model_id"
)


async def gather(conn: Connection, subject: Subject, static_id: str, models: Sequence[str]) -> Gathered:
    """The user's vectors by these models, static ones for chunks without; without models only static ones.

    Chunks that wait for a vector, and those created after the first of them, are excluded.
    """
    whose = {**subject.params, "static": static_id, "models": list(models)}
    until = _UNTIL.replace("{waits}", _WAITS if models else _WAITS_STATIC)
    row = await (await conn.execute(until, whose)).fetchone()
    params = {**whose, "until": row["until"] if row else None}
    counted = await (await conn.execute(_COVERED, params)).fetchone()
    statements = (_STATIC + " AND embedding IS NULL", _EMBEDDED) if models else (_STATIC,)
    rows: list[Mapping[str, Any]] = []
    for statement in statements:
        rows += await (await conn.execute(statement, params, binary=True)).fetchall()
    packable = tuple(Packable(**each) for each in rows if each["ids"])
    return Gathered(params["until"], counted["covered"] if counted else 0, packable)


@dataclass(frozen=True, slots=True)
class Page:
    """Some chunks in id order, and the codes of their vectors by one model."""

    model_id: str
    page: int
    ids: bytes
    codes: bytes


_DROP: LiteralString = "DELETE FROM vector_pages WHERE tenant_id = %(tenant)s AND user_id = %(user)s"
_PUT: LiteralString = """
INSERT INTO vector_pages (tenant_id, user_id, set_id, model_id, page, version, until, covered, ids, codes)
VALUES (%(tenant)s, %(user)s, %(set)s, %(model)s, %(page)s, %(version)s, %(until)s, %(covered)s, %(ids)s, %(codes)s)
"""


async def put(conn: Connection, subject: Subject, set_id: str, gathered: Gathered, pages: Sequence[Page]) -> None:
    """Replaces the pages of the set; the caller holds the lock of the user's memories."""
    whose = {**subject.params, "set": set_id, "version": clock.uuid7()}
    await conn.execute(_DROP + " AND set_id = %(set)s", whose)
    for each in pages:
        row = {"model": each.model_id, "page": each.page, "ids": each.ids, "codes": each.codes}
        await conn.execute(_PUT, {**whose, **row, "until": gathered.until, "covered": gathered.covered})


async def drop(conn: Connection, subject: Subject) -> int:
    """Deletes all pages of the user, whose chunks are compared one by one until new ones exist; their number."""
    return (await conn.execute(_DROP, subject.params)).rowcount
