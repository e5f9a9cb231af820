"""entities, entity_mentions, wishes, and short messages: what the reading of a turn takes from those before it.

Written by observer; the names are also read by compose's relational arm.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import orjson

from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.extraction.habits import DETECTOR, MOST_CHARS
from shared.extraction.standing_wishes import StandingWish, Wishes


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


_PUT_MENTIONS: LiteralString = """
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


async def put_mentions(conn: Connection, subject: Subject, mentions: Sequence[MentionRow]) -> None:
    """Stores the entities and their mentions."""
    if mentions:
        body = orjson.dumps(list(mentions)).decode()
        await conn.execute(_PUT_MENTIONS, {**subject.params, "rows": body})


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


_NAMED_NEAR: LiteralString = """
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
    for row in await (await conn.execute(_NAMED_NEAR, params)).fetchall():
        counted = names.setdefault(row["turn_id"], Counter())
        sessions[row["turn_id"]] = row["session_id"]
        if row["canonical"] is not None:
            counted[row["canonical"]] = row["n"]
    return NamedEntities(names, sessions)


TERMS_MOST = 32
"""A message with more terms is not short."""
_EACH, _MOST = 2000, 800
"""The number of messages searched by a term, and the number compared: those of a habit first, then the newest."""


@dataclass(frozen=True, slots=True)
class ToldBefore:
    """A short message, and the habit derived from it, if any."""

    text: str
    session_id: str
    said_at: datetime
    key: str | None
    times: int | None


_MESSAGES: LiteralString = """
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


async def load_messages(conn: Connection, subject: Subject, terms: Collection[str]) -> list[ToldBefore]:
    """Short messages of the user, without a named speaker, that have one of these terms."""
    if not terms:
        return []
    params = {
        **subject.params,
        "detector": DETECTOR,
        "terms": sorted(terms),
        "chars": MOST_CHARS,
        "length": TERMS_MOST,
        "each": _EACH,
    }
    found = [ToldBefore(**row) for row in await (await conn.execute(_MESSAGES, params)).fetchall()]
    return sorted(found, key=_order, reverse=True)[:_MOST]


def _order(each: ToldBefore) -> tuple[bool, datetime, str, str]:
    return each.key is not None, each.said_at, each.session_id, each.text


_WISHES: LiteralString = """
SELECT session_id, remember, turn_id, since FROM wishes
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""


def load_wishes(subject: Subject, sessions: Iterable[str]) -> Read[Wishes]:
    """The wishes of these sessions."""
    params = {**subject.params, "sessions": [*sessions]}
    return Read(_WISHES, params, lambda rows: Wishes(StandingWish(**row) for row in rows))


_PUT_WISHES: LiteralString = """
INSERT INTO wishes AS w (tenant_id, user_id, session_id, remember, turn_id, since)
SELECT %(tenant)s, %(user)s, r.session_id, r.remember, r.turn_id, r.since
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(session_id text, remember boolean, turn_id uuid, since timestamptz)
ON CONFLICT (tenant_id, user_id, session_id) DO UPDATE
    SET remember = excluded.remember, turn_id = excluded.turn_id, since = excluded.since,
        epoch = current_setting('app.epoch')::integer
    WHERE w.since <= excluded.since
"""


async def put_wishes(conn: Connection, subject: Subject, wishes: Iterable[StandingWish]) -> None:
    """Stores these wishes, unless there is a later one."""
    rows = [
        {
            "session_id": each.session_id,
            "remember": each.remember,
            "turn_id": str(each.turn_id),
            "since": each.since.isoformat(),
        }
        for each in wishes
    ]
    if rows:
        await conn.execute(_PUT_WISHES, {**subject.params, "rows": orjson.dumps(rows).decode()})
