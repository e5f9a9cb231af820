"""Festivals and holidays of both languages, with their days in each year."""

# ruff: noqa: E501 - one family of names a line

from collections.abc import Callable
from datetime import date, timedelta

Days = tuple[date, date]
"""The first day, and the day after the last."""


def days_from(first: date, length: int = 1) -> Days:
    """This many days from the first on."""
    return first, first + timedelta(days=length)


def find_fixed(month: int, day: int, length: int = 1) -> Callable[[int], Days]:
    return lambda year: days_from(date(year, month, day), length)


def _lunar(which: int, before: int = 0, length: int = 1) -> Callable[[int], Days]:
    def days(year: int) -> Days:
        month, day = LUNAR[year][which]  # an unknown year has none
        return days_from(date(year, month, day) - timedelta(days=before), length)

    return days


def find_thanksgiving(year: int) -> Days:
    first = date(year, 11, 1)
    return days_from(first + timedelta(days=(3 - first.weekday()) % 7 + 21), 4)


def _easter(year: int) -> Days:
    """Good Friday to Easter Monday (the anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return days_from(date(year, f // 31, f % 31 + 1) - timedelta(days=2), 4)


LUNAR: dict[int, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    2015: ((2, 19), (6, 20), (9, 27)), 2016: ((2, 8), (6, 9), (9, 15)), 2017: ((1, 28), (5, 30), (10, 4)),
    2018: ((2, 16), (6, 18), (9, 24)), 2019: ((2, 5), (6, 7), (9, 13)), 2020: ((1, 25), (6, 25), (10, 1)),
    2021: ((2, 12), (6, 14), (9, 21)), 2022: ((2, 1), (6, 3), (9, 10)), 2023: ((1, 22), (6, 22), (9, 29)),
    2024: ((2, 10), (6, 10), (9, 17)), 2025: ((1, 29), (5, 31), (10, 6)), 2026: ((2, 17), (6, 19), (9, 25)),
    2027: ((2, 6), (6, 9), (9, 15)), 2028: ((1, 26), (5, 28), (10, 3)), 2029: ((2, 13), (6, 16), (9, 22)),
    2030: ((2, 3), (6, 5), (9, 12)), 2031: ((1, 23), (6, 24), (10, 1)), 2032: ((2, 11), (6, 12), (9, 19)),
    2033: ((1, 31), (6, 1), (9, 8)), 2034: ((2, 19), (6, 20), (9, 27)), 2035: ((2, 8), (6, 10), (9, 16)),
}  # fmt: skip
"""Month and day of the Spring, Dragon Boat and Mid-Autumn Festivals; the `holidays` package takes
half a second for them.
"""
_SPRING_FESTIVAL, _DRAGON_BOAT, _MID_AUTUMN = _lunar(0, 1, 8), _lunar(1, 0, 3), _lunar(2, 0, 3)
_CHRISTMAS, _NEW_YEAR = find_fixed(12, 24, 3), find_fixed(1, 1, 3)
FESTIVALS: dict[str, Callable[[int], Days]] = {
    "平安夜": find_fixed(12, 24), "圣诞": _CHRISTMAS, "christmas eve": find_fixed(12, 24), "christmas": _CHRISTMAS, "xmas": _CHRISTMAS,
    "元旦": _NEW_YEAR, "跨年": find_fixed(12, 31, 2), "chinese new year": _SPRING_FESTIVAL, "lunar new year": _SPRING_FESTIVAL,
    "new year's eve": find_fixed(12, 31), "new years eve": find_fixed(12, 31), "new year": find_fixed(1, 1, 2),
    "春节": _SPRING_FESTIVAL, "过年": _SPRING_FESTIVAL, "spring festival": _SPRING_FESTIVAL,
    "年三十": _lunar(0, 1), "除夕": _lunar(0, 1), "元宵": _lunar(0, -14), "端午": _DRAGON_BOAT, "dragon boat": _DRAGON_BOAT,
    "中秋": _MID_AUTUMN, "mid-autumn": _MID_AUTUMN, "清明": find_fixed(4, 4, 3), "五一": find_fixed(5, 1, 5), "劳动节": find_fixed(5, 1, 5),
    "六一": find_fixed(6, 1), "儿童节": find_fixed(6, 1), "国庆": find_fixed(10, 1, 7), "十一假期": find_fixed(10, 1, 7), "十一长假": find_fixed(10, 1, 7),
    "national day": find_fixed(10, 1, 7), "双十一": find_fixed(11, 11), "双11": find_fixed(11, 11), "教师节": find_fixed(9, 10),
    "情人节": find_fixed(2, 14), "valentine": find_fixed(2, 14), "妇女节": find_fixed(3, 8), "万圣": find_fixed(10, 31), "halloween": find_fixed(10, 31),
    "感恩节": find_thanksgiving, "thanksgiving": find_thanksgiving, "easter": _easter, "independence day": find_fixed(7, 4),
    "fourth of july": find_fixed(7, 4), "4th of july": find_fixed(7, 4), "暑假": find_fixed(7, 1, 62), "寒假": find_fixed(1, 15, 40),
    "summer break": find_fixed(6, 10, 82), "summer vacation": find_fixed(6, 10, 82), "spring break": find_fixed(3, 1, 45),
    "winter break": find_fixed(12, 20, 20), "holiday season": find_fixed(12, 20, 14), "the holidays": find_fixed(12, 20, 14),
}  # fmt: skip
"""The names of each, longer ones first, and its days in a year."""
