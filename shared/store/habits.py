"""Short messages of a user that may describe the same activity as a new one: read-only, on the search rows of turns."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.extraction.habits import DETECTOR, MOST_CHARS

TERMS_MOST = 32
"""A message with more terms is not short."""
EACH, MOST = 2000, 800
"""The number of messages searched by a term, and the number compared: those of a habit first, then the newest."""


@dataclass(frozen=True, slots=True)
class ToldBefore:
    """A short message, and the habit derived from it, if any."""

    text: str
    session_id: str
    said_at: datetime
    key: str | None
    times: int | None


_NEAR: LiteralString = """
SELECT c.text, c.session_id, c.said_at, h.key, h.times
FROM memory_chunks c LEFT JOIN LATERAL (
    SELECT o.key, (o.value ->> 'times')::integer AS times FROM observations o
    WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.turn_id = c.turn_id AND o.ordinal = c.ordinal
        AND o.detector = %(detector)s LIMIT 1) AS h ON true
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.role = 'user' AND c.name IS NULL AND c.media IS NULL
    AND c.session_id IS NOT NULL AND char_length(c.text) <= %(chars)s AND c.chunk_id = ANY(ARRAY(
        SELECT near.chunk_id FROM unnest(%(terms)s::text[]) AS t(term) CROSS JOIN LATERAL (
            SELECT chunk_id FROM postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND term = t.term
                AND length <= %(length)s LIMIT %(each)s) AS near))
"""
"""Without ORDER BY and LIMIT on ids: with either, the planner uses an unsuitable index while it has no statistics."""


async def load_near(conn: Connection, subject: Subject, terms: Collection[str]) -> list[ToldBefore]:
    """Short messages of the user, without a named speaker, that have one of these terms."""
    if not terms:
        return []
    params = {
        **subject.params,
        "detector": DETECTOR,
        "terms": sorted(terms),
        "chars": MOST_CHARS,
        "length": TERMS_MOST,
        "each": EACH,
    }
    found = [ToldBefore(**row) for row in await (await conn.execute(_NEAR, params)).fetchall()]
    return sorted(found, key=_order, reverse=True)[:MOST]


def _order(each: ToldBefore) -> tuple[bool, datetime, str, str]:
    return each.key is not None, each.said_at, each.session_id, each.text
