"""A relative's facts are distinguished from the user's own."""

import pytest

from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.lasting import SURE, estimate_sentences
from shared.extraction.learned import read
from shared.extraction.relatives import (
    asks_own_health,
    speaks_of_health,
    tells_limit_of_somebody,
    tells_of_relative,
    tells_what_lasts,
)
from tests.unit.extraction.say import stated


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
def test_the_person_whom_a_statement_is_about(text: str, relative: bool, health: bool) -> None:
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
def test_the_person_whose_health_is_asked_about(question: str, own: bool) -> None:
    assert asks_own_health(question) is own


@pytest.mark.parametrize(
    "text",
    [
        "My friend Dana runs a bakery in Leeds",
        "My colleague Priya speaks five languages",
        "My cousin Tom works as a nurse in Bristol",
        "我朋友小林在成都开了一家面馆",
        "我同事老王住在昌平",
        "我表姐在医院当护士",
        "my manager's called Oke, seems lovely",
        "小满爸爸海鲜过敏",
        "我妈血糖高",
    ],
)
def test_a_relatives_facts_are_extracted_by_a_permissive_policy(text: str) -> None:
    clauses = split(text)
    stand = stances(clauses)
    (likely,) = estimate_sentences(text, clauses, stand, read(clauses)).values()
    assert likely >= SURE + 0.1
    assert [one.text for one in stated(text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "My friend is so funny",
        "My friend is a doctor",
        "我朋友是医生",
        "我同事住在昌平",
        "My boss is a pain",
        "My sister has a cold",
        "My cousin works too hard today",
        "我同事今天迟到了",
        "我朋友在等我",
        "我老板是不是疯了",
    ],
)
def test_passing_remarks_about_relatives_are_not_extracted(text: str) -> None:
    assert not tells_what_lasts(text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("Dana is coming too, she's coeliac so no soy sauce", True),
        ("Bob doesn't eat pork", True),
        ("我婆婆血糖高，少放糖", True),
        ("虾别放，小满爸爸海鲜过敏", True),
        ("I'm allergic to nuts", False),
        ("Disney can't have big characters there", False),
        ("我对花生过敏", False),
        ("对象是糖尿病老人", False),
    ],
)
def test_the_person_whom_a_constraint_concerns(text: str, *, limit: bool) -> None:
    assert tells_limit_of_somebody(text) is limit
