"""Every memory type has one complete row, and handwritten lists agree with the rows."""

import re
from pathlib import Path
from typing import get_args

import pytest

from schemas.memory_types import KEY_PREFIXES, MEMORY_TYPES, ROWS, TRAITS, MemoryType, MemoryTypeRow, Trait
from schemas.turn_events import StructuredItem
from shared.extraction.keys import is_known
from shared.extraction.model import StructuredStatement
from shared.extraction.structured import from_item
from shared.store import user_state

MIGRATIONS = Path(__file__).parents[3] / "shared" / "migrations"


def test_every_type_has_one_row_and_every_trait_a_meaning() -> None:
    assert sorted(row.type for row in ROWS) == sorted(get_args(MemoryType))
    assert TRAITS.keys() == set(get_args(Trait))
    assert {trait for row in ROWS for trait in row.traits} == TRAITS.keys()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.type)
def test_a_row_describes_its_type_in_both_languages(row: MemoryTypeRow) -> None:
    assert row.meaning
    assert row.title_en.isascii()
    assert re.search(r"[\u4e00-\u9fff]", row.title_zh)
    assert not row.label_zh.isascii() or not row.label_zh


def test_no_key_prefix_is_the_prefix_of_another() -> None:
    prefixes = list(KEY_PREFIXES.values())
    assert all(re.fullmatch(r"[a-z]+:", prefix) for prefix in prefixes)
    assert len(set(prefixes)) == len(prefixes)


@pytest.mark.parametrize("kind", [row.type for row in ROWS if row.key_prefix])
def test_an_item_under_a_key_of_its_type_keeps_its_type(kind: MemoryType) -> None:
    key = f"{KEY_PREFIXES[kind]}user:name"
    assert is_known(key)
    made = from_item(StructuredStatement(kind, key, "value", "A text."), 0)
    assert (made.kind, made.key) == (kind, key)
    other = next(prefix for type_, prefix in KEY_PREFIXES.items() if type_ != kind)
    wrong = from_item(StructuredStatement(kind, f"{other}user:name", "value", "A text."), 0)
    assert (wrong.kind, wrong.key) == ("note", None)


def test_core_memory_matches_the_index() -> None:
    order = sorted((row.core_order, row.type) for row in ROWS if row.core_order is not None)
    assert [place for place, _ in order] == list(range(len(order)))
    listed = re.search(r"type IN \(([^)]*)\)", user_state._CORE)
    indexed = re.search(r"status = 'active' AND type IN \(([^)]*)\)", (MIGRATIONS / "0001_initial.sql").read_text())
    assert listed
    assert indexed
    assert {name.strip(" '") for name in listed[1].split(",")} == {kind for _, kind in order}
    assert listed[1] == indexed[1]


def test_the_types_that_callers_may_send_exist() -> None:
    assert StructuredItem.model_fields["type"].annotation == MemoryType
    assert all(row.type == name for name, row in MEMORY_TYPES.items())
