"""What can be compared with a question by meaning: read-only, one statement, over the vectors of one user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Read
from shared.domain.subjects import Subject
from shared.store.chunks import asked_of
from shared.store.search_scope import BOUND, SearchScope, to_params


@dataclass(frozen=True)
class Compared:
    """Chunks and their vectors by one model: the codes of a page, cosines, or kept static vectors, as bytes."""

    model_id: str | None
    ids: bytes
    codes: bytes | None = None
    cosines: bytes | None = None
    statics: bytes | None = None


@dataclass(frozen=True)
class Pages:
    """The pages of one set as they were made together, in one epoch of the user."""

    version: UUID
    epoch: int
    of: tuple[Compared, ...] = ()


@dataclass(frozen=True)
class Meant:
    """What can be compared with a question: the pages (without words on what is in them, where that is known), and
    what is newer.
    """

    pages: Pages | None
    newer: tuple[Compared, ...]


_PAGED: LiteralString = """
WITH paged AS MATERIALIZED (
    SELECT model_id, version, epoch, max(until) AS until,
        string_agg(CASE WHEN version IS DISTINCT FROM %(known)s::uuid THEN ids END, '' ORDER BY page) AS ids,
        string_agg(CASE WHEN version IS DISTINCT FROM %(known)s::uuid THEN codes END, '' ORDER BY page) AS codes
    FROM vector_pages WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND set_id = %(set)s
    GROUP BY model_id, version, epoch
), since AS (SELECT coalesce(max(until), '-infinity') AS until FROM paged)"""
_PAGES: LiteralString = """
SELECT model_id, version, epoch, ids, codes, NULL::bytea AS cosines, NULL::bytea AS statics FROM paged
UNION ALL
"""
_STATICS: LiteralString = """
SELECT %(static)s AS model_id, NULL::uuid AS version, NULL::integer AS epoch,
    string_agg(uuid_send(c.chunk_id), '') AS ids, NULL::bytea AS codes, NULL::bytea AS cosines,
    string_agg(c.static_vector, '') AS statics
"""
_ASKED: LiteralString = """
asked AS MATERIALIZED (SELECT a.model, a.vector::public.halfvec
    FROM unnest(%(models)s::text[], %(vectors)s::text[]) AS a(model, vector))"""
_COSINES: LiteralString = """
SELECT coalesce(a.model, %(static)s) AS model_id, NULL::uuid AS version, NULL::integer AS epoch,
    string_agg(uuid_send(c.chunk_id), '') AS ids, NULL::bytea AS codes,
    string_agg(float4send((1 - (c.embedding OPERATOR(public.<=>) a.vector))::real), '') AS cosines,
    string_agg(CASE WHEN a.model IS NULL THEN c.static_vector END, '') AS statics
"""
_EMBEDDED: LiteralString = " LEFT JOIN asked a ON a.model = c.embedding_model_id AND c.embedding IS NOT NULL"
_OF_THESE: LiteralString = """
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active"""
_NEW: LiteralString = _OF_THESE + " AND c.created_at > (SELECT until FROM since) AND "
_INSIDE_BOUNDS: LiteralString = _OF_THESE + BOUND + " AND "
_HAS_STATIC: LiteralString = "c.static_model_id = %(static)s"
_HAS_ANY: LiteralString = "(a.model IS NOT NULL OR c.static_model_id = %(static)s) GROUP BY a.model"


def load_near(
    subject: Subject,
    static_id: str,
    vectors: Mapping[str, Sequence[float]],
    within: SearchScope,
    *,
    set_id: str,
    known: UUID | None = None,
) -> Read[Meant]:
    """What can be compared with a question: pages of the set, and what is newer than they are with every number.

    `vectors` are the question's vectors by the models whose cosines are wanted; chunks without one of these models have
    their static vectors, as all have where nothing is asked of a model. Within bounds every chunk inside is compared
    with all its numbers. Pages of the version that is known are not read again.
    """
    params = {**to_params(subject, within, 0), "static": static_id, "set": set_id, "known": known}
    params |= asked_of(vectors)
    rows: LiteralString = (
        _COSINES + "FROM memory_chunks c" + _EMBEDDED if vectors else _STATICS + "FROM memory_chunks c"
    )
    has: LiteralString = _HAS_ANY if vectors else _HAS_STATIC
    if within.bound:
        alone: LiteralString = "WITH " + _ASKED if vectors else ""
        return Read(alone + rows + _INSIDE_BOUNDS + has, params, to_comparable, binary=True)
    beside: LiteralString = "," + _ASKED if vectors else ""
    return Read(_PAGED + beside + _PAGES + rows + _NEW + has, params, to_comparable, binary=True)


def to_comparable(rows: Sequence[Mapping[str, Any]]) -> Meant:
    paged: list[Compared] = []
    newer: list[Compared] = []
    pages: Pages | None = None
    for row in rows:
        vectors = Compared(row["model_id"], row["ids"] or b"", row["codes"], row["cosines"], row["statics"])
        if row["version"] is not None:
            pages = Pages(row["version"], row["epoch"])
            paged.append(vectors)
        elif vectors.ids:
            newer.append(vectors)
    return Meant(replace(pages, of=tuple(each for each in paged if each.ids)) if pages else None, tuple(newer))
