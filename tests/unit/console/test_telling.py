"""Times, confidences and languages in words."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from services.console.rules.telling import choose_language, name_degree, read_moment, tell_day, tell_moment
from shared.settings import Settings

NOW = datetime(2026, 11, 28, 7, 30, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("ago", "english", "chinese"),
    [
        (timedelta(seconds=20), "just now", "刚刚"),
        (timedelta(minutes=1), "1 minute ago", "1 分钟前"),
        (timedelta(minutes=59), "59 minutes ago", "59 分钟前"),
        (timedelta(hours=3), "3 hours ago", "3 小时前"),
        (timedelta(hours=7), "today, 00:30", "今天 00:30"),
        (timedelta(hours=8), "yesterday, 23:30", "昨天 23:30"),
        (timedelta(days=3), "25 November, 07:30", "11月25日 07:30"),
        (timedelta(days=30), "29 October", "10月29日"),
        (timedelta(days=400), "24 October 2025", "2025年10月24日"),
        (timedelta(days=-2), "30 November, 07:30", "11月30日 07:30"),
    ],
)
def test_a_time_is_shown_in_relative_words(ago: timedelta, english: str, chinese: str) -> None:
    assert tell_moment(NOW - ago, NOW, UTC, "en") == english
    assert tell_moment(NOW - ago, NOW, UTC, "zh") == chinese


def test_a_day_is_in_the_readers_time_zone() -> None:
    late = read_moment("2026-11-27T17:00:00Z")
    assert tell_day(late, NOW, UTC, "en") == "yesterday"
    assert tell_day(late, NOW, SHANGHAI, "zh") == "今天"


def test_words_reflect_the_confidence() -> None:
    told = [name_degree(each / 20) for each in range(21)]
    assert (told[0], told[-1]) == ("sure.hardly", "sure.very")
    assert len(set(told)) == 5
    assert [told.index(each) for each in dict.fromkeys(told)] == sorted({told.index(each) for each in told})


@pytest.mark.parametrize(
    ("chosen", "setting", "accepted", "language"),
    [
        (None, None, "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        (None, None, "de-DE,en;q=0.5,zh;q=0.9", "zh"),
        (None, None, "de, fr", "en"),
        (None, None, ";q=,,;q=x", "en"),
        (None, "zh", "en", "zh"),
        ("en", "zh", "zh", "en"),
        ("xx", None, "zh", "zh"),
    ],
)
def test_the_language_is_the_chosen_or_else_the_preferred_one(
    chosen: str | None, setting: str | None, accepted: str, language: str
) -> None:
    assert choose_language(chosen, setting, accepted) == language


def test_the_port_of_the_console_follows_that_of_mcp() -> None:
    assert Settings().port_of_console == 8789
    assert Settings(http_port=0).port_of_console == 0
    assert Settings(http_port=65_534).port_of_console == 0
    assert Settings(console_port=9000).port_of_console == 9000
