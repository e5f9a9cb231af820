"""Unexpected rows: inserted into any table of the catalog, by the types of its columns."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql

from tests.system.databases import OPTIONS, rows

SAID = "stray words"
_VALUES: Mapping[str, str] = {
    "text": f"'{SAID}'",
    "uuid": "gen_random_uuid()",
    "jsonb": f"""'{{"said": "{SAID}"}}'""",
    "json": f"""'{{"said": "{SAID}"}}'""",
    "bytea": f"'{SAID}'",
    "text[]": f"ARRAY['{SAID}']",
    "uuid[]": "ARRAY[gen_random_uuid()]",
    "timestamp with time zone": "now()",
    "date": "current_date",
    "boolean": "false",
}
_COLUMNS = """
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AND NOT a.atthasdef AS needed
FROM pg_attribute a WHERE a.attrelid = %(table)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attidentity = '' AND a.attgenerated = ''
"""
TELLING = frozenset({"text", "json", "jsonb", "text[]"})


def unchecked(dsn: str) -> None:
    """Removes checks and foreign keys, so that the database accepts any value of the right type."""
    with psycopg.connect(dsn, autocommit=True, options=OPTIONS) as conn:
        found = conn.execute(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint"
            " WHERE connamespace = current_schema()::regnamespace AND contype IN ('c', 'f') AND conrelid <> 0"
            " AND conparentid = 0 ORDER BY contype DESC"
        ).fetchall()
        for table, name in found:
            conn.execute(
                sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table), sql.Identifier(name))
            )


def stray(dsn: str, table: str, **given: Any) -> None:
    """A row with these values in the columns that exist; every other text column contains `SAID`."""
    values: dict[str, sql.Composable] = {}
    for column in rows(dsn, _COLUMNS, table=table):
        name, kind = column["name"], column["type"]
        if name in given:
            values[name] = sql.Literal(given[name])
        elif column["needed"] or kind in TELLING:
            values[name] = sql.SQL(_VALUES.get(kind, "1"))  # pyright: ignore[reportArgumentType] # of this module
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, values)), sql.SQL(", ").join(values.values())
    )
    with psycopg.connect(dsn, autocommit=True, options=OPTIONS) as conn:
        conn.execute(statement)


def removed(dsn: str, table: str, user_id: str) -> int:
    """The former number of the user's rows in the table."""
    with psycopg.connect(dsn, autocommit=True, options=OPTIONS) as conn:
        conn.execute("SET session_replication_role = replica")  # the log and audits archive what is deleted from them
        which = sql.SQL("DELETE FROM {} WHERE user_id = %s").format(sql.Identifier(table))
        return conn.execute(which, [user_id]).rowcount
