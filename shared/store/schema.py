"""The schema of the database: roles, migrations, extensions, and schemas of a moment's own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, LiteralString, cast
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection, sql

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
"""Chunks that had vectors before the extension was dropped are embedded again."""
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
"""Roles belong to the server, not to a database: a restored schema finds them where a migrated one would."""
_CUT_OFF: LiteralString = "SELECT to_regnamespace(%s) IS NOT NULL AND to_regnamespace(%s) IS NULL"


async def ensure_roles(conn: AsyncConnection[Any]) -> None:
    """The roles that the pools switch to exist, and whoever is connected may switch to them."""
    await conn.execute("SELECT pg_advisory_lock(727001)")
    await conn.execute(_ROLES)
    await conn.execute("SELECT pg_advisory_unlock(727001)")


async def migrate(dsn: str, schema: str = SCHEMA) -> list[str]:
    """Applies the migrations that are still missing, in order, each in its own transaction; returns their names.

    An extension that cannot be had is named in the log: without pgvector search goes by words, without pg_trgm by
    their exact spelling. The next call tries again. Where a restore was cut off before the schema came back, none is
    made: an empty one would be served.
    """
    applied: list[str] = []
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        await conn.execute("SELECT pg_advisory_lock(727001)")
        cut_off = await (await conn.execute(_CUT_OFF, (JOURNAL, SCHEMA))).fetchone()
        if schema == SCHEMA and cut_off and cut_off[0]:
            logger().warning("not_migrated", reason=CLOSED)
            return []
        await conn.execute(_ROLES)
        await conn.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        await conn.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
        await conn.execute(
            "CREATE TABLE IF NOT EXISTS migrations"
            " (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        done = {str(row[0]) for row in await (await conn.execute("SELECT name FROM migrations")).fetchall()}
        for name, statements in _scripts():
            if name not in done:
                async with conn.transaction():
                    await conn.execute(cast("LiteralString", statements))
                    await conn.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))
                applied.append(name)
                logger().info("migration_applied", migration=name, schema=schema)
        for extension, statement in EXTENSIONS:
            try:
                async with conn.transaction():
                    await conn.execute(statement)
            except psycopg.Error as error:
                logger().warning("extension_missing", extension=extension, error=type(error).__name__)
        await conn.execute("SELECT pg_advisory_unlock(727001)")
    return applied


_SCRATCH = f"{SCHEMA}_rebuild_"
_LOCKED: LiteralString = "SELECT pg_try_advisory_lock(727004, hashtext(%s))"
_LEFT: LiteralString = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)"


@asynccontextmanager
async def scratch(dsn: str) -> AsyncGenerator[str, None]:
    """The name of a migrated, empty schema of the caller's own, dropped at the end whatever happens.

    What a run that was killed has left behind is dropped first: a lock tells the schemas of runs that are alive.
    """
    with translated():
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
            for (left,) in await (await conn.execute(_LEFT, (_SCRATCH,))).fetchall():
                await _drop_unless_locked(conn, left)
            name = _SCRATCH + uuid4().hex[:12]
            await conn.execute(_LOCKED, (name,))
            try:
                await migrate(dsn, name)
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
    """Whether the database is there and may be served."""
    async with owner(dsn) as conn:
        try:
            return await (await conn.execute("SELECT FROM serving")).fetchone() is not None
        except psycopg.errors.UndefinedTable:
            return False


def migrations() -> tuple[str, ...]:
    """The names of all that there are, in order."""
    return tuple(name for name, _ in _scripts())


def _scripts() -> list[tuple[str, str]]:
    folder = resources.files("shared") / "migrations"
    scripts = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    if not scripts:
        raise ConfigurationError("no migrations are packaged")
    return [(f.name, f.read_text("utf-8")) for f in scripts]
