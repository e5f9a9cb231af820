"""Deadlines of erasures, the remaining time, and alerts."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.erasure.rules import Level, deadline, level, share_remaining
from shared.policy import ErasurePolicy, LegalProfile
from shared.workdays import add_workdays, is_known, is_workday

PROFILES = ErasurePolicy().profiles
THIRTY = LegalProfile(days=30, type="calendar")
DAY = timedelta(days=1)
CN = "CN"
NOTICES = {
    2024: (
        "01-01 02-10:02-17 04-04:04-06 05-01:05-05 06-10:06-10 09-15:09-17 10-01:10-07",
        "02-04 02-18 04-07 04-28 05-11 09-14 09-29 10-12",
    ),
    2025: (
        "01-01 01-28:02-04 04-04:04-06 05-01:05-05 05-31:06-02 10-01:10-08",
        "01-26 02-08 04-27 09-28 10-11",
    ),
    2026: (
        "01-01:01-03 02-15:02-23 04-04:04-06 05-01:05-05 06-19:06-21 09-25:09-27 10-01:10-07",
        "01-04 02-14 02-28 05-09 09-20 10-10",
    ),
}
"""The State Council's announcements of each year: days off, and weekend days to be worked (调休)."""

days_of = st.dates(date(2023, 12, 1), date(2027, 1, 31))
closings = st.sets(st.dates(date(2024, 1, 1), date(2026, 12, 31)), max_size=20)


def at(day: str, hour: int = 9, minute: int = 30) -> datetime:
    """That day, at half past nine."""
    return datetime.fromisoformat(day).replace(hour=hour, minute=minute, tzinfo=UTC)


def business(days: int, calendar: str = "") -> LegalProfile:
    return LegalProfile(days=days, type="business", calendar=calendar)


def load_announced(year: int) -> tuple[set[date], set[date]]:
    """Days off and weekend working days of that year."""

    def read(text: str) -> set[date]:
        days: set[date] = set()
        for each in text.split():
            first, _, last = each.partition(":")
            day, end = (date.fromisoformat(f"{year}-{part}") for part in (first, last or first))
            while day <= end:
                days.add(day)
                day += DAY
        return days

    off, made_up = NOTICES[year]
    return read(off), read(made_up)


@pytest.mark.parametrize("year", NOTICES)
def test_working_days_of_china_match_the_announcements(year: int) -> None:
    off, made_up = load_announced(year)
    assert all(day.weekday() >= 5 for day in made_up)
    day, wrong = date(year, 1, 1), list[date]()
    while day.year == year:
        expected = day in made_up or (day.weekday() < 5 and day not in off)
        if is_workday(day, CN) is not expected:
            wrong.append(day)
        day += DAY
    assert wrong == []


@pytest.mark.parametrize(
    ("profile", "requested", "due"),
    [
        pytest.param("PIPL", "2026-06-01", "2026-06-22", id="OC191"),
        ("DEFAULT", "2026-06-01", "2026-06-22"),
        ("DEFAULT", "2026-06-05", "2026-06-26"),
        ("DEFAULT", "2026-06-06", "2026-06-26"),
        ("DEFAULT", "2026-06-07", "2026-06-26"),
        ("DEFAULT", "2026-06-08", "2026-06-29"),
        ("DEFAULT", "2025-12-22", "2026-01-12"),
        ("DEFAULT", "2024-02-12", "2024-03-04"),
        ("GDPR", "2026-06-01", "2026-07-01"),
        ("GDPR", "2024-02-01", "2024-03-02"),
        ("GDPR", "2025-02-01", "2025-03-03"),
        ("GDPR", "2025-12-05", "2026-01-04"),
        ("CCPA", "2025-12-01", "2026-01-15"),
    ],
)
def test_the_deadline_of_each_preset(profile: str, requested: str, due: str) -> None:
    assert deadline(at(requested), PROFILES[profile]) == at(due)


@pytest.mark.parametrize(
    ("requested", "days", "weekends_only", "of_china"),
    [
        pytest.param("2026-06-01", 15, "2026-06-22", "2026-06-23", id="端午"),
        pytest.param("2026-06-18", 1, "2026-06-19", "2026-06-22", id="the day before 端午"),
        pytest.param("2026-02-13", 15, "2026-03-06", "2026-03-12", id="春节, two days made up"),
        pytest.param("2025-09-26", 15, "2025-10-17", "2025-10-23", id="国庆 with 中秋, two days made up"),
        pytest.param("2024-09-13", 1, "2024-09-16", "2024-09-14", id="the next working day is a Saturday"),
        pytest.param("2024-04-27", 1, "2024-04-29", "2024-04-28", id="and a Sunday, asked on a Saturday off"),
        pytest.param("2026-05-05", 15, "2026-05-26", "2026-05-25", id="only the day made up is ahead: earlier"),
        pytest.param("2025-12-30", 3, "2026-01-02", "2026-01-05", id="over a year's end, 元旦 made up on a Sunday"),
        pytest.param("2024-12-31", 1, "2025-01-01", "2025-01-02", id="元旦"),
        pytest.param("2026-07-06", 15, "2026-07-27", "2026-07-27", id="no holiday in sight"),
    ],
)
def test_holidays_and_make_up_days_move_a_deadline(
    requested: str, days: int, weekends_only: str, of_china: str
) -> None:
    assert deadline(at(requested), business(days)) == at(weekends_only)
    assert deadline(at(requested), business(days, CN)) == at(of_china)


@pytest.mark.parametrize(
    ("calendar", "requested", "due"),
    [
        pytest.param("US", "2026-07-02", "2026-07-06", id="4 July is a Saturday: the Friday is off"),
        pytest.param("GB-ENG", "2025-12-24", "2025-12-29", id="Christmas and Boxing Day"),
        pytest.param("GB-SCT", "2025-12-31", "2026-01-05", id="in Scotland 2 January is off too"),
        pytest.param("GB-ENG", "2025-12-31", "2026-01-02", id="in England it is not"),
    ],
)
def test_other_countries_and_regions_have_their_own_holidays(calendar: str, requested: str, due: str) -> None:
    assert deadline(at(requested), business(1, calendar)) == at(due)


@pytest.mark.parametrize(
    ("closed", "calendar", "due"),
    [
        ((), "", "2026-05-08"),
        ((date(2026, 5, 7),), "", "2026-05-11"),
        ((date(2026, 5, 9),), "", "2026-05-08"),
        ((date(2026, 5, 8),), CN, "2026-05-09"),
        ((date(2026, 5, 8), date(2026, 5, 9)), CN, "2026-05-11"),
    ],
)
def test_additional_closed_days_can_be_configured(closed: tuple[date, ...], calendar: str, due: str) -> None:
    assert deadline(at("2026-05-06"), business(2, calendar), closed) == at(due)


def test_closed_days_do_not_move_a_deadline_in_calendar_days() -> None:
    every = tuple(date(2026, 6, 1) + number * DAY for number in range(60))
    assert deadline(at("2026-06-01"), PROFILES["GDPR"], every) == at("2026-07-01")


@pytest.mark.parametrize("kind", ["business", "calendar"])
def test_a_deadline_has_the_time_of_day_of_its_request(kind: Literal["business", "calendar"]) -> None:
    requested = datetime(2026, 6, 1, 23, 59, 59, 999_999, tzinfo=UTC)
    due = deadline(requested, LegalProfile(days=15, type=kind))
    assert due.timetz() == requested.timetz()


def test_days_begin_in_the_configured_time_zone() -> None:
    sunday = datetime(2026, 6, 7, 22, tzinfo=UTC)
    monday = sunday.astimezone(timezone(timedelta(hours=8)))
    assert deadline(sunday, business(1)) == sunday + DAY
    assert deadline(monday, business(1)) == monday + DAY
    saturday = sunday - DAY
    assert deadline(saturday, business(1)) == saturday + 2 * DAY
    assert deadline(saturday.astimezone(monday.tzinfo), business(1)) == saturday + DAY


@pytest.mark.parametrize(
    ("elapsed", "percent", "told"),
    [
        (0, 100.0, "none"),
        (22, 26.7, "none"),
        (22.5, 25.0, "none"),
        pytest.param(23, 23.3, "warn", id="OC193: a ticket"),
        (27, 10.0, "warn"),
        (27.1, 9.7, "critical"),
        pytest.param(28, 6.7, "critical", id="OC194: a page"),
        (29.999, 0.0, "critical"),
        (30, 0.0, "overdue"),
        (33, -10.0, "overdue"),
    ],
)
def test_the_elapsed_share_of_thirty_days(elapsed: float, percent: float, told: Level) -> None:
    requested = at("2026-06-01")
    left = share_remaining(requested, deadline(requested, THIRTY), requested + elapsed * DAY)
    assert round(left * 100, 1) == percent
    assert level(left, THIRTY) == told


def test_thresholds_come_from_the_profile() -> None:
    profile = LegalProfile(days=30, type="calendar", warn_pct=50, critical_pct=40)
    assert [level(left, profile) for left in (0.5, 0.49, 0.4, 0.39, 0)] == [
        "none",
        "warn",
        "warn",
        "critical",
        "overdue",
    ]


def test_a_weekend_uses_its_share_of_working_days() -> None:
    friday = at("2026-06-05")
    due = deadline(friday, business(1))
    assert due == at("2026-06-08")
    assert share_remaining(friday, due, at("2026-06-07")) == pytest.approx(1 / 3)
    assert level(share_remaining(friday, due, at("2026-06-07", 16)), PROFILES["DEFAULT"]) == "warn"


def test_a_deadline_before_its_request_has_passed() -> None:
    now = at("2026-06-01")
    assert share_remaining(now, now, now) == 0
    assert level(share_remaining(now, now - DAY, now), PROFILES["DEFAULT"]) == "overdue"
    assert share_remaining(now, now - DAY, now - 2 * DAY) == 1


def test_calendar_names_are_validated() -> None:
    assert [name for name in ("", "CN", "US-CA", "XX", "CN-CA", "US-") if is_known(name)] == ["", "CN", "US-CA"]


@given(days_of, st.integers(1, 60), st.sampled_from(["", CN]), closings)
def test_the_number_of_working_days_between_request_and_deadline(
    day: date, number: int, calendar: str, closed: set[date]
) -> None:
    last = add_workdays(day, number, calendar, closed)
    between = [day + each * DAY for each in range(1, (last - day).days + 1)]
    assert sum(is_workday(each, calendar, closed) for each in between) == number
    assert is_workday(last, calendar, closed)


@given(days_of, days_of, st.integers(1, 40), st.sampled_from(["", CN]))
def test_a_later_request_is_not_due_earlier(one: date, other: date, number: int, calendar: str) -> None:
    assert add_workdays(min(one, other), number, calendar) <= add_workdays(max(one, other), number, calendar)


@given(days_of, st.integers(1, 40), st.sampled_from(["", CN]), closings)
def test_a_closed_day_never_makes_a_deadline_earlier(day: date, number: int, calendar: str, closed: set[date]) -> None:
    assert add_workdays(day, number, calendar, closed) >= add_workdays(day, number, calendar)


@given(days_of.map(lambda day: at(day.isoformat())), st.integers(1, 60))
def test_working_days_never_end_before_as_many_calendar_days(requested: datetime, number: int) -> None:
    due = deadline(requested, business(number))
    assert due >= deadline(requested, LegalProfile(days=number, type="calendar"))
    assert share_remaining(requested, due, requested) == 1
    assert share_remaining(requested, due, due) == 0


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_less_time_is_never_less_urgent(one: float, other: float) -> None:
    order: list[Level] = ["none", "warn", "critical", "overdue"]
    less, more = sorted((one, other))
    assert order.index(level(less, PROFILES["DEFAULT"])) >= order.index(level(more, PROFILES["DEFAULT"]))
