"""The calendar around the day on which something is said: weeks, months, seasons and years as stretches of days."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from shared.language.festivals import FESTIVALS

Precision = Literal["minute", "day", "week", "month", "season", "year"]
Stretch = tuple[date, date, Precision]
"""The first day, the last, and how exactly the words tell."""
_CALLED = {"春节": 1, "chinese new year": 1, "lunar new year": 1, "圣诞": 1, "christmas": 1, "xmas": 1, "easter": 2}
"""So many days after the first of a festival's days is the one that is called so."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The day on which something is said, and its tense: -1 what was, 1 what will be, 0 where no word tells.

    `ahead` leaves out what is long over where no word tells.
    """

    today: date
    tense: int
    ahead: bool = False

    def pick(self, choices: Iterable[Stretch | None], tense: int) -> Stretch | None:
        """The one that is meant of those that recur, in their order: by tense, else the nearest."""
        stretches = [each for each in choices if each]
        if tense < 0:
            return next((each for each in reversed(stretches) if each[0] <= self.today), None)
        if tense > 0 or self.ahead:
            since = self.today - timedelta(days=0 if tense > 0 else 60)
            return next((each for each in stretches if each[1] >= since), None)
        return min(stretches, key=lambda each: max(each[0] - self.today, self.today - each[1]), default=None)

    def by_year(self, stretch: Callable[[int], Stretch | None]) -> Stretch | None:
        """The one that is meant of what every year has; leap days come every fourth."""
        return self.pick(map(stretch, range(self.today.year - 4, self.today.year + 5)), self.tense)

    def by_month(self, stretch: Callable[[Stretch], Stretch | None]) -> Stretch | None:
        """The one that is meant of what every month has: the next where no word tells."""
        return self.pick((stretch(self.month(count)) for count in range(-2, 3)), self.tense or 1)

    def month(self, count: int) -> Stretch:
        """The month so many after this one."""
        index = self.today.year * 12 + self.today.month - 1 + count
        return month_of(index // 12, index % 12 + 1)

    def week(self, count: int) -> Stretch:
        """The week so many after this one, from Monday to Sunday."""
        first = self.today + timedelta(days=7 * count - self.today.weekday())
        return first, first + timedelta(days=6), "week"

    def shift(self, count: int, unit: str) -> Stretch:
        """The stretch so many units away, as long as the unit is."""
        if unit in ("天", "day"):
            return one_day(self.today + timedelta(days=count))
        if unit in ("月", "month"):
            return self.month(count)
        if unit == "weekend":
            return weekend_of(self.week(count))
        return year_of(self.today.year + count) if unit in ("年", "year") else self.week(count)

    def of_week(self, weekday: int | None, weeks: int | None) -> Stretch:
        """A weekday, or the weekend, so many weeks away; without weeks the one that the tense tells."""
        shift = [-1, 0, 1] if weeks is None else [weeks]
        found = [self.week(count) for count in shift]
        every = [weekend_of(week) if weekday is None else one_day(week[0] + timedelta(days=weekday)) for week in found]
        if weeks is None and self.tense < 0:
            return next(each for each in reversed(every) if each[1] < self.today)
        return next(each for each in every if weeks is not None or each[1] >= self.today)

    def season(self, month: int, count: int) -> Stretch | None:
        """The season that begins with the month: below 0 one that is over, above 0 the next, else the one not over."""
        every = [season_of(self.today.year + shift, month) for shift in range(-12, 3)]
        if count < 0:
            over = [each for each in every if each[1] < self.today]
            return over[count] if count >= -10 else None
        if count > 0:
            return next(each for each in every if each[0] > self.today) if count == 1 else None
        winter = month == 12
        return next(each for each in every if (each[1] >= self.today if winter else each[0].year == self.today.year))


def day_of(year: int, month: int, day: int) -> Stretch | None:
    """The day, if there is such a one."""
    try:
        return one_day(date(year, month, day))
    except ValueError:
        return None


def one_day(day: date) -> Stretch:
    """The day as a stretch."""
    return day, day, "day"


def month_of(year: int, month: int) -> Stretch:
    """The month, from its first to its last day."""
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1), "month"


def year_of(year: int) -> Stretch:
    """The year."""
    return date(year, 1, 1), date(year, 12, 31), "year"


def season_of(year: int, month: int) -> Stretch:
    """The three months that begin with this one."""
    return date(year, month, 1), month_of(year + (month == 12), (month + 2) % 12 or 12)[1], "season"


def weekend_of(week: Stretch) -> Stretch:
    """Saturday and Sunday of the week."""
    return week[0] + timedelta(days=5), week[1], "week"


def part_of(of: Stretch, third: int) -> Stretch:
    """The beginning, the middle or the end: ten days of a month, a month of a year; of a week all of it."""
    first, last, precision = of
    if precision == "year":
        return month_of(first.year, 12) if third == 2 else month_of(first.year, 1) if third == 0 else of
    if precision != "month":
        return of
    return first + timedelta(days=10 * third), last if third == 2 else first + timedelta(days=10 * third + 9), "week"


def festival(name: str, year: int, whole: bool = False) -> Stretch | None:
    """The day that is called so, or all its days; None in years whose moon is not known."""
    try:
        first, after = FESTIVALS[name](year)
    except KeyError:
        return None
    return (
        (first, after - timedelta(days=1), "week") if whole else one_day(first + timedelta(days=_CALLED.get(name, 0)))
    )


def in_month(month: Stretch, day: int) -> Stretch | None:
    """That day of the month, if it has one."""
    return day_of(month[0].year, month[0].month, day)
