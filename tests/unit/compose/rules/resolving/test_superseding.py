"""Among messages found together a newer one can end an older one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.compose.rules.candidates import Candidate, Factors, RankedCandidate
from services.compose.rules.planning.questions import asks_for_one
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.superseding import drop_superseded

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


WORK = {"en": "How do I get to work?", "zh": "我怎么上班？"}


def without(fused: FusionResult, question: str = "", *, past: bool = False) -> FusionResult:
    """What a package makes of the order."""
    return drop_superseded(fused, question, past=past)


def found(*said: tuple[str, str, int]) -> FusionResult:
    """Messages by speaker and age in days; each turn is numbered by its age."""
    ranked = [
        RankedCandidate(
            Candidate("turn", text, NOW - timedelta(days=days), turn_id=f"t{days}", message_ordinal=n, role=role),  # type: ignore[arg-type]
            1.0,
            1.0,
            Factors(1.0),
        )
        for n, (role, text, days) in enumerate(said)
    ]
    return FusionResult(tuple(ranked), (), len(ranked))


def texts(fused: FusionResult) -> list[str]:
    """The remaining texts."""
    return [each.candidate.text for each in fused.ranked]


@pytest.mark.parametrize(
    ("old", "new", "echo"),
    [
        ("我现在不喝咖啡了，改喝绿茶。", "绿茶也不喝了，现在喜欢喝豆浆。", "绿茶清爽。"),
        ("My phone is a Pixel 6.", "Traded my Pixel 6 for an iPhone 14.", "The Pixel 6 has a good camera."),
    ],
)
def test_an_ended_message_is_dropped_with_its_answer(old: str, new: str, echo: str) -> None:
    fused = found(("user", new, 1), ("user", old, 9), ("assistant", echo, 9))
    left = without(fused)
    assert texts(left) == [new]
    assert [each.reason for each in left.dropped] == ["superseded", "superseded"]


def test_a_question_about_the_past_keeps_ended_messages_with_their_end() -> None:
    fused = found(("user", "Traded my Pixel 6 for an iPhone 14.", 1), ("user", "My phone is a Pixel 6.", 9))
    now, then = without(fused, past=True).ranked
    assert now.candidate.until is None
    assert then.candidate.until == NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Went to a Celtics game in Boston with Tom.", "I moved to Seattle."),
        ("My sister lives in Boston with her two kids.", "I moved to Seattle."),
        ("I like jazz.", "I also like blues."),
        ("我喜欢爵士乐。", "我也喜欢民谣。"),
        ("I play tennis on Sundays.", "I started playing squash on Thursdays now."),
        ("我周日打网球。", "我又开始周四打壁球了。"),
        ("My sister lives in Leeds.", "I live in York now."),
        ("我姐住在成都。", "我现在住重庆。"),
        ("在腾讯的时候有次停电，大家打了一晚上牌。", "我从腾讯离职了，现在在网易上班。"),
    ],
)
def test_unrelated_messages_stay(old: str, new: str) -> None:
    assert texts(without(found(("user", new, 1), ("user", old, 9)))) == [new, old]


def remembered(*said: tuple[str, int], **known: Any) -> FusionResult:
    """The memories of messages by age in days, newest first."""
    ranked = [
        RankedCandidate(
            Candidate("memory", text, NOW - timedelta(days=days), memory_id=f"m{days}", turn_id=f"t{days}", **known),
            1.0,
            1.0,
            Factors(1.0),
        )
        for text, days in said
    ]
    return FusionResult(tuple(ranked), (), len(ranked))


@pytest.mark.parametrize(
    ("language", "chain"),
    [
        ("en", ("I'm on the 8:15 train to work", "I'm on the 7:50 now", "I gave up on the 7:50, I drive to work now")),
        ("en", ("I cycle to the office", "I take the tram to the office now", "I walk to the office these days")),
        ("zh", ("我坐8点15的地铁上班", "现在改坐7点50那班了", "我现在开车上班")),
        ("zh", ("我骑车上班", "自行车被偷了，现在走路上班", "上班换成坐班车了")),
    ],
)
@pytest.mark.parametrize("kind", ["memories", "turns", "both"])
def test_of_a_chain_only_the_newest_remains_as_message_or_memory(
    language: str, chain: tuple[str, ...], kind: str
) -> None:
    first, second, newest = chain
    said = [("user", newest, 1), ("user", second, 5), ("user", first, 9)]
    match kind:
        case "memories":
            fused = remembered((newest, 1), (second, 5), (first, 9))
        case "turns":
            fused = found(*said)
        case _:
            fused = FusionResult((*remembered((newest, 1)).ranked, *found(*said[1:]).ranked), (), 3)
    assert texts(without(fused, WORK[language])) == [newest]
    dated = without(fused, WORK[language], past=True)
    assert [each.candidate.until is None for each in dated.ranked] == [True, False, False]


@pytest.mark.parametrize(
    ("question", "old", "new", "echo"),
    [
        ("Who leads us?", "Zhou leads our team", "Zhou left, Chen leads our team now", "Zhou it is."),
        ("谁在带我们组？", "我们组的负责人是周扬", "周扬调走了，组长换成陈露", "周扬，好的。"),
    ],
)
def test_the_answer_to_an_ended_statement_is_dropped_even_without_the_statement(
    question: str, old: str, new: str, echo: str
) -> None:
    order = found(("user", old, 9), ("assistant", echo, 9))
    fused = FusionResult((*remembered((new, 1)).ranked, order.ranked[1]), (), 3, judged=order.ranked)
    assert texts(without(fused, question)) == [new]


def test_speakers_end_only_their_own_statements() -> None:
    said = remembered(("Anna: I get to work by bus now", 1), ("Ben: I get to work by train", 9))
    names = [RankedCandidate(Candidate("turn", "hello", NOW, turn_id=name, role="user", name=name), 0, 0, Factors(1.0)) for name in ("Anna", "Ben")]  # fmt: skip # noqa: E501
    fused = FusionResult((*said.ranked, *names), (), 4)
    assert len(without(fused, WORK["en"]).ranked) == 4
    one = remembered(("Ben: I get to work by bus now", 1), ("Ben: I get to work by train", 9))
    assert len(without(FusionResult((*one.ranked, *names), (), 4), WORK["en"]).ranked) == 3


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("Which sports do I do?", "I swim in the mornings", "I run in the mornings now"),
        ("我都做哪些运动？", "我早上游泳", "我现在早上跑步"),
    ],
)
def test_a_question_about_many_things_keeps_what_did_not_clearly_end(question: str, old: str, new: str) -> None:
    assert asks_for_one(question) is False
    assert asks_for_one(WORK["en"])
    assert asks_for_one(WORK["zh"])
