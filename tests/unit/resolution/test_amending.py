"""A short message corrects a value in the memory to which it refers, and states nothing by itself."""

# ruff: noqa: E501 - one case a line

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from tests.unit.extraction.say import stated

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> list[str]:
    world = World()
    for minute, text in enumerate(turns):
        world.hear(text, "s", AT + timedelta(minutes=minute))
    return sorted(known.text for known in world.active.values() if not known.name_alone)


@pytest.mark.parametrize(
    ("said", "correction", "stands"),
    [
        ("我住在杭州，在医院上班", "不是杭州，是苏州", "我住在苏州，在医院上班"),
        ("下周三下午两点半我约了牙医", "啊我看错了，是下周四", "下周四下午两点半我约了牙医"),
        ("装修预算我这边最多十二万", "说错了，十五万", "装修预算我这边最多十五万"),
        ("我点外卖都写三号楼", "四号楼，打错了", "我点外卖都写四号楼"),
        ("my budget for the couch is 500 dollars tops", "sorry, not 500, 800", "my budget for the couch is 800 dollars tops"),
        ("My dentist appointment is on Tuesday at 3pm", "i meant Thursday", "My dentist appointment is on Thursday at 3pm"),
        ("my flight to Denver is on the 14th", "ugh no, the 15th", "my flight to Denver is on the 15th"),
        ("I wear size 10 boots", "make that 11", "I wear size 11 boots"),
        ("I'm in unit 4B", "sorry, 4D", "I'm in unit 4D"),
    ],
)  # fmt: skip
def test_the_memory_has_the_new_value_in_place_of_the_old(said: str, correction: str, stands: str) -> None:
    assert remembered(said, correction) == [stands]


@pytest.mark.parametrize(
    ("said", "change", "stands"),
    [
        ("My manager Tom likes short status updates on Mondays", "btw my manager is Dana now", "Dana"),
        ("我的健身教练是阿凯，周二周四上课", "教练换成了小林", "小林"),
    ],
)
def test_the_holder_of_a_role_is_replaced_if_the_memory_names_the_role(said: str, change: str, stands: str) -> None:
    (one,) = remembered(said, change)
    assert stands in one
    assert "Tom" not in one
    assert "阿凯" not in one


@pytest.mark.parametrize("text", ["sorry, I can't make it", "no, thanks", "wait", "是的", "不对", "Thanks!"])
def test_another_short_message_changes_nothing(text: str) -> None:
    said = "My dentist appointment is on Tuesday at 3pm"
    assert remembered(said, text) == [said]


def test_an_amendment_without_a_memory_leaves_nothing() -> None:
    assert remembered("no, the 15th") == []
    assert remembered("不是周三，是周四") == []


def test_names_of_different_spelling_are_not_exchanged() -> None:
    said = "My neighbour Ahmed waters the plants while I'm away in June"
    assert remembered(said, "it's Katarzyna") == [said]


def test_text_after_an_amendment_is_extracted_as_well() -> None:
    found = stated("not 500, 800. I share a flat in Leeds with my brother Sam and his two cats")
    assert [one.text for one in found if one.assertion == "declared"] == [
        "I share a flat in Leeds with my brother Sam and his two cats"
    ]
