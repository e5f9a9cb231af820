"""Relations: read-only, over entities, refs, sources of memories and the order of a session."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain import chunk_ids
from shared.domain.subjects import Subject

Scored = tuple[UUID, float]
"""A chunk, and the strength of its relation; higher is stronger."""

_RELATED: LiteralString = """
WITH named AS MATERIALIZED (
    SELECT e.entity_id FROM entities e
    WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s
        AND (e.canonical = ANY(%(names)s) OR e.aliases && %(spelt)s::text[])
), mentioned AS MATERIALIZED (
    SELECT n.turn_id, n.ordinal, count(DISTINCT n.entity_id) AS entities
    FROM entity_mentions n JOIN named USING (entity_id)
    WHERE n.tenant_id = %(tenant)s AND n.user_id = %(user)s
    GROUP BY n.turn_id, n.ordinal
), spelt AS (
    SELECT p.chunk_id, count(*) AS entities FROM postings p
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = ANY(%(terms)s) GROUP BY p.chunk_id
), referring AS (
    SELECT DISTINCT r.turn_id FROM refs r JOIN unnest(%(names)s::text[]) AS w(word)
        ON strpos(lower(r.ref_uri || ' ' || coalesce(r.title, '')), w.word) > 0
    WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s
), linked AS MATERIALIZED (
    SELECT m.memory_id, m.type, m.source_turns, w.entities
    FROM memory_items m CROSS JOIN LATERAL (SELECT count(*) AS entities FROM unnest(%(names)s::text[]) AS w(word)
        WHERE strpos(lower(m.content_text), w.word) > 0) AS w
    WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.status = 'active'
        AND (w.entities > 0 OR m.source_turn_id IN (SELECT turn_id FROM mentioned))
), near AS (
    SELECT c.chunk_id, n.entities + 0.1::float8 AS score FROM mentioned n JOIN memory_chunks c
        ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active
        AND c.turn_id = n.turn_id AND c.ordinal = n.ordinal
    UNION ALL
    SELECT chunk_id, entities FROM spelt
    UNION ALL
    SELECT c.chunk_id, CASE WHEN l.entities > 0 THEN l.entities ELSE 0.6 END FROM linked l JOIN memory_chunks c
        ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active AND c.memory_id = l.memory_id
    UNION ALL
    SELECT c.chunk_id, 0.5 FROM referring r JOIN memory_chunks c
        ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active AND c.turn_id = r.turn_id
    UNION ALL
    SELECT c.chunk_id, 0.4 FROM linked l CROSS JOIN unnest(l.source_turns) AS s(turn_id) JOIN memory_chunks c
        ON c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.active AND c.turn_id = s.turn_id
    WHERE l.type IN ('task', 'goal', 'decision', 'event')
)
SELECT chunk_id, max(score)::float8 AS score FROM near GROUP BY chunk_id ORDER BY 2 DESC, chunk_id DESC LIMIT %(limit)s
"""


async def load_related(
    conn: Connection, subject: Subject, names: Sequence[str], spelt: Sequence[str], terms: Sequence[str], limit: int
) -> list[Scored]:
    """Objects related to the entities of these names (canonical; as written; as search terms), strongest first.

    Messages and memories that name them or contain the term, memories from turns that mention them, turns whose refs
    name them, and the turns behind tasks, goals, decisions and events among those memories.
    """
    if not names:
        return []
    params = {**subject.params, "names": list(names), "spelt": list(spelt), "terms": list(terms), "limit": limit}
    return [(row["chunk_id"], row["score"]) for row in await (await conn.execute(_RELATED, params)).fetchall()]


_TOGETHER: LiteralString = """
WITH places AS MATERIALIZED (
    SELECT a.turn_id FROM entities e
    JOIN entity_mentions a ON a.tenant_id = e.tenant_id AND a.user_id = e.user_id AND a.entity_id = e.entity_id
    WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.canonical = ANY(%(names)s)
    UNION
    SELECT c.turn_id FROM postings p JOIN memory_chunks c USING (tenant_id, user_id, chunk_id)
    WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.term = ANY(%(terms)s) AND c.turn_id IS NOT NULL
)
SELECT o.name FROM places
JOIN entity_mentions b ON b.tenant_id = %(tenant)s AND b.user_id = %(user)s AND b.turn_id = places.turn_id
JOIN entities o ON o.tenant_id = b.tenant_id AND o.user_id = b.user_id AND o.entity_id = b.entity_id
WHERE NOT (o.canonical = ANY(%(names)s))
GROUP BY o.entity_id, o.name ORDER BY count(DISTINCT b.turn_id) DESC, o.name LIMIT %(limit)s
"""


async def load_together(
    conn: Connection, subject: Subject, names: Sequence[str], terms: Sequence[str], limit: int
) -> list[str]:
    """The entities that most often occur in one turn with those of these canonical names or these search terms."""
    params = {**subject.params, "names": list(names), "terms": list(terms), "limit": limit}
    return [row["name"] for row in await (await conn.execute(_TOGETHER, params)).fetchall()] if names else []


_TAIL: LiteralString = """
SELECT chunk_id FROM memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND active AND chunk_id BETWEEN %(low)s AND %(high)s
ORDER BY chunk_id DESC LIMIT %(limit)s
"""


async def tail(conn: Connection, subject: Subject, session_id: str, limit: int) -> list[UUID]:
    """The newest messages of the session, newest first."""
    half = chunk_ids.session_half(session_id)
    low, high = chunk_ids.bounds(half, 0)[0], chunk_ids.bounds(half, (1 << chunk_ids.SEQ_BITS) - 1)[1]
    params = {**subject.params, "low": low, "high": high, "limit": limit}
    return [row["chunk_id"] for row in await (await conn.execute(_TAIL, params)).fetchall()]
