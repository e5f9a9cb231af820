"""What a memory says beside that which a statement ends stays; within one message a slip is mended."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from shared.resolution.remaining import LONGEST

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> list[str]:
    """What stands in memory after these turns."""
    world = World()
    for minute, text in enumerate(turns):
        world.hear(text, "s", AT + timedelta(minutes=minute))
    return sorted(known.text for known in world.active.values() if not known.name_alone)


@pytest.mark.parametrize(
    ("said", "change", "stays", "ends"),
    [
        ("我烟一天半包，酒一口不碰，体检尿酸偏高", "烟戒了，今天第十天", "酒一口不碰，体检尿酸偏高", "半包"),
        ("女儿对鸡蛋过敏，今年五岁，爱画画", "女儿复查过了，鸡蛋不过敏了", "爱画画", "女儿对鸡蛋过敏"),
        (
            "I'm under Dr Whitcombe for my thyroid, he put me on 100 of levothyroxine.",
            "My consultant's changed, I'm seen by a Dr Rahmani at the Northgate clinic now.",
            "levothyroxine",
            "Whitcombe",
        ),
        ("I live in Omaha and work from home", "I moved to Des Moines last week", "work from home", "Omaha"),
        ("Our standup is at 9, I take the notes, Priya runs it", "standup moved to 10", "I take the notes", "at 9"),
    ],
)
def test_the_rest_of_a_memory_stays_when_a_part_of_it_ends(said: str, change: str, stays: str, ends: str) -> None:
    texts = remembered(said, change)
    assert any(stays in text for text in texts), texts
    assert not any(ends in text for text in texts), texts


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("我住在公司宿舍，四人间", "终于在学校旁边租到房子了，一室一厅"),
        ("我喜欢喝咖啡", "我不喝咖啡了"),
        ("I live in Omaha", "I moved to Des Moines last week"),
    ],
)
def test_a_memory_of_one_thing_ends_as_a_whole(said: str, change: str) -> None:
    assert not any(said.split("，")[-1] in text for text in remembered(said, change))


@pytest.mark.parametrize(
    ("said", "forget"),
    [
        ("My ex is called Tarn, we share the dog week on week off", "Forget what I said about Tarn"),
        ("我前任叫陈涛，狗一人带一周", "忘掉我说的陈涛的事"),
    ],
)
def test_nothing_remains_of_what_is_to_be_forgotten(said: str, forget: str) -> None:
    assert not [text for text in remembered(said, forget) if "Tarn" in text or "陈涛" in text]


def test_what_another_city_takes_the_place_of_is_not_another_persons() -> None:
    assert any("Leeds" in text for text in remembered("I live in Leeds", "My brother moved to Oslo last week"))


def test_of_a_long_rest_the_first_parts_stay() -> None:
    rest = [f"my cousin number {n} has a boat called Blue {n}" for n in range(20)]
    (text,) = remembered("I smoke a pack a day, " + ", ".join(rest), "I quit smoking, day 10")
    assert text.startswith("I quit smoking")
    assert rest[0] in text
    assert rest[-1] not in text
    assert len(text) <= LONGEST + len("I quit smoking, day 10; ")
