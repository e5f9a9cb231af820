"""The limits of figures: a floor or a ceiling for each, with the value on the day it was set. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

FILE = Path(__file__).parents[1] / "eval" / "floors.json"
SLACK = 0.015
"""A figure may fall this far before it fails: variation between runs, and a question or two."""
CEILINGS = ("forbidden", "not found by their own words", "eval natural: ", "messages that end")
"""Words in the names of figures for which lower is better."""


@dataclass(frozen=True)
class Floor:
    """The minimum or maximum of a figure, its value when the limit was set, and that date."""

    bound: float
    sign: Literal[">=", "<="]
    measured: float
    set_on: str

    def holds(self, today: float | None) -> bool:
        """Whether this value meets the limit; a missing value does not."""
        if today is None:
            return False
        return today >= self.bound if self.sign == ">=" else today <= self.bound


@dataclass(frozen=True)
class Verdict:
    """A figure and its limit."""

    name: str
    floor: Floor
    today: float | None

    @property
    def holds(self) -> bool:
        """Whether the figure meets its limit."""
        return self.floor.holds(self.today)


@dataclass(frozen=True)
class Floors:
    """All limits by the names of their figures."""

    by_name: Mapping[str, Floor]

    def updated(self, measured: Mapping[str, float], today: date) -> "Floors":
        """Sets the value of each measured figure to today's, and raises its floor to that less the slack; never lowers
        it.

        A floor whose figure is no longer measured stays: floors are removed or lowered by hand.
        """
        changed = {name: _raise_floor(self.by_name.get(name), name, value, today) for name, value in measured.items()}
        return Floors({**self.by_name, **changed})

    def written(self) -> str:
        """The text of the file."""
        rows = {
            name: {
                ("floor" if each.sign == ">=" else "ceiling"): each.bound,
                "measured": each.measured,
                "on": each.set_on,
            }
            for name, each in self.by_name.items()
        }
        lines = [f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(row)}" for name, row in rows.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: Path = FILE) -> Floors:
    """The limits in a file; ValueError if a figure has none."""
    found: dict[str, Floor] = {}
    for name, row in json.loads(path.read_text()).items():
        if ("floor" in row) == ("ceiling" in row):
            raise ValueError(f"{path}: {name} needs a floor or a ceiling")
        sign: Literal[">=", "<="] = ">=" if "floor" in row else "<="
        bound = row["floor"] if "floor" in row else row["ceiling"]
        found[name] = Floor(float(bound), sign, float(row["measured"]), row["on"])
    return Floors(found)


def _raise_floor(known: Floor | None, name: str, value: float, today: date) -> Floor:
    if any(word in name for word in CEILINGS):
        bound = round(value + SLACK, 4)
        return Floor(min(bound, known.bound) if known else bound, "<=", value, today.isoformat())
    bound = round(max(0.0, value - SLACK), 4)
    return Floor(max(bound, known.bound) if known else bound, ">=", value, today.isoformat())


def verdicts(floors: Floors, measured: Mapping[str, float]) -> list[Verdict]:
    """Every figure with its limit, in the file's order."""
    return [Verdict(name, floor, measured.get(name)) for name, floor in floors.by_name.items()]
