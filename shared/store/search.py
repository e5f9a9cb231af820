"""The search arms of compose: read-only, one statement each, over the chunks of one user."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.store.chunks import asked_of


class Hit(NamedTuple):
    """One chunk that an arm found, with the arm's own score; higher is better.

    `ended` names what was learnt from the hit's turn and holds no longer, or was rejected too often: ordinal and
    span of the words, the value, until when it held, and whether it is to be forgotten. `media` says where in the
    text stands what was recognised in which media, and whether that may not be read now.
    """

    chunk_id: UUID
    memory_id: UUID | None
    turn_id: UUID | None
    ordinal: int
    session_id: str | None
    seq: int | None
    role: str | None
    name: str | None
    text: str
    said_at: datetime
    term_count: int
    type: str | None
    key: str | None
    confidence: float | None
    provenance_class: str | None
    epistemic_type: str | None
    valid_at: datetime | None
    last_validated_at: datetime | None
    injection_count: int
    positive_count: int
    correction_count: int
    miss_count: int
    ended: list[dict[str, Any]]
    score: float
    language: str = "other"
    media: list[dict[str, Any]] | None = None


_COLUMNS: LiteralString = """
SELECT c.chunk_id, c.memory_id, coalesce(c.turn_id, m.source_turn_id) AS turn_id, c.ordinal, c.session_id, c.seq,
    c.role, c.name,
    coalesce(m.content_text, c.text) AS text, c.said_at, c.term_count,
    m.type, m.key, m.confidence::float8 AS confidence, m.provenance_class, m.epistemic_type, m.valid_at,
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
_HOLDS: LiteralString = """
LEFT JOIN memory_items m ON m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = c.memory_id
WHERE (m.memory_id IS NULL
    OR (m.status = 'active' AND (%(past)s OR m.epistemic_type <> 'outdated')
        AND (m.valid_until IS NULL OR m.valid_until > now())))
"""
_BOUND: LiteralString = """
    AND (%(from)s::timestamptz IS NULL OR c.said_at >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR c.said_at < %(to)s)
    AND (%(languages)s::text[] IS NULL OR c.language = ANY(%(languages)s))
    AND (%(prefixes)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS p(prefix)
        WHERE starts_with(CASE WHEN c.memory_id IS NULL THEN 'smartbrain://turn/' || c.turn_id
            ELSE 'smartbrain://memory/' || c.memory_id END, p.prefix)))
"""
_SOURCE: LiteralString = (
    "\nJOIN memory_chunks c ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = r.chunk_id" + _HOLDS
)
_BEST_FIRST: LiteralString = " ORDER BY r.score DESC, c.chunk_id"


@dataclass(frozen=True)
class SearchScope:
    """What a search is bound to: a span of time, languages, beginnings of addresses; nothing given binds nothing.

    `past` lets in what is marked outdated, and messages whose statement has ended; superseded, retracted and expired
    memories stay out all the same.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    past: bool = False

    @property
    def bound(self) -> bool:
        """Whether any chunk can fall outside."""
        return bool(self.since or self.until or self.languages or self.prefixes)


def _params(subject: Subject, within: SearchScope, limit: int) -> dict[str, Any]:
    return {
        "tenant": subject.tenant_id,
        "user": subject.user_id,
        "from": within.since,
        "to": within.until,
        "languages": list(within.languages) or None,
        "prefixes": list(within.prefixes) or None,
        "past": within.past,
        "limit": limit,
    }


def _hits(rows: Iterable[Mapping[str, Any]]) -> list[Hit]:
    return [Hit(**row) for row in rows]


_SCORED: LiteralString = """
FROM (
    SELECT n, chunk_id, score, row_number() OVER (PARTITION BY n ORDER BY score DESC, chunk_id) AS place
    FROM (
        SELECT a.n, f.chunk_id,
            sum(ln(1 + (greatest(s.chunks, f.df) - f.df + 0.5::float8) / (f.df + 0.5::float8)) * f.tf * 2.2::float8
                / (f.tf + 1.2::float8 * (0.6::float8 + 0.4::float8 * f.length * s.chunks / greatest(s.terms, 1)))
            ) AS score
        FROM found f
        JOIN unnest(%(numbers)s::integer[], %(terms)s::text[]) AS a(n, term) ON a.term = f.term
        CROSS JOIN (SELECT chunks, terms FROM search_stats WHERE tenant_id = %(tenant)s AND user_id = %(user)s) AS s
        GROUP BY a.n, f.chunk_id
    ) AS sums
) AS r
"""
_FOUND: LiteralString = """
WITH found AS MATERIALIZED (
    SELECT p.term, p.chunk_id, p.tf, p.length, count(*) OVER (PARTITION BY p.term) AS df FROM postings p
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = ANY(%(distinct)s)
)
"""
_FOUND_WITHIN: LiteralString = (
    """
WITH found AS MATERIALIZED (
    SELECT p.term, p.chunk_id, p.tf, p.length, count(*) OVER (PARTITION BY p.term) AS df
    FROM postings p JOIN memory_chunks c USING (tenant_id, user_id, chunk_id)
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = ANY(%(distinct)s)
        AND (NOT %(memories)s OR c.memory_id IS NOT NULL)
"""
    + _BOUND
    + ")"
)
_TEXT: LiteralString = (
    _FOUND + _COLUMNS + ", r.n " + _SCORED + _SOURCE + " AND r.place <= %(limit)s ORDER BY r.n, r.place"
)
_TEXT_WITHIN: LiteralString = (
    _FOUND_WITHIN + _COLUMNS + ", r.n " + _SCORED + _SOURCE + " AND r.place <= %(limit)s ORDER BY r.n, r.place"
)


async def by_text(
    conn: Connection,
    subject: Subject,
    queries: Sequence[Sequence[str]],
    limit: int,
    within: SearchScope,
    *,
    memories_only: bool = False,
) -> list[list[Hit]]:
    """For each query (its search terms), the chunks that share terms with it by BM25, rare terms first, best first."""
    pairs = [(n, term) for n, words in enumerate(queries) for term in words]
    answers: list[list[Hit]] = [[] for _ in queries]
    if not pairs:
        return answers
    params = {
        **_params(subject, within, limit),
        "memories": memories_only,
        "numbers": [n for n, _ in pairs],
        "terms": [term for _, term in pairs],
        "distinct": list({term for _, term in pairs}),
    }
    bound = memories_only or within.bound
    for row in await (await conn.execute(_TEXT_WITHIN if bound else _TEXT, params)).fetchall():
        number: int = row.pop("n")
        answers[number].append(Hit(**row))
    return answers


@dataclass(frozen=True)
class PostingList:
    """Which chunks hold a term, as PostgreSQL sends arrays: ids, and for each id tf << 16 | length."""

    ids: bytes
    counts: bytes


@dataclass(frozen=True)
class LexicalStats:
    """What is known of the words of a question: where they stand, and what all chunks of the user are like."""

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
    """Where these terms stand, at most `most` chunks of each, and whose names the user's turns carry."""
    return Read(_WORDS, {**_params(subject, SearchScope(), most), "words": list(terms)}, to_postings, binary=True)


_INSIDE: LiteralString = (
    """
SELECT array_send(array_agg(chunk_id ORDER BY said_at DESC)) AS ids FROM (
    SELECT c.chunk_id, c.said_at FROM memory_chunks c
    WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active"""
    + _BOUND
    + """ORDER BY c.said_at DESC LIMIT %(limit)s) AS newest
"""
)


def inside(subject: Subject, within: SearchScope, most: int) -> Read[bytes | None]:
    """The newest chunks within these bounds, at most `most`, as PostgreSQL sends arrays; None: there are none."""
    return Read(_INSIDE, _params(subject, within, most), lambda rows: rows[0]["ids"], binary=True)


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
    params = {**_params(subject, SearchScope(), most), "words": list(terms), "likeness": likeness}
    return Read(_ALIKE, params, to_spellings, binary=True)


def to_spellings(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, PostingList]]:
    return {row["asked"]: (row["term"], PostingList(row["ids"], row["counts"])) for row in rows}


_NAMES: LiteralString = "SELECT names FROM search_stats WHERE tenant_id = %(tenant)s AND user_id = %(user)s"


def names(subject: Subject) -> Read[tuple[str, ...]]:
    """Under which names people spoke in the user's turns."""
    whose = {"tenant": subject.tenant_id, "user": subject.user_id}
    return Read(_NAMES, whose, lambda rows: tuple(rows[0]["names"]) if rows else ())


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
_INSIDE_BOUNDS: LiteralString = _OF_THESE + _BOUND + " AND "
_HAS_STATIC: LiteralString = "c.static_model_id = %(static)s"
_HAS_ANY: LiteralString = "(a.model IS NOT NULL OR c.static_model_id = %(static)s) GROUP BY a.model"


def load_near(
    subject: Subject,
    static_id: str,
    asked: Mapping[str, Sequence[float]],
    within: SearchScope,
    *,
    set_id: str,
    known: UUID | None = None,
) -> Read[Meant]:
    """What can be compared with a question: pages of the set, and what is newer than they are with every number.

    `asked` are the question's vectors by the models whose cosines are wanted; chunks without one of these models have
    their static vectors, as all have where nothing is asked of a model. Within bounds every chunk inside is compared
    with all its numbers. Pages of the version that is known are not read again.
    """
    params = {**_params(subject, within, 0), "static": static_id, "set": set_id, "known": known}
    params |= asked_of(asked)
    rows: LiteralString = _COSINES + "FROM memory_chunks c" + _EMBEDDED if asked else _STATICS + "FROM memory_chunks c"
    has: LiteralString = _HAS_ANY if asked else _HAS_STATIC
    if within.bound:
        alone: LiteralString = "WITH " + _ASKED if asked else ""
        return Read(alone + rows + _INSIDE_BOUNDS + has, params, to_comparable, binary=True)
    beside: LiteralString = "," + _ASKED if asked else ""
    return Read(_PAGED + beside + _PAGES + rows + _NEW + has, params, to_comparable, binary=True)


def to_comparable(rows: Sequence[Mapping[str, Any]]) -> Meant:
    paged: list[Compared] = []
    newer: list[Compared] = []
    pages: Pages | None = None
    for row in rows:
        read = Compared(row["model_id"], row["ids"] or b"", row["codes"], row["cosines"], row["statics"])
        if row["version"] is not None:
            pages = Pages(row["version"], row["epoch"])
            paged.append(read)
        elif read.ids:
            newer.append(read)
    return Meant(replace(pages, of=tuple(each for each in paged if each.ids)) if pages else None, tuple(newer))


MAX_MESSAGES = 64
"""A turn has no more (schemas.turn_events); said here so that the planner knows how few rows a turn is."""
_AT: LiteralString = (
    _COLUMNS.replace("r.score::float8 AS score", "0::float8 AS score")
    + """FROM (
    SELECT * FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT said.* FROM unnest(%(lows)s::uuid[], %(highs)s::uuid[]) AS turn(low, high)
    CROSS JOIN LATERAL (
        SELECT * FROM memory_chunks
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id BETWEEN turn.low AND turn.high
        LIMIT %(messages)s) AS said) AS c"""
    + _HOLDS
    + " AND c.active"
    + _BOUND
    + "ORDER BY c.chunk_id LIMIT %(limit)s"
)


def at(
    subject: Subject, memories: Collection[str], turns: Sequence[tuple[str, str]], limit: int, within: SearchScope
) -> Read[list[Hit]]:
    """These chunks of memories, and those between the bounds of these turns (ids as text); only what still holds."""
    bounds = {"lows": _ids(low for low, _ in turns), "highs": _ids(high for _, high in turns), "messages": MAX_MESSAGES}
    params = {**_params(subject, within, limit), "ids": _ids(memories), **bounds}
    return Read(_AT, params, _hits)


def _ids(ids: Iterable[str]) -> str:
    """An array as PostgreSQL reads it: quicker than one that is written element by element."""
    return "{" + ",".join(ids) + "}"


_SAID_AT: LiteralString = (
    _COLUMNS
    + """FROM (
    SELECT c.chunk_id, 0.0 AS score FROM memory_chunks c
    WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active AND c.memory_id IS NULL
        AND c.role = 'user' AND c.said_at = ANY(%(moments)s)
"""
    + _BOUND
    + """ORDER BY c.chunk_id LIMIT %(limit)s) AS r"""
    + _SOURCE
    + _BEST_FIRST
)


def said_at(subject: Subject, moments: Collection[datetime], limit: int, within: SearchScope) -> Read[list[Hit]]:
    """What the user said at these moments."""
    return Read(_SAID_AT, {**_params(subject, within, limit), "moments": list(moments)}, _hits)
