"""Short messages of a user that may tell the same act as a new one: read-only, over what search reads of turns."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from shared import place
from shared.db import Connection, Subject
from shared.reading.habits import DETECTOR, MOST_CHARS

TERMS_MOST = 32
"""A message of more terms is not short."""
EACH, MOST = 400, 800
"""So many messages are looked at for a term, and in all, the newest."""


@dataclass(frozen=True, slots=True)
class ToldBefore:
    """A short message as it was said, and the habit that was made of it, if any."""

    text: str
    session_id: str
    said_at: datetime
    key: str | None
    times: int | None


_NEAR: LiteralString = """
SELECT c.text, c.session_id, c.said_at, h.key, (h.value ->> 'times')::integer AS times
FROM memory_chunks c LEFT JOIN observations h ON h.tenant_id = %(tenant)s AND h.user_id = %(user)s
    AND h.turn_id = c.turn_id AND h.ordinal = c.ordinal AND h.detector = %(detector)s
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.role = 'user' AND c.name IS NULL AND c.media IS NULL
    AND c.session_id IS NOT NULL AND char_length(c.text) <= %(chars)s AND c.chunk_id = ANY(ARRAY(
        SELECT near.chunk_id FROM unnest(%(terms)s::text[]) AS t(term) CROSS JOIN LATERAL (
            SELECT chunk_id FROM postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND term = t.term
                AND chunk_id < %(memories)s AND length <= %(length)s ORDER BY chunk_id LIMIT %(each)s) AS near))
ORDER BY c.said_at DESC, c.chunk_id LIMIT %(most)s
"""


async def near(conn: Connection, subject: Subject, terms: Collection[str]) -> list[ToldBefore]:
    """The newest short messages of the user, under no name, that have one of these terms."""
    if not terms:
        return []
    params = {
        "tenant": subject.tenant_id,
        "user": subject.user_id,
        "detector": DETECTOR,
        "terms": sorted(terms),
        "chars": MOST_CHARS,
        "length": TERMS_MOST,
        "memories": place.FIRST_OF_MEMORIES,
        "each": EACH,
        "most": MOST,
    }
    return [ToldBefore(**row) for row in await (await conn.execute(_NEAR, params)).fetchall()]
