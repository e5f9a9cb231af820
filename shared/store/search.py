"""The search arms of compose: read-only, one statement each, over the chunks of one user, with filters.

Filters are a time range, languages, and address prefixes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from shared.db import Connection, Read
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


class Hit(NamedTuple):
    """One chunk found by an arm, with the arm's own score; higher is better.

    `ended` lists the memories from the hit's turn that ended or were fused: ordinal and span of the words, the value,
    the end, and whether it is to be forgotten. `media` gives the positions of recognised text and its media, and
    whether that may not be read now.
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
    version: int | None = None


_COLUMNS: LiteralString = """
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
_HOLDS: LiteralString = """
LEFT JOIN memory_items m ON m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = c.memory_id
WHERE (m.memory_id IS NULL
    OR (m.status = 'active' AND (%(past)s OR m.epistemic_type <> 'outdated')
        AND (m.valid_until IS NULL OR m.valid_until > now())))
"""
_SOURCE: LiteralString = (
    "\nJOIN memory_chunks c ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = r.chunk_id" + _HOLDS
)
_BEST_FIRST: LiteralString = " ORDER BY r.score DESC, c.chunk_id"


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
_FOUND: LiteralString = (
    """
WITH found AS MATERIALIZED (
    SELECT p.term, p.chunk_id, p.tf, p.length, count(*) OVER (PARTITION BY p.term) AS df
    FROM postings p JOIN memory_chunks c USING (tenant_id, user_id, chunk_id)
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = ANY(%(distinct)s)
        AND c.memory_id IS NOT NULL
"""
    + BOUND
    + ")"
)
_TEXT: LiteralString = (
    _FOUND + _COLUMNS + ", r.n " + _SCORED + _SOURCE + " AND r.place <= %(limit)s ORDER BY r.n, r.place"
)


async def by_text(
    conn: Connection, subject: Subject, queries: Sequence[Sequence[str]], limit: int, within: SearchScope
) -> list[list[Hit]]:
    """For each query (its search terms), the memories that share terms with it by BM25, best first."""
    pairs = [(n, term) for n, words in enumerate(queries) for term in words]
    answers: list[list[Hit]] = [[] for _ in queries]
    if not pairs:
        return answers
    params = {
        **to_params(subject, within, limit),
        "numbers": [n for n, _ in pairs],
        "terms": [term for _, term in pairs],
        "distinct": list({term for _, term in pairs}),
    }
    for row in await (await conn.execute(_TEXT, params)).fetchall():
        number: int = row.pop("n")
        answers[number].append(Hit(**row))
    return answers


MAX_MESSAGES = 64
"""The maximum number of events per turn (schemas.turn_events), stated here so that the planner knows it."""
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
    + BOUND
    + "ORDER BY c.chunk_id LIMIT %(limit)s"
)


def at(
    subject: Subject, memories: Collection[str], turns: Sequence[tuple[str, str]], limit: int, within: SearchScope
) -> Read[list[Hit]]:
    """These chunks of active memories, and those of turns between these ids."""
    bounds = {"lows": _ids(low for low, _ in turns), "highs": _ids(high for _, high in turns), "messages": MAX_MESSAGES}
    params = {**to_params(subject, within, limit), "ids": _ids(memories), **bounds}
    return Read(_AT, params, _hits)


def _ids(ids: Iterable[str]) -> str:
    """An array in PostgreSQL's text form, which is faster than writing it element by element."""
    return "{" + ",".join(ids) + "}"


_SAID_AT: LiteralString = (
    _COLUMNS
    + """FROM (
    SELECT c.chunk_id, 0.0 AS score FROM memory_chunks c
    WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active AND c.memory_id IS NULL
        AND c.role = 'user' AND c.said_at = ANY(%(moments)s)
"""
    + BOUND
    + """ORDER BY c.chunk_id LIMIT %(limit)s) AS r"""
    + _SOURCE
    + _BEST_FIRST
)


def said_at(subject: Subject, moments: Collection[datetime], limit: int, within: SearchScope) -> Read[list[Hit]]:
    """The user's messages at these times."""
    return Read(_SAID_AT, {**to_params(subject, within, limit), "moments": list(moments)}, _hits)
