"""The parts of a memory that a statement does not end stay; a slip within one message is corrected."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from shared.resolution.remaining import LONGEST

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> list[str]:
    """The active memories after these turns."""
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
def test_a_memory_of_one_fact_ends_completely(said: str, change: str) -> None:
    assert not any(said.split("，")[-1] in text for text in remembered(said, change))


@pytest.mark.parametrize(
    ("said", "change", "asked"),
    [
        ("I live in Omaha, please remember it", "I moved to Des Moines last week", "remember it"),
        ("Our standup is at 9 in room 4, keep that at hand please", "standup moved to 10", "at hand"),
        ("我住在公司宿舍，帮我记一下", "终于在学校旁边租到房子了，一室一厅", "记一下"),
    ],
)
def test_a_request_to_remember_goes_with_what_it_is_about(said: str, change: str, asked: str) -> None:
    assert not any(asked in text for text in remembered(said, change))


@pytest.mark.parametrize(
    ("said", "forget"),
    [
        ("My ex is called Tarn, we share the dog week on week off", "Forget what I said about Tarn"),
        ("我前任叫陈涛，狗一人带一周", "忘掉我说的陈涛的事"),
    ],
)
def test_nothing_remains_of_a_memory_to_forget(said: str, forget: str) -> None:
    assert not [text for text in remembered(said, forget) if "Tarn" in text or "陈涛" in text]


def test_a_fact_replaced_by_another_city_is_not_another_persons() -> None:
    assert any("Leeds" in text for text in remembered("I live in Leeds", "My brother moved to Oslo last week"))


def test_the_first_parts_of_a_long_rest_stay() -> None:
    rest = [f"my cousin number {n} has a boat called Blue {n}" for n in range(20)]
    texts = remembered("I smoke a pack a day, " + ", ".join(rest), "I quit smoking, day 10")
    left, said = sorted(texts, key=len, reverse=True)
    assert said.startswith("I quit smoking")
    assert left.startswith(rest[0])
    assert rest[-1] not in left
    assert len(left) <= LONGEST


@pytest.mark.parametrize(
    ("said", "change", "left"),
    [
        ("I live in Omaha and work from home", "I moved to Des Moines last week", "work from home"),
        ("Our standup is at 9, I take the notes", "standup moved to 10", "I take the notes"),
        (
            "my doctor is Dr. Osei, I see her for my thyroid",
            "I have a new doctor, Dr. Lind",
            "I see her for my thyroid",
        ),
        ("我烟一天半包，酒一口不碰", "烟戒了，今天第十天", "酒一口不碰"),
        ("工资卡是建行的，房贷从这张扣", "公司统一换银行，工资以后走中信", "房贷从这张扣"),
        ("我在杭州上班，女儿爱画画", "我跳槽了，现在在宁波上班", "女儿爱画画"),
    ],
)
def test_the_rest_is_a_separate_memory_in_its_own_words(said: str, change: str, left: str) -> None:
    texts = remembered(said, change)
    assert left in texts
    assert not any(left in text and text != left for text in texts), texts


@pytest.mark.parametrize(
    ("said", "change", "reason"),
    [
        ("I take the tram to work, because my knee is bad", "I no longer take the tram, I cycle now", "knee"),
        ("I go to the gym on Mondays, since my back hurts", "I cancelled the gym", "back hurts"),
        ("我不吃米饭了，主要是减肥", "我又吃回米饭了", "减肥"),
        ("我周末去健身房，主要是想减肥", "健身房我退了", "减肥"),
    ],
)
def test_a_reason_ends_with_its_consequence(said: str, change: str, reason: str) -> None:
    assert not any(reason in text for text in remembered(said, change))
