"""What compose searches by itself: the postings, vectors and chunks of one user, read-only, one statement each.

Filters are a time range, languages, and address prefixes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Read
from shared.domain.search_results import Compared, Hit, LexicalStats, Meant, Pages, PostingList
from shared.domain.subjects import Subject

BOUND: LiteralString = """
    AND (%(from)s::timestamptz IS NULL OR c.said_at >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR c.said_at < %(to)s)
    AND (%(languages)s::text[] IS NULL OR c.language = ANY(%(languages)s))
    AND (%(prefixes)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS p(prefix)
        WHERE starts_with(CASE WHEN c.memory_id IS NULL THEN 'smartbrain://turn/' || c.turn_id
            ELSE 'smartbrain://memory/' || c.memory_id END, p.prefix)))
"""


@dataclass(frozen=True)
class SearchScope:
    """The filters of a search: a time range, languages, address prefixes; an empty one filters nothing.

    `past` includes outdated memories and messages whose statement has ended; superseded, retracted and expired memories
    stay excluded.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    past: bool = False

    @property
    def bound(self) -> bool:
        """Whether the filters can exclude any chunk."""
        return bool(self.since or self.until or self.languages or self.prefixes)


def to_params(subject: Subject, within: SearchScope, limit: int) -> dict[str, Any]:
    return {
        **subject.params,
        "from": within.since,
        "to": within.until,
        "languages": list(within.languages) or None,
        "prefixes": list(within.prefixes) or None,
        "past": within.past,
        "limit": limit,
    }


COLUMNS: LiteralString = """
SELECT c.chunk_id, c.memory_id, coalesce(c.turn_id, m.source_turn_id) AS turn_id, c.ordinal, c.session_id, c.seq,
    c.role, c.name,
    coalesce(m.content_text, c.text) AS text, c.said_at, c.term_count,
    m.type, m.key, m.confidence::float8 AS confidence, m.provenance_class, m.epistemic_type, m.valid_at, m.version,
    m.last_validated_at, coalesce(m.injection_count, 0) AS injection_count,
    coalesce(m.positive_count, 0) AS positive_count, coalesce(m.correction_count, 0) AS correction_count,
    coalesce(m.miss_count, 0) AS miss_count, c.language, r.score::float8 AS score,
    CASE WHEN c.media IS NOT NULL THEN (
        SELECT jsonb_agg(b.place || jsonb_build_object('unsafe', EXISTS (SELECT FROM media f
            WHERE f.tenant_id = %(tenant)s AND f.user_id = %(user)s AND f.media_id = b.place ->> 'media_id'
                AND f.security_status <> 'safe')) ORDER BY b.n)
        FROM jsonb_array_elements(c.media) WITH ORDINALITY AS b(place, n)) END AS media,
    coalesce((SELECT jsonb_agg(jsonb_build_object('ordinal', s.provenance -> 'ordinal', 'span', s.provenance -> 'span',
            'word', coalesce(s.value ->> 'target', s.value ->> 'value'), 'until', s.invalid_at,
            'forgotten', s.provenance ? 'forgotten' OR s.fused_at IS NOT NULL))
        FROM memory_items s WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s
            AND s.source_turn_id = c.turn_id AND (s.status IN ('superseded', 'retracted') OR s.fused_at IS NOT NULL
                OR (s.status = 'merged' AND EXISTS (SELECT FROM memory_items o WHERE o.tenant_id = %(tenant)s
                    AND o.user_id = %(user)s AND o.memory_id = s.superseded_by
                    AND (o.status IN ('superseded', 'retracted') OR o.fused_at IS NOT NULL))))), '[]') AS ended
"""
HOLDS: LiteralString = """
LEFT JOIN memory_items m ON m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = c.memory_id
WHERE (m.memory_id IS NULL
    OR (m.status = 'active' AND (%(past)s OR m.epistemic_type <> 'outdated')
        AND (m.valid_until IS NULL OR m.valid_until > now())))
"""


def to_hits(rows: Iterable[Mapping[str, Any]]) -> list[Hit]:
    return [Hit(**row) for row in rows]


MAX_MESSAGES = 64
"""The maximum number of events per turn (schemas.turn_events), stated here so that the planner knows it."""
_AT: LiteralString = (
    COLUMNS.replace("r.score::float8 AS score", "0::float8 AS score")
    + """FROM (
    SELECT * FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT said.* FROM unnest(%(lows)s::uuid[], %(highs)s::uuid[]) AS turn(low, high)
    CROSS JOIN LATERAL (
        SELECT * FROM memory_chunks
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id BETWEEN turn.low AND turn.high
        LIMIT %(messages)s) AS said) AS c"""
    + HOLDS
    + " AND c.active"
    + BOUND
    + "ORDER BY c.chunk_id LIMIT %(limit)s"
)


def at(
    subject: Subject, memories: Collection[str], turns: Sequence[tuple[str, str]], limit: int, within: SearchScope
) -> Read[list[Hit]]:
    """These chunks of active memories, and those of turns between these ids."""
    bounds = {"lows": _ids(low for low, _ in turns), "highs": _ids(high for _, high in turns), "messages": MAX_MESSAGES}
    params = {**to_params(subject, within, limit), "ids": _ids(memories), **bounds}
    return Read(_AT, params, to_hits)


def _ids(ids: Iterable[str]) -> str:
    """An array in PostgreSQL's text form, which is faster than writing it element by element."""
    return "{" + ",".join(ids) + "}"


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
    held_version: UUID | None = None,
) -> Read[Meant]:
    """Vectors to compare with a question: pages of the set, and newer vectors with full precision.

    `vectors` are the question's vectors by the models; chunks without a vector of one of these models use their static
    one, and so do all without a model. With filters every matching chunk is compared with full precision. Pages of the
    cached version are not read again.
    """
    params = {**to_params(subject, within, 0), "static": static_id, "set": set_id, "known": held_version}
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
