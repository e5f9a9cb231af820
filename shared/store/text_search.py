"""What the database finds by itself: memories by words, messages by their time."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import LiteralString

from shared.db import Connection, Read
from shared.domain.search_results import Hit
from shared.domain.subjects import Subject
from shared.store.search import BOUND, COLUMNS, HOLDS, SearchScope, to_hits, to_params

_SOURCE: LiteralString = (
    "\nJOIN memory_chunks c ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.chunk_id = r.chunk_id" + HOLDS
)
_BEST_FIRST: LiteralString = " ORDER BY r.score DESC, c.chunk_id"
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
    _FOUND + COLUMNS + ", r.n " + _SCORED + _SOURCE + " AND r.place <= %(limit)s ORDER BY r.n, r.place"
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


_SAID_AT: LiteralString = (
    COLUMNS
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
    return Read(_SAID_AT, {**to_params(subject, within, limit), "moments": list(moments)}, to_hits)
