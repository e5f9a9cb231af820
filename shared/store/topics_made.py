"""topics_made: when a broker that had lost its topics got them again. Written by whoever makes them."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, LiteralString

from psycopg import AsyncConnection

from schemas.topics import TURN_COMMITTED
from shared.db import Connection

_NOTE: LiteralString = "INSERT INTO topics_made DEFAULT VALUES"
_AGE: LiteralString = "SELECT now() - max(made_at) AS age FROM topics_made"
_FORGET: LiteralString = "DELETE FROM topics_made WHERE made_at <= now() - %(age)s"


async def note(conn: AsyncConnection[Any], made: Collection[str]) -> None:
    """Where the topic of committed turns was made just now, all older work is driven again soon."""
    if TURN_COMMITTED.name in made:
        await conn.execute(_NOTE)


async def load_age(conn: Connection) -> timedelta | None:
    """How long ago the topics were made; None once what was lost before has been driven again."""
    row = await (await conn.execute(_AGE)).fetchone()
    return row["age"] if row else None


async def forget(conn: Connection, age: timedelta) -> None:
    """What was lost with topics that were replaced so long ago, or longer, has been driven again."""
    await conn.execute(_FORGET, {"age": age})
