"""A relative's fact is told from the user's own."""

import pytest

from shared.extraction.relatives import asks_own_health, speaks_of_health, tells_of_relative


@pytest.mark.parametrize(
    ("text", "relative", "health"),
    [
        ("My dad was diagnosed with diabetes last week.", True, True),
        ("我爸上周查出糖尿病了", True, True),
        ("My mother is allergic to nuts.", True, True),
        ("我妈对海鲜过敏", True, True),
        ("我女儿今年五岁", True, False),
        ("Dad was diagnosed with type 2 diabetes on Tuesday", True, True),
        ("Mom and I are both vegetarian", False, False),
        ("老妈下周做白内障手术", True, True),
        ("孩子发烧了，请假一天", True, False),
        ("妈呀，吓死我了", False, False),
        ("My laptop is broken", False, False),
        ("I have a peanut allergy", False, True),
        ("对花生过敏", False, True),
        ("I love my dad's cooking", False, False),
    ],
)
def test_of_whom_it_tells(text: str, relative: bool, health: bool) -> None:
    assert (tells_of_relative(text), speaks_of_health(text)) == (relative, health)


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("What health conditions do I have?", True),
        ("我对什么过敏？", True),
        ("What was my dad diagnosed with?", False),
        ("我爸得了什么病", False),
        ("What did I eat?", False),
    ],
)
def test_whose_health_is_asked_about(question: str, own: bool) -> None:
    assert asks_own_health(question) is own
