"""Dates said in words, resolved against the day on which they were said."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from shared.reading.gates import gate
from shared.text.patterns import to_pattern
from shared.text.recall import of_texts

_ZH_NUMBER = {
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "半": 0,
    "几": 3,
    "俩": 2,
    "十一": 11,
    "十二": 12,
    "十五": 15,
    "二十": 20,
    "三十": 30,
}
_WEEK_ZH = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5}
_WEEK_EN = {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6, "weekend": 5}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS_ZH = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨晚": -1,
    "昨日": -1,
    "今天": 0,
    "今早": 0,
    "今晚": 0,
    "今日": 0,
    "刚刚": 0,
    "刚才": 0,
    "明天": 1,
    "明早": 1,
    "明晚": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
}
_NUM_EN = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "couple of": 2,
    "a couple of": 2,
    "few": 3,
    "a few": 3,
    "several": 4,
}

_ISO = to_pattern(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?:日|号)?(?!\d)")
_ZH = to_pattern(
    r"(?P<day>大前天|前天|昨天|昨晚|昨日|今天|今早|今晚|今日|刚刚|刚才|明天|明早|明晚|明日|大后天|后天)"
    r"|(?P<wrel>上上个?|上个?|这个?|本|下下个?|下个?)?(?:周|星期|礼拜)(?P<wday>[一二三四五六日天末])"
    r"|(?P<week>上上|上个?|这个?|本|下个?)(?:周|星期|礼拜)(?![一二三四五六日天末])"
    r"|(?P<year>去年|今年|明年|前年|后年|\d{4}年)?的?(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
    r"(?:份)?(?:(?P<mday>\d{1,2}|二十[一二三四五六七八九]?|三十一?|十[一二三四五六七八九]?|[一二三四五六七"
    r"八九])[日号])?"
    r"|(?P<mrel>上上个|上个|这个|本|下个)月(?P<mdom>\d{1,2})?[日号]?(?P<mend>底|初)?"
    r"|(?P<ago>\d{1,3}|[一二两三四五六七八九十几半]+)个?(?P<unit>天|周|星期|礼拜|月|年)(?P<dir>以?前|以?后|之前|之后)"
    r"|(?P<end>月底|月末|年底|年末)|(?P<yonly>去年|前年|明年|\d{4}年)|(?P<dom>\d{1,2})[号日](?!楼|店|线|机)"
)
_EN = to_pattern(
    r"\b(?:(?P<day>today|tonight|this (?:morning|afternoon|evening)|yesterday|last night|tomorrow"
    r"|the day before yesterday|the day after tomorrow)"
    r"|(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?\s+(?P<dom>\d{1,2})(?:st|"
    r"nd|rd|th)?(?:,?\s+(?P<yr>\d{4}))?"
    r"|(?:the\s+)?(?P<dom2>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon2>jan(?:uary)?|feb(?:ruary)?"
    r"|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\b(?:,?\s+(?P<yr2>\d{4}))?"
    r"|(?P<num>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few"
    r"|several|few)\s+(?P<unit>day|week|weekend|month|year)s?\s+(?P<ago>ago|from now|back|later)"
    r"|in\s+(?P<num2>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of"
    r"|a few)\s+(?P<unit2>day|week|month|year)s?"
    r"|(?P<rel>last|next|this|this past|this coming|past|coming)\s+(?P<what>week(?:end)?|month"
    r"|year|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?|spring|summer|autumn|fall|winter)"
    r"|(?:on|by|before|until|till|this)?\s*(?P<wday>mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?P<end>end of (?:the |this )?(?:month|year|week))"
    r"|(?:in|since|back in|by)\s+(?P<mon3>january|february|march|april|may|june|july|august|"
    r"september|october|november|december)(?!\s+\d{1,2}(?!\d))(?:\s+(?P<yr3>\d{4}))?"
    r"|(?:in|since|back in|by)\s+(?P<yr4>(?:19|20)\d{2}))\b",
    re.I,
)


_LATIN = to_pattern(r"[A-Za-z]{2}")
_SIGN = to_pattern(
    r"[天晚日早周月年号底]|星期|礼拜|刚[刚才]|[12]\d\d\d|day|week|month|year|ago|last|next|night|in \d"
    r"|\d(?:st|nd|rd|th)\b"
    r"|tomorrow|morning|evening|after|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    re.I,
)


NAMED = gate(_ISO, _ZH, _EN)


@dataclass(frozen=True, slots=True)
class Said:
    """A date as said: its words, their place, the day meant and how exactly it is meant."""

    text: str
    start: int
    end: int
    day: date
    exact: bool


@of_texts(512)
def find(text: str, today: date) -> Said | None:
    """The first date that the text names."""
    if not _SIGN.search(text):
        return None
    ascii_only = text.isascii()
    for pattern, resolve in ((_ISO, _iso), (_ZH, _chinese), (_EN, _english)):
        if (pattern is _ZH and ascii_only) or (pattern is _EN and not (ascii_only or _LATIN.search(text))):
            continue
        for match in pattern.finditer(text):
            resolved = resolve(match, today)
            if resolved and resolve is _english and match["wday"]:
                exact = _EN.match(text, match.end() + 2) if text.startswith(", ", match.end()) else None
                if exact and exact["mon"] and (named := _english(exact, today)):
                    return Said(text[match.start() : exact.end()].strip(), match.start(), exact.end(), *named)
            if resolved:
                return Said(match.group().strip(), match.start(), match.end(), *resolved)
    return None


def coming(text: str, today: date) -> Said | None:
    """The first date of something yet to come: a day of a month that is long over means the next year's."""
    said = find(text, today)
    if (
        said is None
        or not said.exact
        or (today - said.day).days < 60
        or re.search(r"\d{4}|去年|last|ago|前", said.text)
    ):
        return said
    day = _safe(said.day.year + 1, said.day.month, said.day.day)
    return replace(said, day=day) if day else said


def _iso(match: re.Match[str], _: date) -> tuple[date, bool] | None:
    day = _safe(int(match[1]), int(match[2]), int(match[3]))
    return (day, True) if day else None


def _safe(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _months(today: date, count: int, day: int | None = None) -> date:
    index = today.year * 12 + today.month - 1 + count
    wanted = day or today.day
    return next(
        found for back in range(4) if (found := _safe(index // 12, index % 12 + 1, max(1, min(wanted, 31) - back)))
    )


def _zh_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text in _ZH_NUMBER:
        return _ZH_NUMBER[text]
    tens, _, ones = text.partition("十")
    return _ZH_NUMBER.get(tens, 1) * 10 + _ZH_NUMBER.get(ones, 0)


def _chinese(match: re.Match[str], today: date) -> tuple[date, bool] | None:
    said = match.groupdict()
    if said["day"]:
        return today + timedelta(days=_DAYS_ZH[said["day"]]), True
    if said["wday"]:
        return _weekday(today, _WEEK_ZH[said["wday"]], said["wrel"] or ""), True
    if said["week"]:
        shift = (
            -14
            if said["week"].startswith("上上")
            else -7
            if said["week"][0] == "上"
            else 7
            if said["week"][0] == "下"
            else 0
        )
        return today + timedelta(days=shift), False
    if said["month"]:
        return _month_day(
            today, said["year"], _zh_number(said["month"]), _zh_number(said["mday"]) if said["mday"] else None
        )
    if said["mrel"]:
        count = (
            -2
            if said["mrel"].startswith("上上")
            else -1
            if said["mrel"][0] == "上"
            else 1
            if said["mrel"][0] == "下"
            else 0
        )
        day = int(said["mdom"]) if said["mdom"] else 28 if said["mend"] == "底" else 1 if said["mend"] else None
        return _months(today, count, day), bool(said["mdom"])
    if said["ago"]:
        sign = -1 if "前" in said["dir"] else 1
        return _shift(today, sign * _zh_number(said["ago"]), said["unit"]), said["unit"] == "天"
    if said["end"]:
        return (_months(today, 1, 1) - timedelta(days=1) if "月" in said["end"] else date(today.year, 12, 31)), True
    if said["yonly"]:
        return date(_year(today, said["yonly"]), 1, 1), False
    day = _safe(today.year, today.month, int(said["dom"]))
    return (day, True) if day else None


def _year(today: date, said: str) -> int:
    return (
        today.year + {"去年": -1, "前年": -2, "明年": 1, "后年": 2, "今年": 0}[said]
        if not said[0].isdigit()
        else int(said[:4])
    )


def _month_day(today: date, year: str | None, month: int, day: int | None) -> tuple[date, bool] | None:
    found = _safe(_year(today, year) if year else today.year, month, day or 1)
    return (found, day is not None) if found else None


def _weekday(today: date, weekday: int, relation: str) -> date:
    monday = today - timedelta(days=today.weekday())
    weeks = (
        -2
        if relation.startswith("上上")
        else -1
        if relation.startswith("上")
        else 2
        if relation.startswith("下下")
        else 1
        if relation.startswith("下")
        else 0
    )
    day = monday + timedelta(days=7 * weeks + weekday)
    return day + timedelta(days=7) if not relation and day < today else day


def _shift(today: date, count: int, unit: str) -> date:
    if unit in ("月", "month"):
        return _months(today, count)
    if unit in ("年", "year"):
        return _months(today, 12 * count)
    return today + timedelta(days=count * (1 if unit in ("天", "day") else 7))


def _english(match: re.Match[str], today: date) -> tuple[date, bool] | None:
    said = {name: value.lower() if value else "" for name, value in match.groupdict().items()}
    if said["day"]:
        shift = {
            "yesterday": -1,
            "last night": -1,
            "tomorrow": 1,
            "the day before yesterday": -2,
            "the day after tomorrow": 2,
        }
        return today + timedelta(days=shift.get(said["day"], 0)), True
    for mon, dom, year in (("mon", "dom", "yr"), ("mon2", "dom2", "yr2")):
        if said[mon]:
            day = _safe(int(said[year]) if said[year] else today.year, _MONTHS.index(said[mon][:3]) + 1, int(said[dom]))
            return (day, True) if day else None
    if said["num"]:
        sign = -1 if said["ago"] in ("ago", "back") else 1
        return _shift(today, sign * _number(said["num"]), said["unit"]), said["unit"] == "day"
    if said["num2"]:
        return _shift(today, _number(said["num2"]), said["unit2"]), said["unit2"] == "day"
    if said["rel"]:
        return _relative(today, said["rel"].split()[-1], said["what"])
    if said["wday"]:
        return _weekday(today, _WEEK_EN[said["wday"][:3]], ""), True
    if said["end"]:
        if "week" in said["end"]:
            return today + timedelta(days=6 - today.weekday()), True
        return (_months(today, 1, 1) - timedelta(days=1) if "month" in said["end"] else date(today.year, 12, 31)), True
    if said["mon3"]:
        month = _MONTHS.index(said["mon3"][:3]) + 1
        return date(int(said["yr3"]) if said["yr3"] else today.year, month, 1), False
    return date(int(said["yr4"]), 1, 1), False


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUM_EN.get(text, 1)


def _relative(today: date, relation: str, what: str) -> tuple[date, bool]:
    sign = -1 if relation in ("last", "past") else 1 if relation in ("next", "coming") else 0
    if what in ("week", "month", "year"):
        return _shift(today, sign, what), False
    if what in ("spring", "summer", "autumn", "fall", "winter"):
        month = {"spring": 4, "summer": 7, "autumn": 10, "fall": 10, "winter": 1}[what]
        return date(today.year + sign, month, 1), False
    weekday = _WEEK_EN["weekend" if what == "weekend" else what[:3]]
    if sign < 0:
        return today - timedelta(days=((today.weekday() - weekday - 1) % 7) + 1), True
    if sign > 0:
        return today + timedelta(days=((weekday - today.weekday() - 1) % 7) + 1), True
    return today - timedelta(days=today.weekday()) + timedelta(days=weekday), True
