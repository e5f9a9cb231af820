"""The table catalogue is consistent with itself and with the statements that blank text and apply a rebuild."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.domain.tables import BY_NAME, TABLES, Table

STORE = Path(__file__).parents[3] / "shared/store"
_UPDATES = re.compile(r"UPDATE (\w+)(?: \w+)? SET\s(.*?)(?:\bFROM\b|\bWHERE\b)", re.DOTALL)
_ASSIGNED = re.compile(r"(?:^|,)\s*(\w+) = ")
_WRITES = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) smart_brain\.(\w+)")


def find_updated(source: str) -> Iterator[tuple[str, str]]:
    """Tables and columns that statements of a module set."""
    for table, assignments in _UPDATES.findall(source):
        yield from ((table, column) for column in _ASSIGNED.findall(assignments))


def test_a_table_has_one_row() -> None:
    assert len(BY_NAME) == len(TABLES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_row_is_consistent(table: Table) -> None:
    assert table.why
    assert not table.words & table.plain
    assert table.blanked <= table.words
    assert table.goes_with in {"", *BY_NAME}
    if table.fate == "keep":
        assert not table.words, "what is kept must say nothing of what was erased"
    if table.owner != "session":
        assert not {"turn_id", "session_id"} & {*table.found_by}
    if table.owner == "nobody":
        assert table.fate == "keep"
    if table.is_marked and not table.goes_with:
        assert table.found_by, "an erasure of a session must know which rows it covers"


def test_text_is_blanked_in_the_listed_columns() -> None:
    found = {
        (table, column)
        for path in sorted((STORE / "erasure").glob("blanking*.py"))
        for table, column in find_updated(path.read_text("utf-8"))
        if column in BY_NAME[table].words
    }
    assert found == {(table.name, column) for table in TABLES for column in table.blanked}


def test_a_rebuild_replaces_the_listed_tables() -> None:
    written = set(_WRITES.findall((STORE / "rebuild.py").read_text("utf-8")))
    assert written == {table.name for table in TABLES if table.rebuilt == "replaced"}
