"""Facts that a sentence explicitly ends: by saying that they are over, by a new holder of a role, or by a return."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from shared.extraction.changes import find_ended_things
from shared.resolution.plain_endings import does_otherwise, find_returned_to
from shared.resolution.roles import fill_one_role, refills_another_role, refills_role

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> str:
    """The active memories after these turns, as one text."""
    world = World()
    for day, text in enumerate(turns):
        world.hear(text, "s", AT + timedelta(days=day))
    return " | ".join(sorted(known.text for known in world.active.values() if not known.name_alone))


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("cancelled the Lisbon trip, they refunded us", ("lisbon trip",)),
        ("I'm done with the choir", ("choir",)),
        ("the book club is off", ("book club",)),
        ("no more oat milk", ("oat milk",)),
        ("I don't do pilates any more", ("pilates",)),
        ("last day at Harlow's", ("harlow's",)),
        ("瑜伽我放弃了", ("瑜伽",)),
        ("吉他不学了", ("吉他",)),
        ("取消那趟大理的行程", ("那趟大理的行程",)),
        ("I'm off to work", ()),
        ("they cancelled her show", ()),
        ("He said the choir is off", ("he said the choir",)),
        ("check them out", ()),
        ("他走了很久", ()),
    ],
)
def test_a_clause_names_what_is_over(text: str, things: tuple[str, ...]) -> None:
    assert find_ended_things(text) == things


@pytest.mark.parametrize(
    ("before", "now", "gone", "stays"),
    [
        ("I sing in the Marlow choir, every Tuesday at 7", "quit the choir", "every Tuesday", ""),
        ("周二晚上学吉他，一节课两百，另外我还养了只鹦鹉", "吉他不学了，没时间", "两百", "鹦鹉"),
        ("下周三飞大理开会，住古城那边", "大理那趟取消了", "住古城", ""),
    ],
)
def test_an_ended_fact_is_removed_with_its_details_and_the_rest_stays(
    before: str, now: str, gone: str, stays: str
) -> None:
    left = remembered(before, now)
    assert gone not in left
    assert stays in left


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


def test_two_holders_coexist_if_the_text_says_so() -> None:
    assert fill_one_role("we use Jenkins", "builds run on Travis")
    assert not fill_one_role("we also use Jenkins", "builds run on Travis")


def test_a_change_of_one_fact_keeps_another() -> None:
    assert refills_another_role("换医院了", "我是护士")
    assert "我是护士" in remembered("我是护士，在市一院上班", "换医院了")


@pytest.mark.parametrize(
    ("sentence", "memory", "otherwise"),
    [("改喝燕麦奶了", "早上喝豆浆", True), ("改喝燕麦奶了", "住在城南", False), ("换骑电动车", "上班骑车", True)],
)
def test_another_object_of_the_same_verb_is_kept(sentence: str, memory: str, *, otherwise: bool) -> None:
    assert does_otherwise(sentence, memory) is otherwise


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        ("I'm back at the old desk", ("the old desk",)),
        ("the sync is on mondays again", ("the sync is on mondays",)),
        ("还是坐地铁吧", ("坐地铁",)),
        ("get back to me", ("me",)),
        ("see you again", ("see you",)),
        ("回答我", ()),
    ],
)
def test_a_sentence_names_what_is_resumed(text: str, returned: tuple[str, ...]) -> None:
    assert find_returned_to(text) == returned


def test_a_return_ends_the_interim_state() -> None:
    left = remembered(
        "team sync is on mondays at 9", "sync got moved to fridays at 3", "the sync is on mondays again, at 9"
    )
    assert "fridays" not in left
    assert "mondays" in left
