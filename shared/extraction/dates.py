"""Resolves times in words against the day on which they were said, to a range of days no narrower than the words."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, time, timedelta

from shared.cache import of_texts
from shared.extraction import dates_calendar as words
from shared.extraction.dates_calendar import (
    Moment,
    Precision,
    Stretch,
    day_of,
    festival,
    in_month,
    month_of,
    one_day,
    part_of,
    season_of,
    year_of,
)
from shared.extraction.gates import gate

NAMED = gate(words.ISO, words.ZH, words.EN)
NEAR = 200
"""The tense of a time is searched in so many characters on either side."""


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """A time: its words, their place, its first and last day, and its precision; without `last` it has no end."""

    text: str
    start: int
    end: int
    first: date
    last: date | None
    precision: Precision
    at: time | None = None

    @property
    def day(self) -> date | None:
        """The day, if the words name one."""
        return self.first if self.precision in ("day", "minute") else None

    @property
    def iso(self) -> str:
        """The time in ISO 8601, as exactly as it was said: a day, 2027-05, 2027, or two days and a slash."""
        if self.last is None:
            return f"{self.first}/.."
        if self.day:
            return f"{self.day}T{self.at:%H:%M}" if self.at else str(self.day)
        if self.precision in ("month", "year"):
            return f"{self.first:%Y-%m}" if self.precision == "month" else f"{self.first:%Y}"
        return f"{self.first}/{self.last}"

    def is_over(self, today: date) -> bool:
        """Whether the time ends before the day."""
        return (self.last or self.first) < today


def find_date(text: str, today: date) -> ResolvedDate | None:
    """The first time that the text names; of several possible dates the one of its tense, or else the nearest."""
    return _find_date(text, today, False)


def find_coming(text: str, today: date) -> ResolvedDate | None:
    """The first time that the text names for something in the future; it is in the past only if the tense says so."""
    return _find_date(text, today, True)


def to_value_date(said: ResolvedDate | None) -> dict[str, str]:
    """The part of a value for a time that is no day, so that the same event in another month is another one."""
    return {"event_date": said.iso} if said and not said.day else {}


def find_last_day(iso: str) -> date:
    """The last day of a time in the format of `ResolvedDate.iso`; ValueError for any other text."""
    end = iso.rpartition("/")[2].partition("T")[0]
    if re.fullmatch(r"\d{4}(?:-\d\d)?", end):
        return (month_of(int(end[:4]), int(end[5:])) if end[4:] else year_of(int(end)))[1]
    return date.fromisoformat(end)


@of_texts(512)
def _find_date(text: str, today: date, ahead: bool) -> ResolvedDate | None:
    if not words.SIGN.search(text):
        return None
    ascii_only = text.isascii()
    for pattern, resolve in ((words.ISO, _read_iso), (words.ZH, _read_chinese), (words.EN, _read_english)):
        if ascii_only if pattern is words.ZH else pattern is words.EN and not (ascii_only or words.LATIN.search(text)):
            continue
        for match in pattern.finditer(text):
            since = _find_since(match)
            told = -1 if since in ("since", "以来", "至今") else _read_tense(match, resolve is _read_english)
            moment = Moment(today, told, ahead)
            stretch, end = resolve(match, moment), match.end()
            if stretch and resolve is _read_english and match["wday"] and text.startswith(", ", end):
                exact = words.EN.match(text, end + 2)
                if exact and exact["mon"] and (named := _read_english(exact, moment)):
                    stretch, end = named, exact.end()
            if stretch:
                first, last, precision = stretch
                at = _read_clock(match, end) if precision == "day" else None
                said = text[match.start() : end].strip()
                return ResolvedDate(
                    said, match.start(), end, first, None if since else last, "minute" if at else precision, at
                )
    return None


def _find_since(match: re.Match[str]) -> str:
    """The word that makes a time the beginning of a period; empty if there is none."""
    text = match.string
    if match.group()[:5].lower() == "since":
        return "since"
    found = words.SINCE.search(text, max(0, match.start() - 12), match.start()) or words.SINCE_ZH.match(
        text, match.end()
    )
    return found.group().split()[0].lower() if found else ""


def _read_tense(match: re.Match[str], english: bool) -> int:
    """The tense of the clause around the words, or else of the text near them."""
    text = match.string[max(0, match.start() - NEAR) : match.end() + NEAR]
    at, end = min(match.start(), NEAR), min(match.start(), NEAR) + len(match.group())
    first = max((pause.end() for pause in words.PAUSE.finditer(text, 0, at)), default=0)
    pause = words.PAUSE.search(text, end)
    ahead, past = (words.AHEAD_EN, words.PAST_EN) if english else (words.AHEAD_ZH, words.PAST_ZH)
    for part in (text[first : pause.start() + 1 if pause else None], text):
        if ahead.search(part):
            return 1
        if past.search(part):
            return -1
    return 0


def _read_clock(match: re.Match[str], end: int) -> time | None:
    """The time of day after the words, if the half of the day is clear."""
    found = words.CLOCK_ZH.match(match.string, end) or words.CLOCK_EN.match(match.string, end)
    if not found or ("at" in found.re.groupindex and not (found["at"] or found["half"])):
        return None
    half, hour, minutes = (found["half"] or match.group()).lower(), read_number(found["h"]), found["m"] or "0"
    late, early = words.LATE.search(half), words.EARLY.search(half)
    if (hour < 13 and not late and not early) or (late and hour == 12 and half != "p"):
        return None
    hour += 12 if (late and hour < 12) or (half == "中午" and hour < 3) else -12 if half == "a" and hour == 12 else 0
    minute = {"半": 30, "一刻": 15, "三刻": 45}.get(minutes) or read_number(minutes.replace("刻", ""))
    return time(hour, minute) if hour < 24 and minute < 60 else None


def read_number(text: str) -> int:
    """A number up to 99, in digits or in Chinese words."""
    if text.isdigit() and text.isascii():
        return int(text)
    tens, ten, ones = text.replace("两", "二").replace("俩", "二").rpartition("十")
    return (words.DIGITS_ZH.index(tens or "一") * 10 if ten else 0) + (words.DIGITS_ZH.index(ones) if ones else 0)


def _read_iso(match: re.Match[str], _: Moment) -> Stretch | None:
    return day_of(int(match[1]), int(match[2]), int(match[3]))


def _read_chinese(match: re.Match[str], moment: Moment) -> Stretch | None:
    groups, year = match.groupdict(), moment.today.year
    if day := groups["day"]:
        return moment.shift(words.DAYS.get(day) or words.DAYS.get(day[0], 0), "day")
    if wday := groups["wday"]:
        weekday = None if wday == "末" else "一二三四五六".find(wday) % 7
        return moment.of_week(weekday, _read_relation(groups["wrel"]) if groups["wrel"] else None)
    if groups["week"]:
        return moment.week(_read_relation(groups["week"]))
    if groups["month"] or groups["mrel"]:
        return _read_chinese_month(match, moment)
    if end := groups["end"]:
        third = words.THIRDS[end[-1] if end[-1] != "旬" else end[0]]
        if end[0] != "年":
            stretch = moment.by_month(lambda month: part_of(month, third))
        elif groups["yrel"]:
            stretch = part_of(year_of(year + words.YEARS[groups["yrel"]]), third)
        else:
            years = (part_of(year_of(year + count), third) for count in (-1, 0, 1))
            stretch = moment.pick(years, moment.tense or 1)
        return _find_deadline(match, stretch, third)
    if groups["ago"]:
        sign = -1 if "前" in groups["dir"] else 1
        if groups["ago"] == "半":
            return moment.shift(sign * 6, "月") if groups["unit"] == "年" else None
        return moment.shift(sign * read_number(groups["ago"]), groups["unit"])
    if name := groups["named"]:
        whole = bool(groups["whole"])
        if groups["nyear"]:
            return festival(name, _read_year(groups["nyear"], year), whole)
        return moment.by_year(lambda each: festival(name, each, whole))
    if groups["yonly"]:
        meant = _read_year(groups["yonly"], year)
        return season_of(meant, words.SEASONS[groups["season"][0]]) if groups["season"] else year_of(meant)
    if groups["dom"]:
        return moment.by_month(lambda month: in_month(month, int(groups["dom"])))
    return moment.by_year(lambda each: day_of(each, int(groups["slash"]), int(groups["slash2"])))


def _read_chinese_month(match: re.Match[str], moment: Moment) -> Stretch | None:
    """The month, or a day or a part of it."""
    part, day = match["mpart"], match["mday"]
    third = words.THIRDS[part[0]] if part else 0

    def within(month: Stretch) -> Stretch | None:
        return in_month(month, read_number(day)) if day else part_of(month, third) if part else month

    if match["mrel"]:
        return _find_deadline(match, within(moment.month(_read_relation(match["mrel"]))), third)
    number = read_number(match["month"])
    if not 0 < number < 13:
        return None
    if match["year"]:
        return _find_deadline(match, within(month_of(_read_year(match["year"], moment.today.year), number)), third)
    return _find_deadline(match, moment.by_year(lambda year: within(month_of(year, number))), third)


def _find_deadline(match: re.Match[str], stretch: Stretch | None, third: int) -> Stretch | None:
    """The last day of the range if the words name a deadline."""
    by = third == 2 and words.BEFORE_ZH.match(match.string, match.end())
    return one_day(stretch[1]) if stretch and by else stretch


def _read_relation(said: str) -> int:
    return words.RELATIONS.get(said.rstrip("个"), 0)


def _read_year(said: str, year: int) -> int:
    return int(said[:4]) if said[0].isdigit() else year + words.YEARS[said[0]]


def _read_english(match: re.Match[str], moment: Moment) -> Stretch | None:
    groups = {name: value.lower() if value else "" for name, value in match.groupdict().items()}
    if groups["day"]:
        return moment.shift(words.DAYS.get(groups["day"], 0), "day")
    for month, day, year in (("mon", "dom", "yr"), ("mon2", "dom2", "yr2"), ("mon3", "", "yr3"), ("mon4", "", "yr4")):
        if groups[month]:
            return _read_english_month(
                moment,
                groups[month],
                groups[year],
                lambda whole, of=day: in_month(whole, int(groups[of])) if of else whole,
            )
    if groups["dom3"]:
        return in_month(moment.month(words.RELATIONS.get(groups["mrel"], 0)), int(groups["dom3"]))
    if groups["dom4"]:
        return moment.by_month(lambda month: in_month(month, int(groups["dom4"])))
    if groups["num"] or groups["num2"]:
        return _resolve_counted(groups, moment)
    if groups["rel"]:
        return _resolve_relative(groups["rel"].split()[-1], groups["what"], moment)
    if groups["rmon"]:
        number, sign = _month_number(groups["rmon"]), words.RELATIONS[groups["rel2"]]
        years = [month_of(moment.today.year + count, number) for count in (-1, 0, 1)]
        return next(each for each in years[::sign] if (each[0] > moment.today if sign > 0 else each[1] < moment.today))
    if groups["wday"]:
        return moment.of_week(_weekday_number(groups["wday"]), None)
    if third := groups["part"] or groups["part2"]:
        return _read_english_part(groups, words.THIRDS[third], moment)
    if groups["yonly"]:
        return year_of(int(groups["yonly"]))
    if groups["named"]:
        sign = words.RELATIONS.get(groups["nrel"])
        return replace(moment, tense=sign or moment.tense).by_year(lambda year: festival(groups["named"], year))
    month, day = sorted((int(groups["slash"]), int(groups["slash2"])))
    return moment.by_year(lambda year: day_of(year, month, day)) if day > 12 or month == day else None


def _month_number(name: str) -> int:
    return words.MONTHS.index(name[:3]) + 1


def _weekday_number(name: str) -> int:
    return ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(name[:3])


def _read_english_month(
    moment: Moment, name: str, year: str, within: Callable[[Stretch], Stretch | None]
) -> Stretch | None:
    """The month, or a part of it, in the given or the likeliest year."""
    number = _month_number(name)
    if year:
        return within(month_of(int(year), number))
    return moment.by_year(lambda each: within(month_of(each, number)))


def _read_english_part(groups: dict[str, str], third: int, moment: Moment) -> Stretch | None:
    """The beginning, the middle or the end of a period, or its last day for a deadline."""
    if groups["whole"]:
        stretch = part_of(moment.shift(words.RELATIONS.get(groups["prel"], 0), groups["whole"]), third)
    else:
        meant = replace(moment, tense=moment.tense or int(bool(groups["by"])))
        stretch = _read_english_month(meant, groups["pmon"], groups["pyr"], lambda month: part_of(month, third))
    return one_day(stretch[1]) if stretch and groups["by"] and groups["part2"] == "end" else stretch


def _resolve_counted(groups: dict[str, str], moment: Moment) -> Stretch | None:
    """The time so many units ago or from now; a duration is no date."""
    count, unit = groups["num"] or groups["num2"], groups["unit"] or groups["unit2"]
    if not groups["ago"] and not groups["wfrom"] and not groups["dfrom"] and moment.tense < 0:
        return None
    sign = -1 if groups["ago"] else 1
    if count.startswith("half"):
        return moment.month(6 * sign) if unit == "year" else None
    number = int(count) if count.isdigit() else words.NUMBERS_EN.index({"a": "one", "an": "one"}.get(count, count))
    if unit in words.SEASONS:
        return moment.season(words.SEASONS[unit], sign * number)
    if not groups["wfrom"] and not groups["dfrom"]:
        return moment.shift(sign * number, unit)
    if unit not in ("day", "week"):
        return None
    weekday = _weekday_number(groups["wfrom"]) if groups["wfrom"] else None
    tomorrow = moment.shift(groups["dfrom"] == "tomorrow", "day")
    first = tomorrow[0] if weekday is None else moment.of_week(weekday, None)[0]
    return one_day(first + timedelta(days=number * (7 if unit == "week" else 1)))


def _resolve_relative(relation: str, what: str, moment: Moment) -> Stretch | None:
    sign = words.RELATIONS.get(relation, 0)
    if what in words.SEASONS:
        return moment.season(words.SEASONS[what], sign)
    if what in ("week", "month", "year"):
        return moment.shift(sign, what)
    if what == "weekend":
        return moment.of_week(None, sign)
    weekday = _weekday_number(what)
    if sign and relation != "next":
        return replace(moment, tense=sign).of_week(weekday, None)
    return moment.of_week(weekday, sign)
