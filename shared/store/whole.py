"""The whole database, on `db.owner`'s connection: its content, and the states of a restore. Bound to no user."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import orjson
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from shared.db import SCHEMA, Connection
from shared.errors import TransientError
from shared.store.schema import EXTENSIONS

PATIENCE = "30s"
"""The time that a restore waits for running transactions."""


@dataclass(frozen=True)
class DatabaseState:
    """The state: `rows` of any user, whether it is served, a restore in progress, and the schema set aside."""

    server: int
    unbound: bool
    schema: bool
    rows: bool
    serving: bool
    journal: bool
    aside: bool


_STATE: LiteralString = """
SELECT current_setting('server_version_num')::integer / 10000 AS server,
    (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS unbound,
    to_regclass('smart_brain.migrations') IS NOT NULL AS schema,
    to_regnamespace('smart_brain_restore') IS NOT NULL AS journal,
    to_regnamespace('smart_brain_replaced') IS NOT NULL AS aside
"""
_OF_USERS: LiteralString = """
SELECT k.relname AS name,
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.oid AND a.attname = 'user_id') AS of_users
FROM pg_class k WHERE k.relnamespace = to_regnamespace('smart_brain') AND k.relkind = 'r' ORDER BY 1
"""


async def state(conn: Connection) -> DatabaseState:
    """The state of the database."""
    row = await (await conn.execute(_STATE)).fetchone()
    assert row is not None  # noqa: S101 # it always returns a row
    rows = serving = False
    if row["schema"]:
        rows = any([await _any(conn, name) for name in await tables(conn, of_users=True)])
        gate = await (await conn.execute("SELECT to_regclass('smart_brain.serving') IS NOT NULL AS gate")).fetchone()
        serving = gate is not None and gate["gate"] and await _any(conn, "serving")
    return DatabaseState(**row, rows=rows, serving=serving)


async def tables(conn: Connection, *, of_users: bool = False) -> list[str]:
    """The tables of the schema, or those of them with user rows."""
    found = await (await conn.execute(_OF_USERS)).fetchall()
    return [row["name"] for row in found if row["of_users"] or not of_users]


async def _any(conn: Connection, table: str) -> bool:
    statement = sql.SQL("SELECT EXISTS (SELECT FROM {}) AS any").format(sql.Identifier(SCHEMA, table))
    row = await (await conn.execute(statement)).fetchone()
    return bool(row and row["any"])


_USERS: LiteralString = """
SELECT count(*) AS users FROM (SELECT tenant_id, user_id FROM smart_brain.turns
    UNION SELECT tenant_id, user_id FROM smart_brain.tombstones) AS u
"""
_ERASURES: LiteralString = """
SELECT count(*) AS asked, count(*) FILTER (WHERE status = 'completed') AS completed FROM smart_brain.tombstones
"""
_MIGRATIONS: LiteralString = "SELECT name FROM smart_brain.migrations ORDER BY 1"


@asynccontextmanager
async def snapshot(conn: Connection) -> AsyncGenerator[str, None]:
    """The name of a snapshot that other connections can use while the block lasts."""
    await conn.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
    async with conn.transaction():
        row = await (await conn.execute("SELECT pg_export_snapshot() AS name")).fetchone()
        assert row is not None  # noqa: S101 # it always returns a row
        yield row["name"]


async def count_contents(conn: Connection) -> dict[str, Any]:
    """The content: rows by table, users, erasures, migrations."""
    rows: dict[str, int] = {}
    for name in await tables(conn):
        statement = sql.SQL("SELECT count(*) AS n FROM {}").format(sql.Identifier(SCHEMA, name))
        row = await (await conn.execute(statement)).fetchone()
        rows[name] = row["n"] if row else 0
    users = await (await conn.execute(_USERS)).fetchone() or {}
    erasures = await (await conn.execute(_ERASURES)).fetchone() or {}
    migrations = [row["name"] for row in await (await conn.execute(_MIGRATIONS)).fetchall()]
    return {"users": users["users"], "erasures": dict(erasures), "migrations": migrations, "rows": rows}


_TOMBSTONES: LiteralString = """
SELECT to_jsonb(t) AS tombstone FROM smart_brain.tombstones t ORDER BY requested_at, tombstone_id
"""


async def tombstones(conn: Connection) -> list[Mapping[str, Any]]:
    """Every erasure, all columns, as JSON."""
    return [row["tombstone"] for row in await (await conn.execute(_TOMBSTONES)).fetchall()]


# ---------------------------------------------------------------- the journal of a restore

_BEGIN: tuple[LiteralString, ...] = (
    "CREATE SCHEMA IF NOT EXISTS smart_brain_restore",
    """
CREATE TABLE IF NOT EXISTS smart_brain_restore.runs (
    file text NOT NULL, mark text NOT NULL, sources jsonb NOT NULL, began_at timestamptz NOT NULL DEFAULT now())
""",
    """
CREATE TABLE IF NOT EXISTS smart_brain_restore.ledger (tombstone_id text PRIMARY KEY, tombstone jsonb NOT NULL)
""",
    "DELETE FROM smart_brain_restore.runs",
)
_RUN: LiteralString = """
INSERT INTO smart_brain_restore.runs (file, mark, sources) VALUES (%(file)s, %(mark)s, %(sources)s::jsonb)
"""
_NOTE: LiteralString = """
INSERT INTO smart_brain_restore.ledger
SELECT r ->> 'tombstone_id', r FROM jsonb_array_elements(%(rows)s::jsonb) AS r ON CONFLICT DO NOTHING
"""
AT_ONCE = 1000


@dataclass(frozen=True)
class Run:
    """A restore in progress: its file, identified by `mark`, and the source of its erasures."""

    file: str
    mark: str
    sources: dict[str, int]


async def run_under_way(conn: Connection) -> Run | None:
    """The restore that was begun and is not completed."""
    row = await (await conn.execute("SELECT file, mark, sources FROM smart_brain_restore.runs")).fetchone()
    return Run(**row) if row else None


async def ledger(conn: Connection) -> list[Mapping[str, Any]]:
    """The erasures to replay."""
    found = await (await conn.execute("SELECT tombstone FROM smart_brain_restore.ledger")).fetchall()
    return [row["tombstone"] for row in found]


_LOCK: LiteralString = "SELECT pg_try_advisory_lock(727006) AS alone"


async def is_alone(conn: Connection) -> bool:
    """Whether no other process restores this database; holds as long as the connection."""
    row = await (await conn.execute(_LOCK)).fetchone()
    return bool(row and row["alone"])


async def put_aside(conn: Connection, run: Run, recorded: Iterable[Mapping[str, Any]], *, schema: bool) -> int:
    """Stops serving: one transaction writes the erasures to the journal and sets the schema aside. Returns the number
    of erasures that the schema knew.

    Transactions bound to a user share the lock of the gate's table until they end: so none is in progress, no turn is
    acknowledged and then lost with the schema, and the journal has every erasure.
    """
    try:
        async with conn.transaction():
            await conn.execute("SELECT pg_advisory_xact_lock(727001)")
            live: list[Mapping[str, Any]] = []
            if schema:
                await conn.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(PATIENCE))
                await conn.execute("LOCK TABLE smart_brain.serving, smart_brain.tombstones IN ACCESS EXCLUSIVE MODE")
                live = await tombstones(conn)
            for statement in _BEGIN:
                await conn.execute(statement)
            sources = {**run.sources, "database": len(live)} if schema else run.sources
            told = {"file": run.file, "mark": run.mark, "sources": orjson.dumps(sources).decode()}
            await conn.execute(_RUN, told)
            await _note(conn, [*live, *recorded])
            if schema:
                await conn.execute("DROP SCHEMA IF EXISTS smart_brain_replaced CASCADE")
                await conn.execute("ALTER SCHEMA smart_brain RENAME TO smart_brain_replaced")
    except psycopg.errors.LockNotAvailable as error:
        raise TransientError(f"other transactions have been running for more than {PATIENCE}; try again") from error
    return len(live)


async def _note(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    for start in range(0, len(rows), AT_ONCE):
        await conn.execute(_NOTE, {"rows": orjson.dumps([dict(r) for r in rows[start : start + AT_ONCE]]).decode()})


async def take_back(conn: Connection) -> None:
    """Returns the schema that was set aside, and serves it if it was served; otherwise its restore continues."""
    async with conn.transaction():
        await conn.execute("ALTER SCHEMA smart_brain_replaced RENAME TO smart_brain")
        if await _any(conn, "serving"):
            await forget(conn)


async def forget(conn: Connection) -> None:
    """Ends the restore and keeps the schema as it is."""
    await conn.execute("DROP SCHEMA IF EXISTS smart_brain_restore CASCADE")


async def prepare(conn: Connection) -> None:
    """Creates the extensions that the backup's tables may need, if the server has them."""
    for extension, _ in EXTENSIONS:
        try:
            await conn.execute(
                sql.SQL("CREATE EXTENSION IF NOT EXISTS {} WITH SCHEMA public").format(sql.Identifier(extension))
            )
        except psycopg.Error:
            continue


async def settle(conn: Connection) -> None:
    """Closes the restored schema and computes its statistics."""
    await conn.execute("DELETE FROM smart_brain.serving")
    for name in await tables(conn):
        await conn.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(SCHEMA, name)))


_KEPT_KEYS: LiteralString = """
INSERT INTO smart_brain.api_keys (tenant_id, key_id, name, only_user, only_users_from, scopes, secret_hash, former_hash,
    former_until, created_at, ends_at, rotated_at, revoked_at)
SELECT tenant_id, key_id, name, only_user, only_users_from, scopes, secret_hash, former_hash, former_until, created_at,
    ends_at, rotated_at, revoked_at
FROM smart_brain_replaced.api_keys
ON CONFLICT (tenant_id, key_id) DO UPDATE SET secret_hash = excluded.secret_hash, former_hash = excluded.former_hash,
    former_until = excluded.former_until, rotated_at = excluded.rotated_at, revoked_at = excluded.revoked_at
"""


async def drop_replaced(conn: Connection) -> None:
    """Deletes the schema set aside, except for its keys: one revoked after the backup stays revoked."""
    async with conn.transaction():
        row = await (await conn.execute("SELECT to_regclass('smart_brain_replaced.api_keys') AS keys")).fetchone()
        if row and row["keys"]:
            await conn.execute(_KEPT_KEYS)
        await conn.execute("DROP SCHEMA IF EXISTS smart_brain_replaced CASCADE")


_LEFT: LiteralString = """
SELECT tenant_id, user_id, tombstone_id::text, status, error FROM smart_brain.tombstones WHERE status <> 'completed'
UNION ALL
SELECT l.tombstone ->> 'tenant_id', l.tombstone ->> 'user_id', l.tombstone_id, 'missing', NULL
FROM smart_brain_restore.ledger l
WHERE NOT EXISTS (SELECT FROM smart_brain.tombstones t WHERE t.tenant_id = l.tombstone ->> 'tenant_id'
    AND t.user_id = l.tombstone ->> 'user_id' AND t.tombstone_id::text = l.tombstone_id)
ORDER BY 1, 2, 3
"""


async def load_left(conn: Connection) -> Sequence[Mapping[str, Any]]:
    """Open erasures of the restored database, and journal entries that it lacks."""
    return await (await conn.execute(_LEFT)).fetchall()


async def open_gate(conn: Connection) -> bool:
    """Whether the database is served from now on: only once no erasure is left."""
    async with conn.transaction():
        await conn.execute("LOCK TABLE smart_brain.tombstones IN SHARE MODE")
        if await load_left(conn):
            return False
        await conn.execute("INSERT INTO smart_brain.serving SELECT WHERE NOT EXISTS (SELECT FROM smart_brain.serving)")
        await conn.execute("DROP SCHEMA smart_brain_restore CASCADE")
    return True


def without_password(dsn: str) -> tuple[str, dict[str, str]]:
    """The address without its password, because all users of a machine can read command lines, and the environment with
    the password.
    """
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    return make_conninfo(**parts), {"PGPASSWORD": str(password)} if password else {}  # pyright: ignore[reportArgumentType] # unchanged
