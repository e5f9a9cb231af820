"""Retractions in a message, and sentences that only resemble them, in both languages."""

from datetime import UTC, datetime

import pytest

from shared.extraction import MessageText, ObserveContext, ObservePolicy, TurnText, observe
from shared.extraction.retractions import find_last_sentence, find_retractions, find_taken_back

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (text, "joke")
            for text in ("just kidding", "haha jk", "I was only joking!", "开玩笑的啦", "逗你玩的", "骗你的哈哈")
        ),
        *((text, "joke") for text in ("just kidding, I'm still single", "haha jk, we stay here", "骗你的，我还单着呢")),
        *((text, "deleted") for text in ("Delete that.", "scratch that", "please delete that", "I take that back.")),
        *((text, "deleted") for text in ("forget what I just said", "当我没说。", "收回刚才的话", "刚才那句不算")),
        *(
            (text, "withdrawn")
            for text in ("Never mind, I'm not going.", "I changed my mind", "算了，不去了。", "我改主意了")
        ),
        *((text, "fell_through") for text in ("It fell through.", "那事黄了")),
    ],
)
def test_a_message_retracts_the_previous_one(text: str, why: str) -> None:
    assert [(each.why, each.takes_before) for each in find_retractions(text)] == [(why, True)]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("I'm moving to Mars next week. Just kidding!", "I'm moving to Mars next week."),
        ("I'm moving to Mars, just kidding.", "I'm moving to Mars,"),
        ("My favorite color is teal. Scratch that, it's navy.", "My favorite color is teal."),
        ("我下周要去火星。开玩笑的。", "我下周要去火星。"),
        ("I like tea. I have a tiger. Only joking.", " I have a tiger."),
    ],
)
def test_a_message_retracts_its_own_words(text: str, gone: str) -> None:
    assert [text[start:end] for start, end in find_taken_back(text)] == [gone]


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("The Lisbon trip fell through.", "Lisbon trip"),
        ("Sadly our wedding got called off.", "wedding"),
        ("里斯本旅行黄了。", "里斯本旅行"),
        ("聚餐泡汤了", "聚餐"),
        ("婚礼取消了。", "婚礼"),
        ("The Porto trip fell through, the bank said no.", "Porto trip"),
        ("厦门那事黄了，房东反悔了。", "厦门那事"),
    ],
)
def test_an_abandoned_plan_is_named(text: str, thing: str) -> None:
    (found,) = find_retractions(text)
    assert (found.why, (found.thing or "").removeprefix("Sadly our ")) == ("fell_through", thing)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "He was just kidding with me",
            "My brother is always kidding around",
            "Can you delete that?",
            "never mind",
            "算了",
        ),
        *(
            "I cancelled the gym membership",
            "delete that file and retry",
            "我和小王开玩笑的时候他生气了",
            "我同事特别爱开玩笑",
        ),
        *(
            "算了，还是喝茶吧",
            "取消了",
            "How do I delete what I said?",
            "跟你开个玩笑，我喜欢加班",
            "胡说，他才不会去",
        ),
        *(
            "Forget it, tell me about cats",
            "the light fell through the window",
            "当我没说话的时候",
            "I changed my password",
        ),
    ],
)
def test_other_messages_retract_nothing(text: str) -> None:
    assert find_retractions(text) == ()


def test_the_next_message_retracts_the_last_sentence() -> None:
    text = "I like tea. I adopted a tiger."
    assert text[slice(*find_last_sentence(text))].strip() == "I adopted a tiger."
    assert find_last_sentence("") == (0, 0)


def observed(text: str) -> list[tuple[str, bool, str | None]]:
    """The statements that a message leaves."""
    turn = TurnText((MessageText("user", text, None, 0, NOW),))
    found = observe(turn, ObserveContext(NOW, answer_before=""), ObservePolicy()).observations
    return [(each.detector, each.retracts, each.old_value) for each in found if each.kind != "entity"]


def test_words_retracted_in_the_same_message_are_not_learnt() -> None:
    assert observed("I live in Oslo.") != []
    assert [each for each in observed("I live in Oslo. Scratch that.") if not each[1]] == []
    assert [each for each in observed("我住在奥斯陆。当我没说。") if not each[1]] == []


@pytest.mark.parametrize("text", ["开玩笑的，我喜欢加班", "just kidding, I love Mondays"])
def test_text_beside_a_retraction_is_not_learnt(text: str) -> None:
    assert [each for each in observed(text) if not each[1]] == []


def test_a_retraction_is_observed() -> None:
    assert observed("just kidding") == [("retraction", True, None)]
    assert ("retraction", True, "Lisbon trip") in observed("The Lisbon trip fell through.")
