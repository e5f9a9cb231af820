"""The schema of the database: roles, migrations, extensions, and scratch schemas."""

import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, LiteralString, NamedTuple, cast
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import tuple_row

from shared.db import CLOSED, JOURNAL, SCHEMA, owner, translated
from shared.errors import ConfigurationError
from shared.telemetry import logger

_VECTORS: LiteralString = """
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
    IF NOT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = 'memory_chunks'::regclass AND attname = 'embedding' AND NOT attisdropped) THEN
        ALTER TABLE memory_chunks ADD COLUMN embedding public.halfvec;
        ALTER TABLE memory_chunks NO FORCE ROW LEVEL SECURITY;
        UPDATE memory_chunks SET embedding_model_id = NULL WHERE embedding_model_id IS NOT NULL;
        ALTER TABLE memory_chunks FORCE ROW LEVEL SECURITY;
    END IF;
END $$
"""
"""Marks chunks whose vectors were lost with the extension for a new embedding."""
_TRIGRAMS: LiteralString = "CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public"
EXTENSIONS: tuple[tuple[str, LiteralString], ...] = (("vector", _VECTORS), ("pg_trgm", _TRIGRAMS))


_ROLES: LiteralString = """
DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['smartbrain_app', 'smartbrain_system', 'smartbrain_erasure'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = each) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', each);
        END IF;
        IF NOT pg_has_role(current_user, each, 'SET') THEN
            EXECUTE format('GRANT %I TO %I', each, current_user);
        END IF;
    END LOOP;
END $$
"""
"""Roles belong to the server, not to a database: a restored schema finds them like a migrated one."""
_CUT_OFF: LiteralString = "SELECT to_regnamespace(%s) IS NOT NULL AND to_regnamespace(%s) IS NULL"

FOLDER = resources.files("shared") / "migrations"
_POST = re.compile(r"\d{4}_post_\w+\.sql")
_LEDGER: LiteralString = """
DO $$
BEGIN
    CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
    IF NOT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = 'migrations'::regclass AND attname = 'sha256' AND NOT attisdropped) THEN
        ALTER TABLE migrations ADD COLUMN sha256 text;
    END IF;
END $$
"""
"""The applied scripts, and the SHA-256 of their text; a database from before hashes were introduced has none yet."""


class Script(NamedTuple):
    """A migration: its name contains its position and, by `pre` or `post`, the time of its run."""

    name: str
    statements: str

    @property
    def sha256(self) -> str:
        """The hash of the text, independent of line endings."""
        return hashlib.sha256(self.statements.encode()).hexdigest()


async def ensure_roles(conn: AsyncConnection[Any]) -> None:
    """Creates the roles of the pools, and lets the current login switch to them."""
    await conn.execute("SELECT pg_advisory_lock(727001)")
    await conn.execute(_ROLES)
    await conn.execute("SELECT pg_advisory_unlock(727001)")


def before_start(name: str) -> bool:
    """Whether the script runs before the processes of its version start; the others run once no
    older process is left.
    """
    return _POST.fullmatch(name) is None


def every(_: str) -> bool:
    """Whether the script runs when no older process is left: every script does."""
    return True


async def migrate(
    dsn: str, schema: str = SCHEMA, *, wanted: Callable[[str], bool] = every, folder: Traversable = FOLDER
) -> list[str]:
    """Applies the missing scripts that are `wanted`, in order, each in its own transaction; returns their names.

    ConfigurationError, without applying any, if the text of an applied script has changed, or if a newer version has
    removed what this one needs. An unavailable extension is logged: without pgvector search uses words, without pg_trgm
    exact spelling; the next call tries again. If a restore was interrupted before the schema returned, none is created,
    because an empty one would be served.
    """
    applied: list[str] = []
    scripts = read_scripts(folder)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        await conn.execute("SELECT pg_advisory_lock(727001)")
        cut_off = await (await conn.execute(_CUT_OFF, (JOURNAL, SCHEMA))).fetchone()
        if schema == SCHEMA and cut_off and cut_off[0]:
            logger().warning("not_migrated", reason=CLOSED)
            return []
        await conn.execute(_ROLES)
        await conn.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        await conn.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
        done = await load_recorded(conn, scripts)
        for script in scripts:
            if script.name not in done and wanted(script.name):
                async with conn.transaction():
                    await conn.execute(cast("LiteralString", script.statements))
                    await conn.execute(_RECORD, (script.name, script.sha256))
                applied.append(script.name)
                logger().info("migration_applied", migration=script.name, schema=schema)
        for extension, statement in EXTENSIONS:
            try:
                async with conn.transaction():
                    await conn.execute(statement)
            except psycopg.Error as error:
                logger().warning("extension_missing", extension=extension, error=type(error).__name__)
        await conn.execute("SELECT pg_advisory_unlock(727001)")
    return applied


_RECORD: LiteralString = "INSERT INTO migrations (name, sha256) VALUES (%s, %s)"
_FILL: LiteralString = "UPDATE migrations SET sha256 = %s WHERE name = %s AND sha256 IS NULL"


async def load_recorded(conn: AsyncConnection[Any], scripts: list[Script]) -> set[str]:
    """Adds the missing hashes of applied scripts."""
    await conn.execute(_LEDGER)
    found = await (await conn.execute("SELECT name, sha256 FROM migrations")).fetchall()
    recorded: dict[str, str | None] = {str(name): sha256 for name, sha256 in found}
    refuse_changed(recorded, scripts)
    newer = sorted(recorded.keys() - {each.name for each in scripts})
    if taken := [name for name in newer if not before_start(name)]:
        raise ConfigurationError(
            f"the database has {', '.join(taken)} of a newer SmartBrain, which removes what this version needs: "
            "install the newer version"
        )
    if newer:
        logger().warning("migrations_of_a_newer_version", migrations=newer)
    for script in scripts:
        if script.name in recorded and recorded[script.name] is None:
            await conn.execute(_FILL, (script.sha256, script.name))
    return set(recorded)


def refuse_changed(recorded: Mapping[str, str | None], scripts: list[Script]) -> None:
    """ConfigurationError names the scripts whose text differs from the applied one."""
    changed = [each.name for each in scripts if recorded.get(each.name) not in (None, each.sha256)]
    if changed:
        raise ConfigurationError(
            f"{', '.join(changed)} was applied with another text: an applied script must not change. "
            "Restore its old text, and put the change into a new script"
        )


async def list_waiting(dsn: str) -> list[str]:
    """The scripts that are not yet applied to the migrated database."""
    async with owner(dsn) as conn:
        try:
            done = await load_applied(conn)
        except psycopg.errors.UndefinedTable:
            return []
    return [each.name for each in read_scripts() if each.name not in done]


async def load_applied(conn: AsyncConnection[Any]) -> set[str]:
    """The scripts that created the live schema."""
    found = await conn.cursor(row_factory=tuple_row).execute("SELECT name FROM smart_brain.migrations")
    return {str(name) for (name,) in await found.fetchall()}


_SCRATCH = f"{SCHEMA}_rebuild_"
_LOCKED: LiteralString = "SELECT pg_try_advisory_lock(727004, hashtext(%s))"
_LEFT: LiteralString = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)"


@asynccontextmanager
async def scratch(dsn: str) -> AsyncGenerator[str, None]:
    """The name of an empty schema for the caller, dropped at the end.

    The scripts of the live schema create it, so that whole rows can be copied. Schemas left by killed runs are dropped
    first; locks identify the schemas of running ones.
    """
    with translated():
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
            for (left,) in await (await conn.execute(_LEFT, (_SCRATCH,))).fetchall():
                await _drop_unless_locked(conn, left)
            name = _SCRATCH + uuid4().hex[:12]
            await conn.execute(_LOCKED, (name,))
            try:
                await migrate(dsn, name, wanted=(await load_applied(conn)).__contains__)
                yield name
            finally:
                await conn.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))


async def _drop_unless_locked(conn: psycopg.AsyncConnection[Any], schema: str) -> None:
    row = await (await conn.execute(_LOCKED, (schema,))).fetchone()
    if row and row[0]:
        await conn.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))
        await conn.execute("SELECT pg_advisory_unlock(727004, hashtext(%s))", (schema,))
        logger().info("scratch_schema_dropped", schema=schema)


async def is_open(dsn: str) -> bool:
    """Whether the database is reachable and may be served."""
    async with owner(dsn) as conn:
        try:
            return await (await conn.execute("SELECT FROM serving")).fetchone() is not None
        except psycopg.errors.UndefinedTable:
            return False


def read_scripts(folder: Traversable = FOLDER) -> list[Script]:
    """All scripts, in order."""
    files = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    if not files:
        raise ConfigurationError("no migrations are packaged")
    return [Script(each.name, each.read_text("utf-8")) for each in files]
