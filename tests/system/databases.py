"""A fresh, migrated database for whoever asks, copied from a template in milliseconds."""

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
    """One PostgreSQL server that keeps nothing, with a migrated template."""

    def __init__(self, server_dsn: str) -> None:
        self._server_dsn = server_dsn
        self._numbers = count(1)

    async def prepare(self) -> None:
        """The template stands."""
        self._run(f"CREATE DATABASE {TEMPLATE}")
        await migrate(self._dsn(TEMPLATE))

    def fresh(self) -> str:
        """The DSN of a database that nobody else uses."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        return self._dsn(name)

    def empty(self) -> str:
        """The DSN of a database without the schema."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name}")
        return self._dsn(name)

    def drop(self, dsn: str) -> None:
        """The database of this DSN is gone, with whoever was connected to it."""
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
    """The DSN of a PostgreSQL that forgets everything at the end."""
    with EmbeddedPostgres(folder / "postgres", CACHE / "postgres", durable=False) as postgres:
        yield postgres.dsn


OPTIONS = f"-c search_path={SCHEMA},public -c lock_timeout=30s"
"""A statement that waits for a lock of this very process would wait for ever: it fails instead."""


async def change(dsn: str, statement: str, **params: Any) -> list[dict[str, Any]]:
    """As `rows`, while the services of this process go on: one of them may hold the lock that a change waits for."""

    def changed() -> list[dict[str, Any]]:
        with _connected(dsn) as conn:
            return _answer(conn, statement, params)

    return await asyncio.to_thread(changed)


_kept: dict[str, psycopg.Connection[DictRow]] = {}
KEPT = 4


def _connected(dsn: str) -> psycopg.Connection[DictRow]:
    return psycopg.connect(dsn, autocommit=True, row_factory=dict_row, options=OPTIONS, prepare_threshold=None)


def _kept_open(dsn: str) -> psycopg.Connection[DictRow]:
    """A connection that lasts from one statement to the next: a new one is a new process of the server."""
    conn = _kept.pop(dsn, None)
    if conn is None or conn.closed or _hung_up(conn):
        conn = _connected(dsn)
    _kept[dsn] = conn
    while len(_kept) > KEPT:
        _kept.pop(next(iter(_kept))).close()
    return conn


def _hung_up(conn: psycopg.Connection[DictRow]) -> bool:
    """Whether the server has ended it: on an idle connection nothing else waits to be read."""
    waiting = select.poll()
    waiting.register(conn.pgconn.socket, select.POLLIN)
    return bool(waiting.poll(0))


def rows(dsn: str, statement: str, **params: Any) -> list[dict[str, Any]]:
    """What the statement answers to the superuser, whom no row-level security binds."""
    return _answer(_kept_open(dsn), statement, params)


def _answer(conn: psycopg.Connection[DictRow], statement: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = conn.execute(statement, params)  # pyright: ignore[reportArgumentType] # statements of tests
    return cursor.fetchall() if cursor.description else []


def number(dsn: str, statement: str, **params: Any) -> int:
    """The one number that the statement answers."""
    (row,) = rows(dsn, statement, **params)
    (value,) = row.values()
    return int(value)


def texts(dsn: str) -> dict[str, str]:
    """Everything readable that the database holds, by table: every row of every table as JSON."""
    named = rows(
        dsn,
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'p')",
        schema=SCHEMA,
    )
    return {
        name: rows(dsn, f"SELECT coalesce(string_agg(to_jsonb(t)::text, E'\\n'), '') AS all FROM {name} t")[0]["all"]  # noqa: S608 # names of the catalog
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
"""Tables of ids that say how far delivery has come, and nothing of what is known."""


def state(dsn: str) -> dict[str, list[str]]:
    """All that is known, by table, in an order of its own: equal before and after whatever must change nothing."""
    return {name: sorted(found.splitlines()) for name, found in texts(dsn).items() if name not in DELIVERY}
