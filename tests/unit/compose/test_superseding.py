"""Of messages that are found together a newer one may end an older one."""

from datetime import UTC, datetime, timedelta

import pytest

from services.compose.rules.fuse import Fused
from services.compose.rules.model import Candidate, Factors, Ranked
from services.compose.rules.superseding import without_superseded

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


def found(*said: tuple[str, str, int]) -> Fused:
    """What was said by whom, so many days ago; each turn has the number of its days."""
    ranked = [
        Ranked(
            Candidate("turn", text, NOW - timedelta(days=days), turn_id=f"t{days}", message_ordinal=n, role=role),  # type: ignore[arg-type]
            1.0,
            1.0,
            Factors(1.0),
        )
        for n, (role, text, days) in enumerate(said)
    ]
    return Fused(tuple(ranked), (), len(ranked))


def texts(fused: Fused) -> list[str]:
    """What is left."""
    return [each.candidate.text for each in fused.ranked]


@pytest.mark.parametrize(
    ("old", "new", "echo"),
    [
        ("我现在不喝咖啡了，改喝绿茶。", "绿茶也不喝了，现在喜欢喝豆浆。", "绿茶清爽。"),
        ("My phone is a Pixel 6.", "Traded my Pixel 6 for an iPhone 14.", "The Pixel 6 has a good camera."),
    ],
)
def test_the_older_and_what_was_answered_to_it_go(old: str, new: str, echo: str) -> None:
    fused = found(("user", new, 1), ("user", old, 9), ("assistant", echo, 9))
    left = without_superseded(fused, past=False)
    assert texts(left) == [new]
    assert [each.reason for each in left.dropped] == ["superseded", "superseded"]


def test_a_question_about_the_past_keeps_them_with_their_end() -> None:
    fused = found(("user", "Traded my Pixel 6 for an iPhone 14.", 1), ("user", "My phone is a Pixel 6.", 9))
    now, then = without_superseded(fused, past=True).ranked
    assert now.candidate.until is None
    assert then.candidate.until == NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Went to a Celtics game in Boston with Tom.", "I moved to Seattle."),
        ("My sister lives in Boston with her two kids.", "I moved to Seattle."),
        ("I like jazz.", "I also like blues."),
        ("我喜欢爵士乐。", "我也喜欢民谣。"),
        ("在腾讯的时候有次停电，大家打了一晚上牌。", "我从腾讯离职了，现在在网易上班。"),
    ],
)
def test_what_is_apart_stays(old: str, new: str) -> None:
    assert texts(without_superseded(found(("user", new, 1), ("user", old, 9)), past=False)) == [new, old]
