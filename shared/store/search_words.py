"""Where words stand, for the search of compose: read-only, one statement each, over the postings of one user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString

from shared.db import Read
from shared.domain.subjects import Subject
from shared.store.search_scope import BOUND, SearchScope, to_params


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
    """The newest chunks within these bounds, at most `most`, as PostgreSQL sends arrays; None: there are none."""
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
    """Under which names people spoke in the user's turns."""
    return Read(_NAMES, subject.params, lambda rows: tuple(rows[0]["names"]) if rows else ())
