"""What a sentence plainly ends: a role that has another holder now."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from shared.resolution.related import about
from shared.resolution.roles import fill_one_role, refills_another_role, refills_role

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> str:
    """What stands in memory after these turns, as one text."""
    world = World()
    for day, text in enumerate(turns):
        world.hear(text, "s", AT + timedelta(days=day))
    return " | ".join(sorted(known.text for known in world.active.values() if not known.name_alone))


@pytest.mark.parametrize(
    ("sentence", "memory", "refilled"),
    [
        ("finally switched phones", "I've got a Pixel 4", True),
        ("my dentist retired", "I see the orthodontist on Mill Road", True),
        ("浏览器换成别的了", "平时用Firefox上网", True),
        ("房东换人了", "房东姓白，人不错", True),
        ("my new phone is great", "my sister has an iPhone", False),
        ("got a new phone", "the gym is on Mill Road", False),
        ("新同事很好", "我的房东姓白", False),
    ],
)
def test_a_role_has_one_holder_at_a_time(sentence: str, memory: str, *, refilled: bool) -> None:
    assert refills_role(sentence, memory) is refilled


def test_two_holders_stand_where_one_is_said_to_be_beside_the_other() -> None:
    assert fill_one_role("we use Jenkins", "builds run on Travis")
    assert not fill_one_role("we also use Jenkins", "builds run on Travis")


def test_who_changes_one_thing_keeps_another() -> None:
    assert refills_another_role("换医院了", "我是护士")
    assert "我是护士" in remembered("我是护士，在市一院上班", "换医院了")


def test_texts_that_fill_one_role_find_each_other() -> None:
    assert set(about("finally a new phone").signs) & set(about("I have a Pixel 4").signs)
    assert set(about("浏览器换了").signs) & set(about("平时用Firefox").signs)
