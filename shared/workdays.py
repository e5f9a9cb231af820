"""Working days: weekends, the holidays of a country and the days that it makes up for them; pure."""

from collections.abc import Collection
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holidays import HolidayBase

DAY = timedelta(days=1)


def is_known(calendar: str) -> bool:
    """Whether there are days of this country (`CN`) or part of one (`US-CA`); the empty name has weekends only."""
    if not calendar:
        return True
    from holidays import list_supported_countries  # half a second, and most never name a calendar

    country, _, part = calendar.partition("-")
    parts = list_supported_countries(include_aliases=False).get(country)
    return parts is not None and (part in parts or calendar == country)


def is_workday(day: date, calendar: str = "", closed: Collection[date] = ()) -> bool:
    """Whether people work that day: never on a closed one, on a weekend only where the calendar makes it up."""
    if day in closed:
        return False
    if not calendar:
        return day.weekday() < 5
    # a holiday of January may be made up in December: the year after belongs to what is known of this one
    return _days(calendar, day.year).is_working_day(day)


def add_workdays(day: date, number: int, calendar: str = "", closed: Collection[date] = ()) -> date:
    """The working day with this number, where the next one after `day` is the first."""
    while number > 0:
        day += DAY
        number -= is_workday(day, calendar, closed)
    return day


@lru_cache(maxsize=64)
def _days(calendar: str, year: int) -> "HolidayBase":
    from holidays import country_holidays

    country, _, part = calendar.partition("-")
    return country_holidays(country, subdiv=part or None, years=(year, year + 1))
