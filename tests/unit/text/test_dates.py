"""Stretches of time that words name, seen from Wednesday 18 November 2026."""

from datetime import UTC, datetime

import pytest

from shared.text.dates import time_range

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("昨天我说了什么", "2026-11-17", "2026-11-18"),
        ("what did we discuss yesterday", "2026-11-17", "2026-11-18"),
        ("前天", "2026-11-16", "2026-11-17"),
        ("上周我们讨论的方案", "2026-11-09", "2026-11-16"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("上周三", "2026-11-11", "2026-11-12"),
        ("last Friday", "2026-11-13", "2026-11-14"),
        ("上个月", "2026-10-01", "2026-11-01"),
        ("两个月前", "2026-09-01", "2026-10-01"),
        ("十天前", "2026-11-08", "2026-11-09"),
        ("3 days ago", "2026-11-15", "2026-11-16"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("去年夏天我去了哪", "2025-06-01", "2025-09-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("2023年5月", "2023-05-01", "2023-06-01"),
        ("2023年5月7日", "2023-05-07", "2023-05-08"),
        ("7 May 2023", "2023-05-07", "2023-05-08"),
        ("on December 5th", "2025-12-05", "2025-12-06"),
        ("2023-05-07", "2023-05-07", "2023-05-08"),
        ("最近三个月", "2026-08-17", "2026-11-19"),
        ("recently", "2026-10-19", "2026-11-19"),
    ],
)
def test_a_time_is_resolved(text: str, first: str, after: str) -> None:
    found = time_range(text, NOW)
    assert found is not None
    assert (found[0].date().isoformat(), found[1].date().isoformat()) == (first, after)
    assert found[0].tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["", "你好", "you may go", "march on", "明天", "next week", "version 2.0", "2 月亮", "99/99"]
)
def test_no_time_is_made_up(text: str) -> None:
    assert time_range(text, NOW) is None
