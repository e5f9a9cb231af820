"""The questions that stay open."""

import pytest

from services.observer.summary import SummaryMessage, SummaryTurn
from services.observer.summary.questions import find_open_questions


def left(user: str, assistant: str | None) -> list[str]:
    said = [SummaryMessage("user", user)]
    if assistant is not None:
        said.append(SummaryMessage("assistant", assistant))
    return [question.text for question in find_open_questions([SummaryTurn(1, tuple(said))])]


@pytest.mark.parametrize(
    ("user", "assistant", "question"),
    [
        ("交通是买周游券还是单次票？这个回头再定。", "好，回头再定。", "交通是买周游券还是单次票？"),
        ("预算这块回头再定。", "好的。", "预算这块回头再定。"),
        (
            "Should amounts be decimals or integers? Let's decide later.",
            "Fine.",
            "Should amounts be decimals or integers?",
        ),
        ("The name of the service is TBD.", "OK.", "The name of the service is TBD."),
        ("谁来负责上线？", None, "谁来负责上线？"),
        ("Who owns the rollout?", "I'm not sure, let me ask around.", "Who owns the rollout?"),
        ("机房什么时候扩容", "不清楚。", None),
        ("机房什么时候扩容？", "不清楚，需要再确认。", "机房什么时候扩容？"),
        ("Which region goes first?", "To be decided.", "Which region goes first?"),
        ("这周能上线吗", "还没有结论。", "这周能上线吗"),
    ],
)
def test_an_unanswered_question_is_open(user: str, assistant: str | None, question: str | None) -> None:
    assert left(user, assistant) == ([question] if question else [])


@pytest.mark.parametrize(
    ("user", "assistant"),
    [
        ("明天还下雨吗？", "明天小雨转阴。"),
        ("Which tasks are still open?", "HB-117 is open."),
        ("我以后再也不喝咖啡了。", "好的。"),
        ("See you later!", "Bye!"),
        ("Remind me later to call Mei.", "Will do."),
        ("好，就先这样，谢谢！", None),
        ("", None),
    ],
)
def test_an_answered_question_is_not_open(user: str, assistant: str | None) -> None:
    assert left(user, assistant) == []


def test_an_answer_at_the_start_of_the_next_turn_counts() -> None:
    turns = [
        SummaryTurn(1, (SummaryMessage("user", "谁来负责上线？"),)),
        SummaryTurn(2, (SummaryMessage("assistant", "Mei 负责。"), SummaryMessage("user", "好。"))),
    ]
    assert list(find_open_questions(turns)) == []


def test_a_question_of_the_assistant_is_not_the_users() -> None:
    turns = [SummaryTurn(1, (SummaryMessage("assistant", "Shall we decide later?"),))]
    assert list(find_open_questions(turns)) == []
