"""Postings and vectors of one user, for search by words and meaning.

Read-only, one statement each, for the search of compose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Read
from shared.domain.subjects import Subject
from shared.store.search import BOUND, SearchScope, to_params


@dataclass(frozen=True)
class PostingList:
    """The chunks that contain a term, as PostgreSQL returns arrays: ids, and for each id tf << 16 | length."""

    ids: bytes
    counts: bytes


@dataclass(frozen=True)
class LexicalStats:
    """Data about the words of a question: their postings, and statistics of all chunks of the user."""

    chunks: int = 0
    terms: int = 0
    names: tuple[str, ...] = ()
    posted: Mapping[str, PostingList] = field(default_factory=dict[str, PostingList])


_WORDS: LiteralString = """
SELECT s.chunks, s.terms, s.names, p.term, p.ids, p.counts
FROM search_stats s LEFT JOIN LATERAL (
    SELECT asked.term, array_send(array_agg(found.chunk_id)) AS ids,
        array_send(array_agg((found.tf::integer << 16) | found.length)) AS counts
    FROM unnest(%(words)s::text[]) AS asked(term) CROSS JOIN LATERAL (
        SELECT p.chunk_id, p.tf, p.length FROM postings p
        WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = asked.term
        ORDER BY p.chunk_id DESC LIMIT %(limit)s) AS found
    GROUP BY asked.term) AS p ON true
WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s
"""


def words(subject: Subject, terms: Sequence[str], most: int) -> Read[LexicalStats]:
    """The postings of these terms, at most `most` chunks of each, and the speakers in the user's turns."""
    return Read(_WORDS, {**to_params(subject, SearchScope(), most), "words": list(terms)}, to_postings, binary=True)


_INSIDE: LiteralString = (
    """
SELECT array_send(array_agg(chunk_id ORDER BY said_at DESC)) AS ids FROM (
    SELECT c.chunk_id, c.said_at FROM memory_chunks c
    WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active"""
    + BOUND
    + """ORDER BY c.said_at DESC LIMIT %(limit)s) AS newest
"""
)


def inside(subject: Subject, within: SearchScope, most: int) -> Read[bytes | None]:
    """The newest chunks within these filters, at most `most`, as PostgreSQL returns arrays; None without any."""
    return Read(_INSIDE, to_params(subject, within, most), lambda rows: rows[0]["ids"], binary=True)


def to_postings(rows: Sequence[Mapping[str, Any]]) -> LexicalStats:
    if not rows:
        return LexicalStats()
    posted = {row["term"]: PostingList(row["ids"], row["counts"]) for row in rows if row["term"] is not None}
    return LexicalStats(rows[0]["chunks"], rows[0]["terms"], tuple(rows[0]["names"]), posted)


_ALIKE: LiteralString = """
SELECT asked.term AS asked, near.term, array_send(array_agg(found.chunk_id)) AS ids,
    array_send(array_agg((found.tf::integer << 16) | found.length)) AS counts
FROM unnest(%(words)s::text[]) AS asked(term) CROSS JOIN LATERAL (
    SELECT known.term FROM (
        SELECT DISTINCT p.term FROM postings p WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s
            AND p.term >= left(asked.term, 1) AND p.term < chr(ascii(asked.term) + 1)) AS known
    WHERE public.similarity(known.term, asked.term) >= %(likeness)s
    ORDER BY public.similarity(known.term, asked.term) DESC, known.term LIMIT 1) AS near
CROSS JOIN LATERAL (
    SELECT p.chunk_id, p.tf, p.length FROM postings p
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = near.term
    ORDER BY p.chunk_id DESC LIMIT %(limit)s) AS found
GROUP BY asked.term, near.term
"""


def load_alike(
    subject: Subject, terms: Sequence[str], likeness: float, most: int
) -> Read[dict[str, tuple[str, PostingList]]]:
    """For each term the user's most similar one by trigrams, among those with the same first letter."""
    params = {**to_params(subject, SearchScope(), most), "words": list(terms), "likeness": likeness}
    return Read(_ALIKE, params, to_spellings, binary=True)


def to_spellings(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, PostingList]]:
    return {row["asked"]: (row["term"], PostingList(row["ids"], row["counts"])) for row in rows}


_NAMES: LiteralString = "SELECT names FROM search_stats WHERE tenant_id = %(tenant)s AND user_id = %(user)s"


def names(subject: Subject) -> Read[tuple[str, ...]]:
    """The named speakers in the user's turns."""
    return Read(_NAMES, subject.params, lambda rows: tuple(rows[0]["names"]) if rows else ())


@dataclass(frozen=True)
class Compared:
    """Chunks and their vectors by one model: the codes of a page, cosines, or static vectors, as bytes."""

    model_id: str | None
    ids: bytes
    codes: bytes | None = None
    cosines: bytes | None = None
    statics: bytes | None = None


@dataclass(frozen=True)
class Pages:
    """The pages of one set as they were built together, in one epoch of the user."""

    version: UUID
    epoch: int
    of: tuple[Compared, ...] = ()


@dataclass(frozen=True)
class Meant:
    """Vectors to compare with a question: the pages (without their content, if that is cached), and newer vectors."""

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
    """Vectors to compare with a question: pages of the set, and newer vectors with full precision.

    `vectors` are the question's vectors by the models; chunks without a vector of one of these models use their static
    one, and so do all without a model. With filters every matching chunk is compared with full precision. Pages of the
    cached version are not read again.
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


def asked_of(vectors: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """Models and their vectors as parameters of statements."""
    return {"models": list(vectors), "vectors": [vector_literal(each) for each in vectors.values()]}


def vector_literal(vector: Sequence[float]) -> str:
    """The vector in pgvector's format."""
    return "[" + ",".join(f"{x:.6g}" for x in vector) + "]"
