"""How often the rules' intent equals that of a person: `dev` shaped the rules, `held` was written after them."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.vocabulary import Intent
from shared.extraction.intent import understand

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("intents.jsonl").read_text().splitlines()
]


def _share_right(**wanted: str) -> float:
    of = [row for row in ROWS if all(row[name] == value for name, value in wanted.items())]
    return sum(understand(row["say"]).intent == row["intent"] for row in of) / len(of)


def test_the_set_has_both_languages_and_every_intent() -> None:
    counted: dict[str, int] = defaultdict(int)
    for row in ROWS:
        counted[row["intent"]] += 1
        counted[row["language"]] += 1
    assert set(Intent.__args__) <= set(counted)
    assert min(counted["zh"], counted["en"]) >= 100
    assert counted["mixed"] >= 10
    assert len({row["say"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("part", "floor"), [("dev", 0.95), ("held", 0.85)])
def test_intents_equal_those_of_a_person(
    part: str, floor: float, record_property: Callable[[str, object], None]
) -> None:
    share = _share_right(part=part)
    record_property(f"intents {part}", round(share, 3))
    missed = [row["say"] for row in ROWS if row["part"] == part and understand(row["say"]).intent != row["intent"]]
    assert share >= floor, missed


@pytest.mark.parametrize("language", ["zh", "en", "mixed"])
def test_every_language_reaches_its_floor(language: str) -> None:
    assert _share_right(language=language) >= 0.9


@pytest.mark.parametrize("intent", Intent.__args__)
def test_every_intent_reaches_its_floor(intent: str) -> None:
    assert _share_right(intent=intent) >= 0.9
