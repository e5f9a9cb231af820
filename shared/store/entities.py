"""entities, entity_mentions: written by observer; read by compose's relational arm."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class MentionRow:
    """An occurrence of an entity in a turn. `entity_id` is used if the entity is new."""

    entity_id: UUID
    kind: str
    canonical: str
    name: str
    turn_id: UUID
    ordinal: int
    span_start: int
    span_end: int
    said_at: datetime
    same_as: str | None = None
    """Another name of it, if the text states one."""


_PUT: LiteralString = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS m(entity_id uuid, kind text, canonical text, name text,
        turn_id uuid, ordinal integer, span_start integer, span_end integer, said_at timestamptz, same_as text)
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
INSERT INTO entity_mentions (tenant_id, user_id, entity_id, turn_id, ordinal, span_start, span_end, said_at,
    same_as)
SELECT %(tenant)s, %(user)s, n.entity_id, g.turn_id, g.ordinal, g.span_start, g.span_end, g.said_at, g.same_as
FROM given g JOIN named n USING (kind, canonical)
ON CONFLICT DO NOTHING
"""


async def put(conn: Connection, subject: Subject, mentions: Sequence[MentionRow]) -> None:
    """Stores the entities and their mentions."""
    if mentions:
        body = orjson.dumps(list(mentions)).decode()
        await conn.execute(_PUT, {**subject.params, "rows": body})


@dataclass(frozen=True)
class NamedEntities:
    """The entities mentioned in one user's turns, by canonical name, with counts; turns in id order."""

    by_turn: dict[UUID, Counter[str]]
    sessions: dict[UUID, str]

    def count_before(self, turn_id: UUID, turns: int) -> Counter[str]:
        """The number of mentions of each entity in the `turns` preceding turns that are observed."""
        found: Counter[str] = Counter()
        for each in self._list_before(turn_id, turns):
            found.update(self.by_turn[each])
        return found

    def in_session(self, turn_id: UUID, session_id: str, turns: int) -> frozenset[str]:
        """The entities mentioned in those of the `turns` preceding turns that belong to the same session."""
        own = (each for each in self._list_before(turn_id, turns) if self.sessions[each] == session_id)
        return frozenset(name for each in own for name in self.by_turn[each])

    def _list_before(self, turn_id: UUID, turns: int) -> list[UUID]:
        order = list(self.by_turn)
        end = bisect_left(order, turn_id)
        return order[max(0, end - turns) : end]

    def note(self, mentions: Iterable[MentionRow]) -> None:
        """Adds these mentions of loaded turns; an occurrence counts once."""
        places = {(m.turn_id, m.canonical, m.kind, m.ordinal, m.span_start) for m in mentions}
        for turn_id, canonical, *_ in places:
            self.by_turn[turn_id][canonical] += 1


_NEAR: LiteralString = """
WITH near AS (
    (SELECT turn_id, session_id FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id < %(first)s
     ORDER BY turn_id DESC LIMIT %(turns)s)
    UNION ALL
    SELECT turn_id, session_id FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s
        AND turn_id BETWEEN %(first)s AND %(last)s
)
SELECT near.turn_id, near.session_id, e.canonical, count(*) AS n FROM near
LEFT JOIN entity_mentions m ON m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.turn_id = near.turn_id
LEFT JOIN entities e ON e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.entity_id = m.entity_id
GROUP BY near.turn_id, near.session_id, e.canonical ORDER BY near.turn_id
"""


async def named_near(conn: Connection, subject: Subject, turn_ids: Collection[UUID], turns: int) -> NamedEntities:
    """The entities mentioned in these turns and in the `turns` turns before them."""
    if not turn_ids:
        return NamedEntities({}, {})
    params = {**subject.params, "first": min(turn_ids), "last": max(turn_ids), "turns": turns}
    names: dict[UUID, Counter[str]] = {}
    sessions: dict[UUID, str] = {}
    for row in await (await conn.execute(_NEAR, params)).fetchall():
        counted = names.setdefault(row["turn_id"], Counter())
        sessions[row["turn_id"]] = row["session_id"]
        if row["canonical"] is not None:
            counted[row["canonical"]] = row["n"]
    return NamedEntities(names, sessions)
