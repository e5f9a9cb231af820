"""Plain statements in everyday language are extracted; jokes and passing remarks leave nothing."""

import pytest

from shared.extraction.changes import find_ended_things
from tests.unit.extraction.say import stated


@pytest.mark.parametrize(
    "text",
    [
        "remember that i'm an idiot 😂",
        "can't stop laughing at that",
        "haven't a clue what you mean",
        "what i mean is the second one",
        "i need you to shorten that",
        "记住我是条咸鱼，哈哈",
        "最近烦死了",
        "我先看看再说",
    ],
)
def test_jokes_and_passing_remarks_leave_nothing(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "can't do mondays anymore, childcare fell through",
        "what i'm really saving for is a new roof, about 8 grand",
        "our shop runs on Shopify if that matters for the export",
        "need to renew my passport before june",
        "我们用的是飞书，如果有影响的话",
        "还要去银行换社保卡",
    ],
)
def test_plain_statements_are_extracted(text: str) -> None:
    assert stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "could you make your replies less formal please?",
        "can you keep answers short?",
        "你回答能短一点吗？",
        "说话能不能直接点",
        "when you send me recipes can you put the times first",
    ],
)
def test_an_order_phrased_as_a_question_is_an_order(text: str) -> None:
    (one,) = stated(text)
    assert one.assertion == "directive"


@pytest.mark.parametrize("text", ["can you keep this answer for later?", "can you give me the answers to this quiz?"])
def test_a_wish_about_one_answer_is_no_order(text: str) -> None:
    assert stated(text) == []


def test_a_reminder_contains_its_whole_sentence() -> None:
    (one,) = stated("周四晚上八点要上课，我得早点走，你记着提醒我")
    assert (one.kind, one.assertion, one.text) == ("task", "directive", "周四晚上八点要上课，我得早点走，你记着提醒我")


@pytest.mark.parametrize(
    "text",
    [
        "check this for me, it's from the council: 'Dear resident, your bins are emptied on Thursdays from 8 January. "
        "Please have them out by 7am. Regards, Waste Services'. is that right?",
        "学校老师发来的：“各位家长，下周三上午家长开放日，请准时到校签到。”帮我记个重点",
        "群里转的，啥意思：【物业通知】自1月1日起，地下车库停车费由每月三百元调整为三百五十元，请各位业主知悉。",
    ],
)
def test_a_forwarded_text_is_not_the_users_statement(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize("text", ["今晚不跑了", "外面下雨，今天不出门了"])
def test_a_plan_postponed_to_tonight_is_not_over(text: str) -> None:
    assert find_ended_things(text) == ()


@pytest.mark.parametrize("text", ["He is flying to Boston next Wednesday.", "他下周三要出差"])
def test_who_is_only_called_he_or_she_leaves_no_memory(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "They changed my shift to nights starting Monday.",
        "they cancelled our flight to Porto, rebooked for the 14th",
        "She is my new manager at Acme, her name is Priya",
        "他们把我的班调到周四了",
    ],
)
def test_what_others_did_to_something_of_the_user_is_kept(text: str) -> None:
    assert stated(text)
