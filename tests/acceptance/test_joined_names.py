"""A person with two names is found by either once the user has said so, until that statement is erased."""

import pytest

from tests.system.erasures import completed, erase
from tests.system.person import Person, shown

SAID = {
    "zh": (
        "我同事王芳，大家叫她芳姐。",
        "王芳下周要去大连培训。",
        "芳姐上周买了一台二手钢琴。",
        "芳姐最近怎么样？",
        "王芳最近怎么样？",
    ),
    "zh, both scripts": (
        "李明（Li Ming）是我们组的产品经理。",
        "李明负责结算系统的重构。",
        "Li Ming signed the lease for the Dalian office.",
        "What do you know about Li Ming?",
        "李明最近怎么样？",
    ),
    "en": (
        "Robert, everyone calls him Bob, is my flatmate.",
        "Robert is training for the Lisbon marathon.",
        "Bob broke his wrist at the climbing hall.",
        "What do you know about Bob?",
        "What do you know about Robert?",
    ),
}
TOLD = {"zh": ("大连", "钢琴"), "zh, both scripts": ("结算", "lease"), "en": ("Lisbon", "wrist")}
NOISE = (
    "今天中午吃了牛肉面。",
    "The printer on the third floor is broken again.",
    "下午开了三个小时的会。",
    "I bought new curtains for the kitchen.",
)
cases = pytest.mark.parametrize("case", SAID)


async def tell(person: Person, case: str) -> None:
    """Commits everything except the names among other messages, then the names in a session of their own."""
    names, first, second, *_ = SAID[case]
    for n, text in enumerate((*NOISE, first, second)):
        await person.say(text, session=f"s{n}")
    await person.say(names, session="names")


@cases
async def test_a_question_with_either_name_finds_statements_about_both(person: Person, case: str) -> None:
    await tell(person, case)
    for asked, told in zip(SAID[case][3:], TOLD[case], strict=True):
        assert told in shown(await person.compose(asked)), asked


@cases
async def test_the_names_are_separate_after_the_turn_that_joined_them_is_erased(person: Person, case: str) -> None:
    await tell(person, case)
    joined = "SELECT count(*) FROM entity_mentions WHERE user_id = %(u)s AND same_as IS NOT NULL"
    assert person.number(joined) == 1
    await completed(person, await erase(person, "session", session_ids=["names"]))
    assert person.number(joined) == 0
    for asked, told in zip(SAID[case][3:], TOLD[case], strict=True):
        assert told not in shown(await person.compose(asked)), asked
