"""event_outbox: written by any service in the transaction of its change; emptied by relay."""

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
"""An event and its topic."""


def event(
    payload: Payload,
    subject: Subject,
    about: object,
    *,
    trace_id: str,
    policy_version: str,
    session_id: str | None = None,
) -> Envelope:
    """The payload in an envelope with the current time; a repeated event about the same object has
    the same idempotency key.
    """
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
    """Stores the events in the outbox, in this order, on the caller's commit."""
    rows = [as_row(topic, event) for topic, event in events]
    if rows:
        await conn.execute(_PUT, {"rows": orjson.dumps(rows).decode()})


LETTER = "dead_letter"
"""The type of a row that refers to a dead letter, whose content stays there until the relay publishes it."""
_PUT_LETTER: LiteralString = """
INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
VALUES (%(id)s, %(topic)s, %(key)s, 'dead_letter', jsonb_build_object('letter_id', %(letter)s::text,
    'vouched', %(vouched)s::boolean))
"""


async def put_letter(conn: Connection, topic: Topic, letter_id: str, *, vouched: bool) -> None:
    """Returns the dead letter with this id to its topic on the caller's commit.

    `vouched`: an operator permits it, whoever sent it.
    """
    params = {"id": clock.uuid7(), "topic": topic.name, "key": letter_id, "letter": letter_id, "vouched": vouched}
    await conn.execute(_PUT_LETTER, params)


@dataclass(frozen=True)
class OutboxRow:
    """One event to publish."""

    position: int
    event_id: UUID
    topic: str
    key: str
    event_type: str
    payload: str
    retry_count: int
    ahead: bool
    """Whether it uses the fast topic, if its topic has one."""


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
    """The oldest unsent rows of these shards, then turns of tenants in rotation, up to the capacity of each.

    Turns of the tenants `ahead` use the fast topic, unless an earlier turn of the same user is in progress on the
    ordinary one; while one is in progress on the fast topic, all events of the user use it. This preserves the user's
    order. Only the relay that owns the shards may call it.
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
    """Deletes published rows, some of them `ahead`; the number of turns for which capacity is free again.

    A turn is in progress from now on unless it has its outcome already, as after an erasure.
    """
    row = await (await conn.execute(_DELETE, {"positions": list(positions), "ahead": list(ahead)})).fetchone()
    return row["freed"] if row else 0


_REFUSED: LiteralString = """
UPDATE event_outbox SET retry_count = retry_count + 1, last_error = %(error)s,
    failed_at = CASE WHEN retry_count + 1 >= %(max_retries)s THEN now() END
WHERE position = ANY(%(positions)s)
"""


async def note_refused(conn: Connection, positions: Sequence[int], error: str, max_retries: int) -> None:
    """Counts a refusal by the broker; after `max_retries` the rows are failed and not retried."""
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
    """The size of the outbox; `age_s` is the age of its oldest unsent row in seconds.

    Neither counts held-back turns, whose tenants have others in progress.
    """

    rows: int
    failed: int
    held: int
    age_s: float


async def depth(conn: Connection) -> Depth:
    """The number of waiting, failed and held-back rows, and the age of the oldest waiting one."""
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
    """Whether this session now holds the shard; it holds it until it releases it or its connection ends."""
    row = await (await conn.execute(_SHARD, {"shard": shard})).fetchone()
    return bool(row and row["taken"])


async def release_shard(conn: Connection, shard: int) -> None:
    """Releases the shard to other relays."""
    await conn.execute(_UNSHARD, {"shard": shard})


async def relays_alive(conn: Connection, member: UUID, stale: timedelta) -> int:
    """The number of relays seen recently, including this one."""
    await conn.execute(_SEEN, {"member": member})
    row = await (await conn.execute(_ALIVE, {"stale": stale})).fetchone()
    return max(1, row["n"] if row else 1)


async def leave(conn: Connection, member: UUID) -> None:
    """Removes this relay from the count."""
    await conn.execute(_LEAVE, {"member": member})


_SOLE: LiteralString = "SELECT pg_try_advisory_xact_lock(727003) AS sole"


async def claim_redrive(conn: Connection) -> bool:
    """Whether this process alone redrives work; holds until the transaction ends."""
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
    """Returns events to the outbox; their number. The delay grows with each redrive."""
    return await _put_again(
        conn,
        [{**as_row(topic, event), "about": event.idempotency_key} for topic, event in events],
    )


async def ask(conn: Connection, asking: Iterable[TurnEvents]) -> int:
    """Requests commits for these turns; their number. The delay grows with each request."""
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
    """Deletes notes of old redrives; their number."""
    return (await conn.execute(_FORGET, {"age": age})).rowcount
