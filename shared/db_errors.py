"""What psycopg raises, by what the caller should do next. A home of psycopg beside shared.db and the store."""

import asyncio
import select
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from shared.errors import TransientError

AWAY = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
"""What psycopg raises while the server is away, restarting or out of connections."""
BEHIND = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedFunction,
)
"""What it raises where a migration or an extension is missing: the event itself may be good, and comes again."""
RACE = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation)


class translated:  # noqa: N801 # reads as a verb in `with`
    """Turns what psycopg raises into what the caller should do next."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        # asyncio.wait_for of Python 3.11 may lose a cancellation that comes as its future is done
        task = asyncio.current_task()
        if error is None and task is not None and task.cancelling():
            raise asyncio.CancelledError
        if isinstance(error, AWAY):
            raise TransientError(f"database away: {type(error).__name__}") from error
        if isinstance(error, BEHIND):
            raise TransientError(f"the schema lacks what is asked: {type(error).__name__}") from error
        if isinstance(error, RACE):
            raise TransientError(f"lost a race: {type(error).__name__}") from error


def has_hung_up(conn: psycopg.AsyncConnection[Any]) -> bool:
    """Whether the server has hung up, seen without a round trip: on an idle connection nothing waits to be read."""
    if conn.broken:
        return True
    waiting = select.poll()
    waiting.register(conn.pgconn.socket, select.POLLIN)
    return bool(waiting.poll(0))
