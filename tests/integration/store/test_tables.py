"""The table catalogue matches the migrated database: the same tables and the same text columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import psycopg
import pytest

from shared.db import SCHEMA, SYSTEM_ROLE
from shared.domain.tables import TABLES, Table
from tests.system.databases import OPTIONS, rows

WHOSE = frozenset({"tenant_id", "user_id"})
OPTIONAL = frozenset({("memory_chunks", "embedding")})
"""Columns that exist only with an extension."""
_COLUMNS = """
SELECT c.relname AS table, a.attname AS name, a.attnotnull AS needed,
    t.typcategory NOT IN ('N', 'B', 'D', 'T') AND t.oid <> 'uuid'::regtype AS says,
    has_column_privilege(%(role)s, c.oid, a.attnum, 'SELECT') AS seen
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'p')
"""


@dataclass(frozen=True)
class Column:
    """A column of the database: whether it can contain text (any type but numbers, times and ids),
    and who may read it.
    """

    table: str
    name: str
    needed: bool
    says: bool
    seen: bool


Columns = Mapping[str, Column]


def load_columns(dsn: str) -> dict[str, Columns]:
    """Every table of the schema with its columns."""
    found: dict[str, dict[str, Column]] = {}
    for row in rows(dsn, _COLUMNS, schema=SCHEMA, role=SYSTEM_ROLE):
        found.setdefault(row["table"], {})[row["name"]] = Column(**row)
    return found


def differences(dsn: str, tables: Iterable[Table]) -> list[str]:
    """The differences between catalogue and database."""
    told = {table.name: table for table in tables}
    found = load_columns(dsn)
    return sorted(
        [
            *(f"{name}: no row in shared/domain/tables.py" for name in found.keys() - told.keys()),
            *(f"{name}: no table of this name" for name in told.keys() - found.keys()),
            *(each for name in found.keys() & told.keys() for each in _between(told[name], found[name])),
        ]
    )


def _between(table: Table, columns: Columns) -> Iterator[str]:
    """The faults in the catalogue's row for one table."""
    says = {name for name, column in columns.items() if column.says} - WHOSE
    told = table.words | table.plain
    yield from (f"{table.name}.{name}: neither among its words nor plain" for name in says - told)
    missing = {name for name in told - says if (table.name, name) not in OPTIONAL}
    yield from (f"{table.name}.{name}: no column that says something" for name in missing)
    yield from (f"{table.name}.{name}: no column" for name in {*table.found_by} - columns.keys())
    seen = {name for name in table.words & columns.keys() if columns[name].seen}
    yield from (f"{table.name}.{name}: words that {SYSTEM_ROLE} may read" for name in seen)
    if table.fate in ("hide", "reduce", "empty") and "tombstone_id" not in columns:
        yield f"{table.name}: no tombstone_id to hide its rows by"
    if (owner := _owner(columns)) != table.owner.replace("session", "user"):
        yield f"{table.name}: rows of {owner}"


def _owner(columns: Columns) -> str:
    if "tenant_id" not in columns:
        return "nobody"
    return "user" if "user_id" in columns and columns["user_id"].needed else "tenant"


def test_the_catalogue_matches_the_database(dsn: str) -> None:
    assert differences(dsn, TABLES) == []


DIARY = "CREATE TABLE diary (tenant_id text NOT NULL, user_id text NOT NULL, words text, tombstone_id uuid)"
ROW = Table("diary", "user", "hide", "a test", words=frozenset({"words"}))


@pytest.mark.parametrize(
    ("statement", "row", "told"),
    [
        (DIARY, ROW, []),
        (DIARY, None, ["diary: no row in shared/domain/tables.py"]),
        ("SELECT", ROW, ["diary: no table of this name"]),
        (DIARY, replace(ROW, words=frozenset()), ["diary.words: neither among its words nor plain"]),
        (DIARY, replace(ROW, plain=frozenset({"more"})), ["diary.more: no column that says something"]),
        (DIARY, replace(ROW, found_by=("turn_id",)), ["diary.turn_id: no column"]),
        (DIARY, replace(ROW, owner="tenant"), ["diary: rows of user"]),
        (DIARY.replace(", tombstone_id uuid", ""), ROW, ["diary: no tombstone_id to hide its rows by"]),
        (
            f"{DIARY}; GRANT SELECT (words) ON diary TO {SYSTEM_ROLE}",
            ROW,
            [f"diary.words: words that {SYSTEM_ROLE} may read"],
        ),
    ],
)
def test_an_omission_on_either_side_is_named(dsn: str, statement: str, row: Table | None, told: list[str]) -> None:
    with psycopg.connect(dsn, autocommit=True, options=OPTIONS) as conn:
        conn.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue] # of this module
    assert differences(dsn, [*TABLES, row] if row else TABLES) == told
