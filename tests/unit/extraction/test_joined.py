"""Two names of one person or thing are joined only if the text says so, in both languages."""

import pytest

from services.compose.rules.planning.questions import list_respellings
from tests.unit.extraction.say import said

JOINED = [
    ("李明（Li Ming）是我们组的产品经理", "李明", "Li Ming"),
    ("我同事王芳，大家都叫她芳姐，人很好", "王芳", "芳姐"),
    ("我朋友陈晓东，英文名Tony", "陈晓东", "Tony"),
    ("Tony，大家叫他小东", "Tony", "小东"),
    ("我在北京（Beijing）出差", "北京", "Beijing"),
    ("Robert, everyone calls him Bob, is my flatmate", "Robert", "Bob"),
    ("My boss is Jonathan, we all call him Jon.", "Jonathan", "Jon"),
    ("Elizabeth, aka Liz, joined us", "Elizabeth", "Liz"),
    ("My cousin Margaret goes by Peggy", "Margaret", "Peggy"),
]
APART = [
    "李明（Google）来了",
    "Paris (France) is nice",
    "他叫我起床",
    "大家叫他别来",
    "妈妈叫我吃饭",
    "王芳叫李明来开会",
    "John calls me on Sundays",
    "I told Mary everyone calls him crazy",
    "Anna (Tom's sister) is here",
]


@pytest.mark.parametrize(("text", "name", "other"), JOINED)
def test_the_text_joins_the_names(text: str, name: str, other: str) -> None:
    mentions = said(text).mentions
    assert [(each.name, each.same_as) for each in mentions if each.same_as] == [(name, other)]
    assert other in {each.name for each in mentions}


@pytest.mark.parametrize("text", APART)
def test_other_text_joins_nothing(text: str) -> None:
    assert not [each for each in said(text).mentions if each.same_as]


def test_the_assistants_text_joins_nothing() -> None:
    assert not [each for each in said(JOINED[0][0], role="assistant").mentions if each.same_as]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("芳姐最近怎么样？", ["王芳最近怎么样？"]),
        ("What happened to bob?", ["What happened to Robert?", "What happened to Bobby?"]),
        ("Robert's plans", ["Bob's plans", "Bobby's plans"]),
        ("Are Bob, Robert and Bobby one?", []),
        ("bobsled training", []),
    ],
)
def test_a_question_is_asked_in_the_other_spellings(question: str, asked: list[str]) -> None:
    assert list_respellings(question, [("王芳", "芳姐"), ("Robert", "Bob"), ("Bob", "Bobby")]) == asked
