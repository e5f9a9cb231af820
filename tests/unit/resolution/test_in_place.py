"""A sentence that ends one fact and states its replacement becomes one complete memory, and the old one ends."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
CHANGED = [
    ("我喜欢喝咖啡", "我现在不喝咖啡了，改喝乌龙茶"),
    ("我平时用VS Code写代码", "VS Code我已经不用了，换成Neovim了"),
    ("我女儿喜欢弹钢琴", "我女儿不弹钢琴了，改学小提琴"),
    ("I like oat milk in my coffee", "I've gone off oat milk, back to normal milk"),
    ("I like running in the park", "I don't run anymore, I swim instead"),
    ("I use VS Code", "I've ditched VS Code for Neovim"),
    ("I take the bus to work", "I gave up the bus, cycling to work these days"),
]


def known_after(*said: str) -> list[str]:
    """The active memories after these messages, committed a day apart."""
    world = World()
    for day, text in enumerate(said):
        world.hear(text, f"s{day}", AT + timedelta(days=day))
    return [memory.text for memory in world.active.values() if not memory.name_alone]


@pytest.mark.parametrize(("before", "later"), CHANGED)
def test_the_old_memory_ends_and_the_new_one_is_the_whole_sentence(before: str, later: str) -> None:
    assert known_after(before, later) == [later]


@pytest.mark.parametrize("later", [later for _, later in CHANGED])
def test_the_sentence_is_stored_without_an_earlier_memory(later: str) -> None:
    assert known_after(later) == [later]


@pytest.mark.parametrize(
    ("before", "later"),
    [
        ("我每天早上喝咖啡", "我现在不喝绿茶了，改喝红茶"),
        ("I love dark roast coffee", "I've gone off oat milk, back to normal milk"),
    ],
)
def test_another_fact_of_the_same_kind_stays(before: str, later: str) -> None:
    assert known_after(before, later) == [before, later]


def test_a_list_of_things_is_one_denial() -> None:
    assert known_after("I no longer eat meat, fish or dairy") == []
