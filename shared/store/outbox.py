"""event_outbox: written by whoever tells something, in the same transaction; emptied by relay."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.envelope import Envelope
from schemas.events import Payload
from schemas.topics import TURN_COMMIT, Topic
from schemas.turn_events import TurnEvents
from shared import clock
from shared.db import Connection
from shared.domain.subjects import Subject

SHARDS = 16
Outgoing = tuple[Topic, Envelope]
"""An event and where it goes."""


def event(
    payload: Payload,
    subject: Subject,
    about: object,
    *,
    trace_id: str,
    policy_version: str,
    session_id: str | None = None,
) -> Envelope:
    """The payload in an envelope of now; what is told again of the same thing has the same idempotency key."""
    return Envelope(
        event_id=clock.uuid7(),
        event_type=payload.event_type,
        idempotency_key=f"{payload.event_type}:{about}",
        trace_id=trace_id,
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=session_id,
        occurred_at=clock.now(),
        policy_version=policy_version,
        payload=payload.model_dump(mode="json"),
    )


def as_row(topic: Topic, event: Envelope, key: str | None = None) -> dict[str, Any]:
    """The event as a row of the outbox, under its user's key unless another is given."""
    return {
        "id": str(event.event_id),
        "topic": topic.name,
        "key": key or event.key,
        "type": event.event_type,
        "payload": event.model_dump(mode="json"),
    }


_PUT: LiteralString = """
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
SELECT e.id, e.topic, e.key, e.type, e.payload
FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (id uuid, topic text, key text, type text, payload jsonb))
    WITH ORDINALITY AS e (id, topic, key, type, payload, n)
ORDER BY e.n
"""


async def put(conn: Connection, events: Iterable[tuple[Topic, Envelope]]) -> None:
    """The events stand in the outbox, in this order, once the caller's transaction commits."""
    rows = [as_row(topic, event) for topic, event in events]
    if rows:
        await conn.execute(_PUT, {"rows": orjson.dumps(rows).decode()})


LETTER = "dead_letter"
"""The type of a row that stands for a dead letter: its words stay where they are until the relay publishes them."""
_PUT_LETTER: LiteralString = """
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
VALUES (%(id)s, %(topic)s, %(key)s, 'dead_letter', jsonb_build_object('letter_id', %(letter)s::text,
    'vouched', %(vouched)s::boolean))
"""


async def put_letter(conn: Connection, topic: Topic, letter_id: str, *, vouched: bool) -> None:
    """The dead letter of this id goes back to its topic once the caller's transaction commits.

    `vouched`: an operator says that it may, whoever sent it.
    """
    params = {"id": clock.uuid7(), "topic": topic.name, "key": letter_id, "letter": letter_id, "vouched": vouched}
    await conn.execute(_PUT_LETTER, params)


@dataclass(frozen=True)
class OutboxRow:
    """One event on its way to the broker."""

    position: int
    event_id: UUID
    topic: str
    key: str
    event_type: str
    payload: str
    retry_count: int
    ahead: bool
    """Whether it goes past those of others, where its topic has one for that."""


_TAKE: LiteralString = """
SELECT position, id, aggregatetype, aggregateid, type, payload::text AS payload, retry_count,
    coalesce((payload ->> 'tenant_id', payload ->> 'user_id') IN (SELECT tenant, who FROM turns_under_way WHERE ahead)
        OR waits_for = ANY(%(ahead)s) AND NOT EXISTS (SELECT FROM turns_under_way u
            WHERE u.tenant = due.waits_for AND u.who = due.payload ->> 'user_id' AND NOT u.ahead), false) AS ahead
FROM (
    (SELECT *, 0 AS turn FROM event_outbox
        WHERE shard = ANY(%(shards)s) AND failed_at IS NULL AND waits_for IS NULL
        ORDER BY position LIMIT %(limit)s)
    UNION ALL
    (SELECT o.* FROM jsonb_to_recordset(%(rooms)s::jsonb) AS r(tenant text, room integer) CROSS JOIN LATERAL (
        SELECT each.*, row_number() OVER (ORDER BY each.position) AS turn
        FROM unnest(%(shards)s::smallint[]) AS s(shard) CROSS JOIN LATERAL (
            SELECT * FROM event_outbox w
            WHERE w.waits_for = r.tenant AND w.shard = s.shard AND w.failed_at IS NULL
            ORDER BY w.position LIMIT r.room
        ) AS each ORDER BY each.position LIMIT r.room
    ) AS o)
) AS due ORDER BY turn, position LIMIT %(limit)s
"""


async def take(
    conn: Connection, shards: Sequence[int], limit: int, rooms: Mapping[str, int], ahead: Collection[str] = ()
) -> list[OutboxRow]:
    """The oldest unsent rows of these shards, then turns of tenants in turn, of each as many as there is room for.

    Those of the tenants `ahead` go past those of others, unless an earlier one of the same user is under way that does
    not; where one is under way that does, all that is told of the user goes with it: it stays in its order.
    Only the relay that owns the shards may call it.
    """
    listed = orjson.dumps([{"tenant": tenant, "room": room} for tenant, room in rooms.items()]).decode()
    cursor = await conn.execute(_TAKE, {"shards": list(shards), "limit": limit, "rooms": listed, "ahead": list(ahead)})
    return [
        OutboxRow(
            position=r["position"],
            event_id=r["id"],
            topic=r["aggregatetype"],
            key=r["aggregateid"],
            event_type=r["type"],
            payload=r["payload"],
            retry_count=r["retry_count"],
            ahead=r["ahead"],
        )
        for r in await cursor.fetchall()
    ]


_DELETE: LiteralString = """
WITH gone AS (
    DELETE FROM event_outbox WHERE position = ANY(%(positions)s) RETURNING position, type, waits_for, payload
), begun AS (
    INSERT INTO turns_under_way (turn_id, tenant, who, ahead)
    SELECT t.turn_id, t.tenant_id, t.user_id, g.position = ANY(%(ahead)s)
    FROM gone g JOIN turns t ON t.tenant_id = g.waits_for
        AND t.user_id = g.payload ->> 'user_id' AND t.turn_id = (g.payload #>> '{payload,turn_id}')::uuid
    WHERE t.outcome_at IS NULL ON CONFLICT DO NOTHING RETURNING turn_id
), about AS (
    INSERT INTO tenants_about AS a (tenant) SELECT DISTINCT waits_for FROM gone WHERE waits_for IS NOT NULL ORDER BY 1
    ON CONFLICT (tenant) DO UPDATE SET last_at = now() WHERE a.last_at < now() - interval '20 ms'
), ended AS (
    DELETE FROM turns_under_way WHERE turn_id IN
        (SELECT (payload #>> '{payload,turn_id}')::uuid FROM gone WHERE type = 'turn.outcome')
    RETURNING turn_id
)
SELECT (SELECT count(*) FROM ended) + count(waits_for) - (SELECT count(*) FROM begun) AS freed FROM gone
"""


async def delete(conn: Connection, positions: Sequence[int], ahead: Sequence[int] = ()) -> int:
    """The rows are gone: the broker has them, some of them `ahead`. For how many turns there is room again.

    A turn is under way from now on unless it has its outcome already, as by an erasure.
    """
    row = await (await conn.execute(_DELETE, {"positions": list(positions), "ahead": list(ahead)})).fetchone()
    return row["freed"] if row else 0


_REFUSED: LiteralString = """
UPDATE event_outbox SET retry_count = retry_count + 1, last_error = %(error)s,
    failed_at = CASE WHEN retry_count + 1 >= %(max_retries)s THEN now() END
WHERE position = ANY(%(positions)s)
"""


async def note_refused(conn: Connection, positions: Sequence[int], error: str, max_retries: int) -> None:
    """The broker refused these rows once more; after `max_retries` they are failed and no longer tried."""
    await conn.execute(_REFUSED, {"positions": list(positions), "error": error[:500], "max_retries": max_retries})


_DEPTH: LiteralString = """
SELECT count(*) FILTER (WHERE NOT failed AND NOT held) AS rows, count(*) FILTER (WHERE failed) AS failed,
    count(*) FILTER (WHERE NOT failed AND held) AS held,
    coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE NOT failed AND NOT held)), 0)::float8 AS age
FROM (SELECT o.created_at, o.failed_at IS NOT NULL AS failed, u.tenant IS NOT NULL AS held
    FROM event_outbox o LEFT JOIN (SELECT DISTINCT tenant FROM turns_under_way) u ON u.tenant = o.waits_for) each
"""


@dataclass(frozen=True)
class Depth:
    """How full the outbox is; `age_s` is the age of its oldest unsent row in seconds.

    Neither counts the turns that are held back: those of tenants of which others are under way.
    """

    rows: int
    failed: int
    held: int
    age_s: float


async def depth(conn: Connection) -> Depth:
    """How many rows wait, failed and are held back, and how old the oldest is that waits."""
    row = await (await conn.execute(_DEPTH)).fetchone()
    return Depth(row["rows"], row["failed"], row["held"], row["age"]) if row else Depth(0, 0, 0, 0.0)


_SYNC_LATER: LiteralString = "SET synchronous_commit = off"


async def sync_later(conn: Connection) -> None:
    """What this session takes out of the outbox is not waited for on the disk.

    After a crash of the server it may stand there again, in its order, and goes to the broker again, as it does after a
    crash of the relay: nothing that was written later is on the disk before it.
    """
    await conn.execute(_SYNC_LATER)


_SHARD: LiteralString = "SELECT pg_try_advisory_lock(727002, %(shard)s) AS taken"
_UNSHARD: LiteralString = "SELECT pg_advisory_unlock(727002, %(shard)s)"
_SEEN: LiteralString = """
INSERT INTO relay_members (member_id) VALUES (%(member)s) ON CONFLICT (member_id) DO UPDATE SET seen_at = now()
"""
_ALIVE: LiteralString = """
WITH gone AS (DELETE FROM relay_members WHERE seen_at < now() - %(stale)s RETURNING member_id)
SELECT count(*) AS n FROM relay_members WHERE member_id NOT IN (SELECT member_id FROM gone)
"""
_LEAVE: LiteralString = "DELETE FROM relay_members WHERE member_id = %(member)s"


async def own_shard(conn: Connection, shard: int) -> bool:
    """Whether this session now holds the shard; it does until it lets go or its connection ends."""
    row = await (await conn.execute(_SHARD, {"shard": shard})).fetchone()
    return bool(row and row["taken"])


async def release_shard(conn: Connection, shard: int) -> None:
    """Another relay may take the shard."""
    await conn.execute(_UNSHARD, {"shard": shard})


async def relays_alive(conn: Connection, member: UUID, stale: timedelta) -> int:
    """How many relays have been seen lately, this one included."""
    await conn.execute(_SEEN, {"member": member})
    row = await (await conn.execute(_ALIVE, {"stale": stale})).fetchone()
    return max(1, row["n"] if row else 1)


async def leave(conn: Connection, member: UUID) -> None:
    """This relay no longer counts."""
    await conn.execute(_LEAVE, {"member": member})


_SOLE: LiteralString = "SELECT pg_try_advisory_xact_lock(727003) AS sole"


async def sole_redriver(conn: Connection) -> bool:
    """Whether nobody else drives work again just now; holds until the transaction ends."""
    row = await (await conn.execute(_SOLE)).fetchone()
    return bool(row and row["sole"])


_PUT_AGAIN: LiteralString = """
WITH given AS (
    SELECT e.* FROM jsonb_to_recordset(%(rows)s::jsonb) AS e(id uuid, topic text, key text, type text, about text,
        payload jsonb)
), due AS (
    INSERT INTO redriven AS r (about, tries, last_at) SELECT DISTINCT about, 1, now() FROM given
    ON CONFLICT (about) DO UPDATE SET tries = r.tries + 1, last_at = now()
        WHERE r.last_at < now() - least(r.tries, 20) * interval '30 seconds'
    RETURNING about
)
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
SELECT g.id, g.topic, g.key, g.type, g.payload FROM given g JOIN due USING (about)
"""


async def put_again(conn: Connection, events: Iterable[tuple[Topic, Envelope]]) -> int:
    """How many stand in the outbox again; one that was driven again lately waits, each time longer."""
    return await _put_again(
        conn,
        [{**as_row(topic, event), "about": event.idempotency_key} for topic, event in events],
    )


async def ask(conn: Connection, asking: Iterable[TurnEvents]) -> int:
    """How many of these turns will be asked to be committed; one that was asked for lately waits, each time longer."""
    return await _put_again(
        conn,
        [
            {
                "id": str(clock.uuid7()),
                "topic": TURN_COMMIT.name,
                "key": f"{turn.tenant_id}:{turn.user_id}",
                "type": "TurnEvents",
                "about": f"{TURN_COMMIT.name}:{turn.tenant_id}:{turn.user_id}:{turn.idempotency_key}",
                "payload": turn.model_dump(mode="json", exclude_defaults=True),
            }
            for turn in asking
        ],
    )


async def _put_again(conn: Connection, rows: Sequence[Mapping[str, str | dict[str, Any]]]) -> int:
    if not rows:
        return 0
    return (await conn.execute(_PUT_AGAIN, {"rows": orjson.dumps(rows).decode()})).rowcount


_FORGET: LiteralString = "DELETE FROM redriven WHERE last_at < now() - %(age)s"


async def forget_redriven(conn: Connection, age: timedelta) -> int:
    """How many notes of old redrives were removed."""
    return (await conn.execute(_FORGET, {"age": age})).rowcount
