"""entities, entity_mentions: written by observer; read by compose's relational arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import orjson

from shared.db import Connection, Subject


@dataclass(frozen=True)
class MentionRow:
    """One place where a turn names an entity. `entity_id` is used if the entity is new."""

    entity_id: UUID
    kind: str
    canonical: str
    name: str
    turn_id: UUID
    ordinal: int
    span_start: int
    span_end: int
    said_at: datetime


_PUT: LiteralString = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS m(entity_id uuid, kind text, canonical text, name text,
        turn_id uuid, ordinal integer, span_start integer, span_end integer, said_at timestamptz)
), named AS (
    INSERT INTO entities AS e (tenant_id, user_id, entity_id, kind, canonical, name, aliases, mention_count,
        first_seen_at, last_seen_at)
    SELECT %(tenant)s, %(user)s, (array_agg(entity_id))[1], kind, canonical, (array_agg(name))[1],
        array_agg(DISTINCT name), count(*), min(said_at), max(said_at)
    FROM given GROUP BY kind, canonical ORDER BY kind, canonical
    ON CONFLICT (tenant_id, user_id, kind, canonical) DO UPDATE SET
        mention_count = e.mention_count + excluded.mention_count,
        last_seen_at = greatest(e.last_seen_at, excluded.last_seen_at),
        aliases = (SELECT array_agg(DISTINCT a) FROM unnest(e.aliases || excluded.aliases) AS a)
    RETURNING e.entity_id, e.kind, e.canonical
)
INSERT INTO entity_mentions (tenant_id, user_id, entity_id, turn_id, ordinal, span_start, span_end, said_at)
SELECT %(tenant)s, %(user)s, n.entity_id, g.turn_id, g.ordinal, g.span_start, g.span_end, g.said_at
FROM given g JOIN named n USING (kind, canonical)
ON CONFLICT DO NOTHING
"""


async def put(conn: Connection, subject: Subject, mentions: Sequence[MentionRow]) -> None:
    """The entities are known and each mention leads to its turn."""
    if mentions:
        body = orjson.dumps(list(mentions)).decode()
        await conn.execute(_PUT, {"tenant": subject.tenant_id, "user": subject.user_id, "rows": body})


_RECENT: LiteralString = """
SELECT e.canonical, count(*) AS n FROM entity_mentions m JOIN entities e USING (tenant_id, user_id, entity_id)
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.turn_id IN (
    SELECT turn_id FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    ORDER BY committed_at DESC LIMIT %(turns)s)
GROUP BY e.canonical
"""


async def recent_counts(conn: Connection, subject: Subject, turns: int) -> dict[str, int]:
    """How often each entity was named in the user's newest turns, by canonical name."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "turns": turns}
    return {r["canonical"]: r["n"] for r in await (await conn.execute(_RECENT, params)).fetchall()}
