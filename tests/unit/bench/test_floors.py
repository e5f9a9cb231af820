"""Limits of figures: which values fail, and what an update changes."""

from datetime import date
from pathlib import Path

import pytest

from tests.bench.floors import FILE, SLACK, Floor, Floors, read, verdicts

TODAY = date(2026, 11, 25)
FLOORS = Floors(
    {
        "locomo_dev, nothing configured: overall R@10": Floor(0.8, ">=", 0.82, "2026-11-01"),
        "natural_zh: texts not found by their own words": Floor(0.01, "<=", 0.004, "2026-11-01"),
    }
)
RECALL, LOST = FLOORS.by_name


def test_a_value_outside_its_limit_or_missing_fails() -> None:
    assert [each.holds for each in verdicts(FLOORS, {RECALL: 0.8, LOST: 0.01})] == [True, True]
    assert [each.holds for each in verdicts(FLOORS, {RECALL: 0.79, LOST: 0.011})] == [False, False]
    assert [each.holds for each in verdicts(FLOORS, {RECALL: 0.9})] == [True, False]


def test_an_update_raises_floors_and_lowers_none() -> None:
    better = FLOORS.updated({RECALL: 0.9, LOST: 0.0}, TODAY).by_name
    assert better[RECALL] == Floor(round(0.9 - SLACK, 4), ">=", 0.9, "2026-11-25")
    assert better[LOST] == Floor(0.01, "<=", 0.0, "2026-11-25")
    worse = FLOORS.updated({RECALL: 0.5, LOST: 0.3}, TODAY).by_name
    assert (worse[RECALL].bound, worse[LOST].bound) == (0.8, 0.01)
    assert worse[RECALL].measured == 0.5


def test_a_new_figure_gets_a_floor_or_a_ceiling() -> None:
    made = FLOORS.updated({"cases: clean": 0.6, "cases: forbidden": 0.2, "eval natural: zh screen": 0.01}, TODAY)
    signs = {name: each.sign for name, each in made.by_name.items()}
    assert (signs["cases: clean"], signs["cases: forbidden"], signs["eval natural: zh screen"]) == (">=", "<=", "<=")
    assert RECALL in made.by_name


def test_a_written_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    path.write_text(FLOORS.written())
    assert read(path) == FLOORS


def test_a_figure_without_a_floor_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    path.write_text('{"some": {"measured": 0.5, "on": "2026-11-25"}}')
    with pytest.raises(ValueError, match="some needs a floor or a ceiling"):
        read(path)


def test_every_committed_floor_is_met_by_its_recorded_value() -> None:
    for name, floor in read(FILE).by_name.items():
        assert floor.holds(floor.measured), name
