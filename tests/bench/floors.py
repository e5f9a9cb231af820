"""What figures are held to: a floor or a ceiling for each, with the figure of the day it was set. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

FILE = Path(__file__).parents[1] / "eval" / "floors.json"
SLACK = 0.015
"""So far may a figure fall before it fails: what differs from run to run, and a question or two."""
CEILINGS = ("forbidden", "not found by their own words", "eval natural: ", "messages that end")
"""What is in the name of a figure that is better the lower it is."""


@dataclass(frozen=True)
class Floor:
    """The least that a figure may be, or the most; what it was when that was set, and when that was."""

    bound: float
    sign: Literal[">=", "<="]
    measured: float
    set_on: str

    def holds(self, today: float | None) -> bool:
        """Whether this figure is good enough; one that is absent is not."""
        if today is None:
            return False
        return today >= self.bound if self.sign == ">=" else today <= self.bound


@dataclass(frozen=True)
class Verdict:
    """A figure beside its floor."""

    name: str
    floor: Floor
    today: float | None

    @property
    def holds(self) -> bool:
        """Whether the figure is good enough."""
        return self.floor.holds(self.today)


@dataclass(frozen=True)
class Floors:
    """All floors by the names of their figures."""

    by_name: Mapping[str, Floor]

    def updated(self, measured: Mapping[str, float], today: date) -> "Floors":
        """Each figure that is measured has today's value, and its floor is raised to it, less the slack; never lowered.

        A floor whose figure is no longer measured stands: taking it out is done by hand, and so is lowering it.
        """
        changed = {name: _raised(self.by_name.get(name), name, value, today) for name, value in measured.items()}
        return Floors({**self.by_name, **changed})

    def written(self) -> str:
        """The file's text."""
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
    """The floors of a file; ValueError where a figure has none."""
    found: dict[str, Floor] = {}
    for name, row in json.loads(path.read_text()).items():
        if ("floor" in row) == ("ceiling" in row):
            raise ValueError(f"{path}: {name} needs a floor or a ceiling")
        sign: Literal[">=", "<="] = ">=" if "floor" in row else "<="
        bound = row["floor"] if "floor" in row else row["ceiling"]
        found[name] = Floor(float(bound), sign, float(row["measured"]), row["on"])
    return Floors(found)


def _raised(known: Floor | None, name: str, value: float, today: date) -> Floor:
    if any(word in name for word in CEILINGS):
        bound = round(value + SLACK, 4)
        return Floor(min(bound, known.bound) if known else bound, "<=", value, today.isoformat())
    bound = round(max(0.0, value - SLACK), 4)
    return Floor(max(bound, known.bound) if known else bound, ">=", value, today.isoformat())


def verdicts(floors: Floors, measured: Mapping[str, float]) -> list[Verdict]:
    """Every floor's verdict in the file's order."""
    return [Verdict(name, floor, measured.get(name)) for name, floor in floors.by_name.items()]
