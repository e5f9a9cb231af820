"""The names that represent an active session."""

import pytest

from services.observer.rows import TurnNames, grow_slots
from shared.extraction.model import Mention


def named(seq: int, *names: str, retracted: tuple[str, ...] = ()) -> list[TurnNames]:
    return [TurnNames(seq, [Mention(name, "person", name.lower(), (0, len(name)), 0) for name in names], retracted)]


def test_a_name_is_counted_with_its_latest_turn() -> None:
    slots = grow_slots(grow_slots({}, named(1, "林雨", "Marta"), 5), named(4, "林雨"), 5)
    assert slots["person:林雨"] == {"name": "林雨", "kind": "person", "mentions": 2, "last_seq": 4}
    assert slots["person:marta"]["mentions"] == 1


def test_one_name_of_two_kinds_is_two() -> None:
    place = TurnNames(1, [Mention("Paris", "place", "paris", (0, 5), 0)])
    assert set(grow_slots({}, [*named(1, "Paris"), place], 5)) == {"person:paris", "place:paris"}


def test_the_names_are_limited_and_a_new_one_can_rise() -> None:
    slots = grow_slots({}, [each for seq in range(1, 9) for each in named(seq, "A", "B")], 2)
    for seq in range(9, 40):
        slots = grow_slots(slots, named(seq, f"x{seq}"), 2)
        assert len(slots) <= 4
    for seq in range(40, 49):
        slots = grow_slots(slots, named(seq, "Newcomer"), 2)
    assert next(iter(slots)) == "person:newcomer"


def test_existing_names_are_not_changed_in_place() -> None:
    before = grow_slots({}, named(1, "A"), 2)
    grow_slots(before, named(2, "A"), 2)
    assert before["person:a"]["mentions"] == 1


def test_none_are_stored_if_policy_allows_none() -> None:
    assert grow_slots({}, named(1, "A"), 0) == {}


def test_a_retracted_name_is_excluded_until_it_is_stated_again() -> None:
    before = grow_slots({}, [*named(1, "Jon", "王芳"), *named(2, "Jon")], 5)
    after = grow_slots(before, named(3, "Jon", "李明", retracted=("jon",)), 5)
    assert set(after) == {"person:王芳", "person:李明"}
    assert grow_slots(after, named(4, "Jon"), 5)["person:jon"]["mentions"] == 1


@pytest.mark.parametrize(
    ("names", "retracted", "left"),
    [
        (("Java", "JavaScript"), "JavaScript", ["Java"]),
        (("Ann", "Oslo"), "annual leave", ["Ann", "Oslo"]),
        (("Ann", "Oslo"), "dinner with Ann", ["Oslo"]),
        (("上海", "李明"), "上海市", ["李明"]),
        (("Java", "Go语言"), "用Java写", ["Go语言"]),
    ],
)
def test_a_retraction_removes_only_the_names_that_it_contains(
    names: tuple[str, ...], retracted: str, left: list[str]
) -> None:
    after = grow_slots(grow_slots({}, named(1, *names), 5), named(2, retracted=(retracted,)), 5)
    assert [slot["name"] for slot in after.values()] == left
