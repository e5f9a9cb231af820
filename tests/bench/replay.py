"""The SQL statements of a request, recorded once and executed alone: the cost of the database itself."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import dict_row

from shared.db import APP_ROLE, SCHEMA

Statement: TypeAlias = tuple[Any, Any]
_BIND = "SELECT set_config('app.tenant', %s, true), set_config('app.user', %s, true)"


@contextmanager
def taken_down() -> Iterator[list[Statement]]:
    """Every read of this process while the block lasts, with its parameters, without wake-ups and user binding."""
    heard: list[Statement] = []
    execute: Callable[..., Coroutine[Any, Any, Any]] = psycopg.AsyncConnection.execute

    async def listening(self: psycopg.AsyncConnection, query: Any, params: Any = None, **options: Any) -> Any:
        if params and "set_config" not in str(query):
            heard.append((query, params))
        return await execute(self, query, params, **options)

    psycopg.AsyncConnection.execute = listening  # type: ignore[method-assign,assignment]
    try:
        yield heard
    finally:
        psycopg.AsyncConnection.execute = execute  # type: ignore[method-assign]


async def connection(dsn: str) -> psycopg.AsyncConnection:
    """A connection like those of the services: the same role, path and settings."""
    return await psycopg.AsyncConnection.connect(
        dsn,
        autocommit=True,
        row_factory=dict_row,  # type: ignore[arg-type]
        options=f"-c role={APP_ROLE} -c search_path={SCHEMA},public -c timezone=UTC -c jit=off",
    )


async def replay(conn: psycopg.AsyncConnection, tenant: str, user: str, statements: Sequence[Statement]) -> None:
    """One transaction bound to the user: executes the statements in turn and fetches every row."""
    async with conn.transaction():
        await conn.execute(_BIND, (tenant, user))
        for query, params in statements:
            await (await conn.execute(query, params)).fetchall()
