"""A date expression keeps its stated precision, and its tense decides between past and future."""

from datetime import date

import pytest

from shared.domain.statements import sense_of
from shared.extraction.dates import find_coming, find_date, find_last_day
from tests.unit.extraction.say import stated

NOVEMBER = date(2026, 11, 10)

TOLD = [
    ("we are moving in May", "2027-05"),
    ("we moved in May", "2026-05"),
    ("五月要搬家", "2027-05"),
    ("五月搬的家", "2026-05"),
    ("下周一起吃饭", "2026-11-16/2026-11-22"),
    ("从下周一起戒烟", "2026-11-16/.."),
    ("since last summer", "2026-06-01/.."),
    ("this winter", "2026-12-01/2027-02-28"),
    ("last March", "2026-03"),
    ("on Friday at 3pm", "2026-11-13T15:00"),
    ("周五下午三点一刻", "2026-11-13T15:15"),
    ("明天中午12点", "2026-11-11T12:00"),
    ("tomorrow at 7", "2026-11-11"),
    ("上周五10点", "2026-11-06"),
    ("by the end of June", "2027-06-30"),
    ("half a year ago", "2026-05"),
    ("in 2019", "2019"),
    ("February 29", "2028-02-29"),
    ("on the 31st", "2026-12-31"),
    ("December 1, 2026", "2026-12-01"),
]
UNTOLD = [
    "a few days ago",
    "几天前",
    "十几天前",
    "两三天前",
    "every Friday",
    "每周三",
    "每个月15号",
    "she finished it in two years",
    "on 4/5",
    "3/4的人",
    "24/7",
    "东大街12号",
    "圣诞树",
    "13月",
    "the 31st of February",
    "0000年",
    "9999年12月",
    "this may help",
]


@pytest.mark.parametrize(("text", "time"), TOLD)
def test_a_date_keeps_its_stated_precision(text: str, time: str) -> None:
    said = find_date(text, NOVEMBER)
    assert said is not None
    assert said.iso == time


@pytest.mark.parametrize("text", UNTOLD)
def test_an_unknown_expression_is_no_date(text: str) -> None:
    assert find_date(text, NOVEMBER) is None


def test_a_future_date_is_not_one_in_the_distant_past() -> None:
    text = "June 5"
    assert [said.iso for look in (find_date, find_coming) if (said := look(text, NOVEMBER))] == [
        "2026-06-05",
        "2027-06-05",
    ]


@pytest.mark.parametrize(
    ("time", "day"),
    [
        ("2027-05", date(2027, 5, 31)),
        ("2026-12", date(2026, 12, 31)),
        ("2027", date(2027, 12, 31)),
        ("2026-11-16/2026-11-22", date(2026, 11, 22)),
        ("2026-11-13T15:00", date(2026, 11, 13)),
        ("2026-11-13", date(2026, 11, 13)),
    ],
)
def test_a_time_lasts_until_its_last_day(time: str, day: date) -> None:
    assert find_last_day(time) == day


@pytest.mark.parametrize("time", ["", "soon", "2026-11-16/..", "2026-13"])
def test_an_open_or_invalid_time_has_no_last_day(time: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError
        find_last_day(time)


def test_an_appointment_in_a_week_has_no_day() -> None:
    one = stated("The design review is next week")[0]
    assert (one.kind, one.event_date, one.value["date"]) == ("event", None, "2026-07-20/2026-07-26")


def test_an_event_in_another_month_is_another_event() -> None:
    text = "I had my knee operation last month"
    one = stated(text)[0]
    assert (one.kind, one.event_date, one.value["event_date"]) == ("event", None, "2026-06")
    assert len({sense_of(None, {"event_date": month}, text, 0) for month in ("2026-06", "2026-07")}) == 2


def test_a_task_in_a_month_is_due_at_its_end() -> None:
    one = next(one for one in stated("I need to renew my passport in September") if one.kind == "task")
    assert (one.event_date, one.value["due"], str(one.valid_until)) == (None, "2026-09", "2026-09-30 23:59:59+00:00")
