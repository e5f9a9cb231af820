"""Fresh, migrated databases, copied from a template in milliseconds."""

import asyncio
import select
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row

from shared.db import SCHEMA
from shared.embedded.postgres import EmbeddedPostgres
from shared.files import CACHE
from shared.store.schema import migrate

TEMPLATE = "template_of_tests"


class Databases:
    """A PostgreSQL server without durability, with a migrated template."""

    def __init__(self, server_dsn: str) -> None:
        self._server_dsn = server_dsn
        self._numbers = count(1)

    async def prepare(self) -> None:
        """Creates the template."""
        self._run(f"CREATE DATABASE {TEMPLATE}")
        await migrate(self._dsn(TEMPLATE))

    def fresh(self) -> str:
        """The DSN of a new database."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        return self._dsn(name)

    def empty(self) -> str:
        """The DSN of a new database without the schema."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name}")
        return self._dsn(name)

    def drop(self, dsn: str) -> None:
        """Deletes the database of this DSN and closes its connections."""
        if conn := _kept.pop(dsn, None):
            conn.close()
        name = conninfo_to_dict(dsn)["dbname"]
        self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _dsn(self, name: str) -> str:
        return make_conninfo(self._server_dsn, dbname=name)

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._server_dsn, autocommit=True) as conn:
            conn.execute(statement)


@contextmanager
def server(folder: Path) -> Generator[str]:
    """The DSN of a temporary PostgreSQL."""
    with EmbeddedPostgres(folder / "postgres", CACHE / "postgres", durable=False) as postgres:
        yield postgres.dsn


OPTIONS = f"-c search_path={SCHEMA},public -c lock_timeout=30s"
"""Fails at once if the statement would wait for a lock of this process, instead of waiting forever."""


async def change(dsn: str, statement: str, **params: Any) -> list[dict[str, Any]]:
    """Like `rows`, while services run: the change waits for their locks."""

    def changed() -> list[dict[str, Any]]:
        with _connect(dsn) as conn:
            return _answer(conn, statement, params)

    return await asyncio.to_thread(changed)


_kept: dict[str, psycopg.Connection[DictRow]] = {}
KEPT = 4


def _connect(dsn: str) -> psycopg.Connection[DictRow]:
    return psycopg.connect(dsn, autocommit=True, row_factory=dict_row, options=OPTIONS, prepare_threshold=None)


def _kept_open(dsn: str) -> psycopg.Connection[DictRow]:
    """A connection that persists between statements, because each new one starts a server process."""
    conn = _kept.pop(dsn, None)
    if conn is None or conn.closed or _hung_up(conn):
        conn = _connect(dsn)
    _kept[dsn] = conn
    while len(_kept) > KEPT:
        _kept.pop(next(iter(_kept))).close()
    return conn


def _hung_up(conn: psycopg.Connection[DictRow]) -> bool:
    """Whether the server has closed it: an idle connection has nothing else to read."""
    waiting = select.poll()
    waiting.register(conn.pgconn.socket, select.POLLIN)
    return bool(waiting.poll(0))


def rows(dsn: str, statement: str, **params: Any) -> list[dict[str, Any]]:
    """The result for the superuser, to whom row-level security does not apply."""
    return _answer(_kept_open(dsn), statement, params)


def _answer(conn: psycopg.Connection[DictRow], statement: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = conn.execute(statement, params)  # pyright: ignore[reportArgumentType] # statements of tests
    return cursor.fetchall() if cursor.description else []


def number(dsn: str, statement: str, **params: Any) -> int:
    """The only number in the result."""
    (row,) = rows(dsn, statement, **params)
    (value,) = row.values()
    return int(value)


def texts(dsn: str) -> dict[str, str]:
    """All readable content of the database: every row of every table as JSON."""
    named = rows(
        dsn,
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'p')",
        schema=SCHEMA,
    )
    return {
        name: rows(dsn, f"SELECT coalesce(string_agg(to_jsonb(t)::text, E'\\n'), '') AS all FROM {name} t")[0]["all"]  # noqa: S608 # names from the catalog
        for name in sorted(row["relname"] for row in named)
    }


DELIVERY = (
    "event_outbox",
    "turns_under_way",
    "tenants_about",
    "inbox",
    "redriven",
    "topics_made",
    "relay_members",
    "service_members",
    "migrations",
)
"""Tables of ids that record the progress of delivery and no memories."""


def state(dsn: str) -> dict[str, list[str]]:
    """All memories and related rows, by table, in a fixed order, for comparison before and after."""
    return {name: sorted(found.splitlines()) for name, found in texts(dsn).items() if name not in DELIVERY}
