"""inbox: the events that a consumer has handled. Written by workers with their effects; pruned by governor."""

from collections.abc import Iterable
from datetime import timedelta
from typing import LiteralString
from uuid import UUID

from shared.db import Connection

_CLAIM: LiteralString = """
INSERT INTO inbox (consumer, event_id) SELECT %(consumer)s, e FROM unnest(%(events)s::uuid[]) AS e ORDER BY e
ON CONFLICT DO NOTHING RETURNING event_id
"""


async def claim(conn: Connection, consumer: str, events: Iterable[UUID]) -> set[UUID]:
    """Claims the events; those claimed for the first time, because a repeated one must change nothing."""
    cursor = await conn.execute(_CLAIM, {"consumer": consumer, "events": sorted(set(events))})
    return {row["event_id"] for row in await cursor.fetchall()}


_HAD: LiteralString = "SELECT EXISTS (SELECT FROM inbox WHERE consumer = %(consumer)s AND event_id = %(event)s) AS had"


async def had(conn: Connection, consumer: str, event_id: UUID) -> bool:
    """Whether the consumer has handled the event."""
    row = await (await conn.execute(_HAD, {"consumer": consumer, "event": event_id})).fetchone()
    return bool(row and row["had"])


_BUSY: LiteralString = "SELECT EXISTS (SELECT FROM inbox WHERE processed_at > now() - %(within)s) AS busy"


async def busy(conn: Connection, within: timedelta) -> bool:
    """Whether any worker has handled anything recently."""
    row = await (await conn.execute(_BUSY, {"within": within})).fetchone()
    return bool(row and row["busy"])


_PRUNE: LiteralString = """
DELETE FROM inbox WHERE (consumer, event_id) IN
    (SELECT consumer, event_id FROM inbox WHERE processed_at < now() - %(age)s LIMIT %(limit)s)
"""


async def prune(conn: Connection, age: timedelta, limit: int) -> int:
    """Deletes old claims; their number. `age` must exceed the longest retention of a topic."""
    return (await conn.execute(_PRUNE, {"age": age, "limit": limit})).rowcount
