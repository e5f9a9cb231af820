"""The scan for remaining data of an erasure: every text column of every table with user rows.

Tables and columns are read from the database's catalog: a new table is scanned like the others, and one that cannot be
scanned is reported as residue. `shared.domain.tables` says what may remain.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, cast

from psycopg import sql

from schemas.vocabulary import ErasureScope
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.tables import BY_NAME
from shared.store.erasure.tombstones import Tombstone

ALWAYS = frozenset({"tenant_id", "user_id"})


@dataclass(frozen=True)
class ScannedTable:
    """A table with user rows; each column, and whether it can contain text: all types but numbers, times and ids can.

    Not `seen`: there is no right to read it, or no policy shows the user's rows.
    """

    name: str
    columns: Mapping[str, bool]
    seen: bool

    @property
    def textual(self) -> list[str]:
        """Columns that can contain text, vectors and lists of hashes included."""
        return sorted(name for name, says in self.columns.items() if says and name not in ALWAYS)


_CATALOG: LiteralString = """
SELECT k.relname AS name,
    jsonb_object_agg(a.attname, t.typcategory NOT IN ('N', 'B', 'D', 'T') AND t.oid <> 'uuid'::regtype) AS columns,
    has_table_privilege(k.oid, 'SELECT') AND (NOT k.relrowsecurity OR EXISTS (
        SELECT FROM pg_policy p WHERE p.polrelid = k.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
            AND (p.polroles = '{0}' OR to_regrole(current_user)::oid = ANY(p.polroles)))) AS seen
FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
WHERE k.relnamespace = current_schema()::regnamespace AND k.relkind IN ('r', 'p')
GROUP BY k.oid, k.relname, k.relrowsecurity
HAVING bool_or(a.attname = 'user_id') ORDER BY k.relname
"""


async def catalog(conn: Connection) -> list[ScannedTable]:
    """Every table with user rows, whoever may read it."""
    return [ScannedTable(**row) for row in await (await conn.execute(_CATALOG)).fetchall()]


@dataclass(frozen=True)
class Residue:
    """The remaining rows by table (empty if there are none), and the number of scanned rows."""

    left: Mapping[str, int] = field(default_factory=dict[str, int])
    tables: int = 0
    columns: int = 0
    kept: Mapping[str, int] = field(default_factory=dict[str, int])
    """Remaining skeletons and figures, by table."""

    @property
    def rows(self) -> int:
        """The number of all remaining rows."""
        return sum(self.left.values())


async def residue(conn: Connection, subject: Subject, tombstone: Tombstone) -> Residue:
    """The scan for what the tombstone covers; the caller holds the user's exclusive lock, so nothing is in progress."""
    left: dict[str, int] = {}
    remaining: dict[str, int] = {}
    columns = tables = 0
    params = _params(subject, tombstone)
    for table in await catalog(conn):
        row = BY_NAME.get(table.name)
        if row and (row.fate == "keep" or tombstone.scope in row.spared_by):
            continue
        tables += 1
        columns += len(table.textual)
        covered = to_condition(table, tombstone) if table.seen else None
        if covered is None:
            left[table.name] = 1  # the number is unknown
            continue
        if row and row.fate == "empty":
            remaining[table.name] = await _count(conn, table, covered, params)
            covered = sql.SQL("({}) AND ({})").format(covered, _says(table, row.plain))
        if count := await _count(conn, table, covered, params):
            left[table.name] = count
    return Residue(left, tables, columns, {name: count for name, count in remaining.items() if count})


_TAKE_OVER: LiteralString = """
UPDATE {} AS x SET tombstone_id = %(tombstone)s WHERE x.tenant_id = %(tenant)s AND x.user_id = %(user)s
    AND x.tombstone_id IS NOT NULL AND x.tombstone_id <> %(tombstone)s AND ({})
"""


async def take_over(conn: Connection, subject: Subject, tombstone: Tombstone, rest: Residue) -> int:
    """Takes over rows that another erasure has hidden, not yet deleted, and that this one covers too; their number."""
    taken = 0
    for table in await catalog(conn):
        row = BY_NAME.get(table.name)
        left = row is not None and row.is_marked and table.name in rest.left
        if left and (covered := to_condition(table, tombstone)) is not None:
            statement = sql.SQL(_TAKE_OVER).format(sql.Identifier(table.name), covered)
            taken += (await conn.execute(statement, _params(subject, tombstone))).rowcount
    return taken


def _params(subject: Subject, tombstone: Tombstone) -> dict[str, Any]:
    return {
        **subject.params,
        "tombstone": tombstone.tombstone_id,
        "epoch": tombstone.epoch,
        "sessions": list(tombstone.session_ids),
        "memories": list(tombstone.memory_ids),
        "requested": tombstone.requested_at,
    }


async def _count(conn: Connection, table: ScannedTable, which: sql.Composable, params: Mapping[str, Any]) -> int:
    statement = sql.SQL(
        "SELECT count(*) AS n FROM {} AS x WHERE x.tenant_id = %(tenant)s AND x.user_id = %(user)s AND ({})"
    ).format(sql.Identifier(table.name), which)
    row = await (await conn.execute(statement, params)).fetchone()
    return row["n"] if row else 0


_ERASED_TURNS: LiteralString = """(SELECT t.turn_id FROM turns t
    WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.tombstone_id = %(tombstone)s)"""
_ONE: Mapping[str, LiteralString] = {
    "turn_id": f"x.turn_id IN {_ERASED_TURNS}",
    "source_turn_id": f"x.source_turn_id IN {_ERASED_TURNS}",
    "source_turns": f"x.source_turns && ARRAY{_ERASED_TURNS}",
}
_OF_MEMORY = ("memory_id", "related_memory_id", "target_memory_id", "superseded_by")
_OF_MEMORIES = ("memory_ids", "supersedes", "core_ids", "evidence_ids", "used_ids")
FIGURES = "agent_experience"
"""Tables without epochs: their rows are recounted in each round from the remaining data."""
PAGES = "vector_pages"
"""A page contains chunks of all sessions, so every erasure deletes all earlier pages."""
_COUNTED_BEFORE: Mapping[ErasureScope, LiteralString] = {
    "all": "x.updated_at < %(requested)s",
    "personal": "x.updated_at < %(requested)s",
    "session": "false",
    "items": "false",
}
_ORPHANED: LiteralString = """NOT EXISTS (SELECT FROM memory_chunks c
    WHERE (c.tenant_id, c.user_id, c.chunk_id) = (x.tenant_id, x.user_id, x.chunk_id))"""


def to_condition(table: ScannedTable, tombstone: Tombstone) -> sql.Composable | None:
    """The condition for the table's rows that the tombstone covers; None if no column can tell."""
    conditions: list[sql.Composable] = []
    if "tombstone_id" in table.columns:
        conditions.append(sql.SQL("x.tombstone_id = %(tombstone)s"))
    conditions += [sql.SQL(test) for column, test in _ONE.items() if column in table.columns]
    if table.name == "postings":
        conditions.append(sql.SQL(_ORPHANED))
    if table.name == PAGES:
        return sql.SQL("x.epoch < %(epoch)s")
    if "epoch" not in table.columns:
        return sql.SQL(_COUNTED_BEFORE[tombstone.scope]) if table.name == FIGURES else None
    match tombstone.scope:
        case "all" | "personal":
            conditions.append(sql.SQL("x.epoch < %(epoch)s"))
        case "session":
            if "session_id" in table.columns and table.name != "memory_chunks":
                conditions.append(sql.SQL("x.session_id = ANY(%(sessions)s) AND x.epoch < %(epoch)s"))
        case "items":
            names = [name for name in _OF_MEMORY if name in table.columns]
            conditions += [sql.SQL("x.{} = ANY(%(memories)s)").format(sql.Identifier(name)) for name in names]
            lists = [name for name in _OF_MEMORIES if name in table.columns]
            conditions += [sql.SQL("x.{} && %(memories)s::uuid[]").format(sql.Identifier(name)) for name in lists]
    return sql.SQL(" OR ").join(conditions) if conditions else sql.SQL("false")


def _says(table: ScannedTable, plain: Collection[str]) -> sql.Composable:
    """Whether a skeleton still contains text besides ids, states and figures."""
    columns: Sequence[str] = [name for name in table.textual if name not in plain]
    tests = [sql.SQL("x.{}::text NOT IN ('', '{{}}', '[]')").format(sql.Identifier(name)) for name in columns]
    return sql.SQL(" OR ").join(tests) if tests else sql.SQL("false")


def to_proof(found: Residue) -> dict[str, Any]:
    """The scan as it appears in the proof."""
    told = {"left": dict(found.left), "rows_left": found.rows, "tables": found.tables, "columns": found.columns}
    return cast("dict[str, Any]", {**told, "kept_without_words": dict(found.kept)})
