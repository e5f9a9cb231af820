"""The statements that a request runs, taken down once and run again alone: what the database itself costs."""

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
    """Every read of this process while it lasts, with its parameters; wake-ups and binding to a user left out."""
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
    """As the services connect: the same role, path and settings."""
    return await psycopg.AsyncConnection.connect(
        dsn,
        autocommit=True,
        row_factory=dict_row,  # type: ignore[arg-type]
        options=f"-c role={APP_ROLE} -c search_path={SCHEMA},public -c timezone=UTC -c jit=off",
    )


async def replay(conn: psycopg.AsyncConnection, tenant: str, user: str, statements: Sequence[Statement]) -> None:
    """One transaction bound to the user, the statements in turn, every row fetched."""
    async with conn.transaction():
        await conn.execute(_BIND, (tenant, user))
        for query, params in statements:
            await (await conn.execute(query, params)).fetchall()
