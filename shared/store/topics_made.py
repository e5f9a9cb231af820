"""topics_made: the times at which a broker that had lost its topics got them again. Written by their creator."""

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
    """If the topic of committed turns was just created, all older work is redriven soon."""
    if TURN_COMMITTED.name in made:
        await conn.execute(_NOTE)


async def load_age(conn: Connection) -> timedelta | None:
    """The time since the topics were created; None once the lost work has been redriven."""
    row = await (await conn.execute(_AGE)).fetchone()
    return row["age"] if row else None


async def forget(conn: Connection, age: timedelta) -> None:
    """Records that work lost with topics replaced at least this long ago was redriven."""
    await conn.execute(_FORGET, {"age": age})
