"""Which stretch of time a text speaks of, in both languages; half-open, in the zone of `now` (facts 2.1 'scope phrases')."""

# ruff: noqa: E501, SIM905 - one rule, one list of words per line
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from shared.text.patterns import to_pattern

Range = tuple[datetime, datetime]
Days = tuple[date, date]
"""A first day and the day after the last."""

_ZH_DIGITS = {
    "零": 0,
    "〇": 0,
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
}
_EN_NUMBERS = {
    **{word: value for value, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())},
    "a": 1, "an": 1, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip
_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = r"(?P<count>\d{1,3}|an?|a couple(?: of)?|couple(?: of)?|a few|few|several|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_ZH_COUNT = r"(?P<count>\d{1,3}|[一二两三四五六七八九十]{1,3}|半|几|数)"


def time_range(text: str, now: datetime) -> Range | None:
    """The first past or present time that the text names, or None; a day, week, month, season or year long."""
    lower = arabic(text.lower())
    today = now.date()
    for pattern, resolve in _RULES:
        for match in pattern.finditer(lower):
            try:
                found = resolve(match, today)
            except (ValueError, OverflowError):
                continue
            if found and found[0] <= today:
                zone = now.tzinfo or UTC
                start, end = (datetime(day.year, day.month, day.day, tzinfo=zone) for day in found)
                return start, end
    return None


_HAN_MONTH = to_pattern(
    r"(?<![一二三四五六七八九十几])(?P<month>十[一二]?|[一二三四五六七八九])(?P<mid>\s*月份?\s*)"
    r"(?:(?P<day>[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=\s*[日号]))?"
)


def arabic(text: str) -> str:
    """The text with the numerals of Chinese months and days as digits: 三月十二号 is 3月12号."""

    def plain(match: re.Match[str]) -> str:
        day = str(_number(match["day"])) if match["day"] else ""
        return f"{_number(match['month'])}{match['mid']}{day}"

    return _HAN_MONTH.sub(plain, text) if "月" in text else text


def _number(word: str) -> int:
    word = word.removeprefix("a ").removesuffix(" of").strip()
    if word.isdigit():
        return int(word)
    if word in _EN_NUMBERS:
        return _EN_NUMBERS[word]
    if word in ("几", "数"):
        return 3
    tens, found, units = word.partition("十")
    if found:
        return (_ZH_DIGITS[tens] if tens else 1) * 10 + (_ZH_DIGITS[units] if units else 0)
    return _ZH_DIGITS[word[-1]]


def _days(first: date, length: int = 1) -> Days:
    return first, first + timedelta(days=length)


def _month(year: int, month: int, length: int = 1) -> Days:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = month - 1 + length
    return date(year, month, 1), date(year + after // 12, after % 12 + 1, 1)


def _year(year: int) -> Days:
    return date(year, 1, 1), date(year + 1, 1, 1)


def _week(today: date, back: int) -> Days:
    return _days(today - timedelta(days=today.weekday() + 7 * back), 7)


def _ago(unit: str, count: int, today: date) -> Days:
    """A stretch around the moment, wider the longer ago."""
    if unit in ("day", "天", "日"):
        return _days(today - timedelta(days=count))
    if unit in ("week", "周", "星期", "礼拜"):
        return _days(today - timedelta(days=7 * count + 3), 7)
    if unit in ("month", "月"):
        return _month(today.year, today.month - count)
    return _year(today.year - count)


def _past(unit: str, count: int, today: date) -> Days:
    """From that long ago to the end of today."""
    length = {"day": 1, "天": 1, "日": 1, "week": 7, "周": 7, "星期": 7, "礼拜": 7, "month": 31, "月": 31}.get(
        unit, 366
    )
    return today - timedelta(days=count * length), today + timedelta(days=1)


def _named_month(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, start=1) if month.startswith(name[:3]))


def _latest_month(month: int, today: date, year: str | None) -> Days:
    return _month(int(year) if year else today.year - (month > today.month), month)


def _latest_day(month: int, day: int, today: date, year: str | None) -> Days:
    if year:
        return _days(date(int(year), month, day))
    this_year = date(today.year, month, day)
    return _days(this_year if this_year <= today else date(today.year - 1, month, day))


def _season(name: str, year: int) -> Days:
    return _month(year, _SEASONS[name], 3)


def _weekday(at: int, back: int, today: date) -> Days:
    return _days(today - timedelta(days=today.weekday() - at + 7 * back))


def _last_weekday(name: str, today: date) -> Days:
    at = next(place for place, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))
    return _days(today - timedelta(days=(today.weekday() - at - 1) % 7 + 1))


def _relative_year(match: re.Match[str], today: date) -> int:
    return today.year - {"今": 0, "去": 1, "前": 2}[match["rel"]]


Rule = Callable[[re.Match[str], date], Days | None]
_RAW: tuple[tuple[str, Rule], ...] = (
    (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, m["year"])),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*[日号]", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, m["year"])),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月", lambda m, t: _month(int(m["year"]), int(m["month"]))),
    (rf"{_YEAR}\s*年\s*(?P<season>[春夏秋冬])", lambda m, t: _season(m["season"], int(m["year"]))),
    (rf"{_YEAR}\s*年", lambda m, t: _year(int(m["year"]))),
    (r"(?P<rel>[今去前])年的?\s*(?P<month>\d{1,2})\s*月(?:份)?(?:\s*(?P<day>\d{1,2})\s*[日号])?", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, str(_relative_year(m, t))) if m["day"] else _month(_relative_year(m, t), int(m["month"]))),
    (r"(?P<rel>[今去前])年的?\s*(?P<season>[春夏秋冬])", lambda m, t: _season(m["season"], _relative_year(m, t))),
    (r"(?<![\d年])(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, None)),
    (rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:\s*,?\s*{_YEAR})?", lambda m, t: _latest_day(_named_month(m["month"]), int(m["day"]), t, m["year"])),
    (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:\s*,?\s*{_YEAR})?\b", lambda m, t: _latest_day(_named_month(m["month"]), int(m["day"]), t, m["year"])),
    (rf"\b{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}\b", lambda m, t: _month(int(m["year"]), _named_month(m["month"]))),
    (rf"\b(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?{_YEAR}\b", lambda m, t: _season(m["season"], int(m["year"]))),
    (r"\blast\s+(?P<season>spring|summer|autumn|fall|winter)\b", lambda m, t: _season(m["season"], t.year - (_SEASONS[m["season"]] + 3 > t.month))),
    (rf"\b(?:last|past|previous)\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?\b", lambda m, t: _past(m["unit"], _number(m["count"]), t)),
    (rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+(?:ago|back|earlier)\b", lambda m, t: _ago(m["unit"], _number(m["count"]), t)),
    (r"半\s*(?:个)?年(?:以)?前", lambda m, t: _month(t.year, t.month - 7, 3)),
    (rf"{_ZH_COUNT}\s*个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:以|之)?前", lambda m, t: _ago(m["unit"], _number(m["count"]), t)),
    (rf"(?:最近|近|过去|这)(?:的)?\s*{_ZH_COUNT}\s*个?(?P<unit>天|日|周|星期|礼拜|月|年)", lambda m, t: _past(m["unit"], 1 if m["count"] == "半" else _number(m["count"]), t)),
    (r"大前天", lambda m, t: _days(t - timedelta(days=3))),
    (r"前天|前晚|\bday before yesterday\b", lambda m, t: _days(t - timedelta(days=2))),
    (r"昨天|昨日|昨晚|昨夜|\byesterday\b|\blast night\b", lambda m, t: _days(t - timedelta(days=1))),
    (r"上上(?:个)?(?:周|星期|礼拜)", lambda m, t: _week(t, 2)),
    (r"上上个?月", lambda m, t: _month(t.year, t.month - 2)),
    (r"上(?:个)?(?:周|星期|礼拜)(?P<day>[一二三四五六日天])", lambda m, t: _weekday("一二三四五六日".find(m["day"].replace("天", "日")), 1, t)),
    (r"上(?:个)?周末|\blast weekend\b", lambda m, t: _days(t - timedelta(days=t.weekday() + 2), 2)),
    (r"上(?:一)?(?:个)?(?:周|星期|礼拜)|\b(?:last|previous|past) week\b", lambda m, t: _week(t, 1)),
    (r"(?:这|本)(?:个)?(?:周|星期|礼拜)|\bthis week\b", lambda m, t: _week(t, 0)),
    (r"上(?:一)?个月|\b(?:last|previous|past) month\b", lambda m, t: _month(t.year, t.month - 1)),
    (r"(?:这个|本|当)月|\bthis month\b", lambda m, t: _month(t.year, t.month)),
    (r"大前年", lambda m, t: _year(t.year - 3)),
    (r"前年", lambda m, t: _year(t.year - 2)),
    (r"去年|上一年|\b(?:last|previous) year\b", lambda m, t: _year(t.year - 1)),
    (r"今年|本年|\bthis year\b", lambda m, t: _year(t.year)),
    (rf"\blast\s+(?P<day>{'|'.join(_WEEKDAYS)}|mon|tue|wed|thu|fri|sat|sun)\b", lambda m, t: _last_weekday(m["day"], t)),
    (rf"\b(?:in|during|since|last|this|of)\s+{_MONTH}(?!\w)(?!\s*,?\s*\d)", lambda m, t: _latest_month(_named_month(m["month"]), t, None)),
    (rf"\b(?:in|during|since)\s+{_YEAR}\b", lambda m, t: _year(int(m["year"]))),
    (r"(?<![\d年])(?P<month>1[0-2]|[1-9])月(?:份)?(?!\d)", lambda m, t: _latest_month(int(m["month"]), t, None)),
    (r"今天|今日|今早|今晚|\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b", lambda m, t: _days(t)),
    (r"最近|近期|近来|这几天|这阵子|这段时间|\brecent(?:ly)?\b|\blately\b|\bthese days\b", lambda m, t: _past("day", 30, t)),
)  # fmt: skip
_RULES = [(to_pattern(pattern), resolve) for pattern, resolve in _RAW]
