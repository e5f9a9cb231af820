"""The period that a text refers to, in both languages; half-open, in the zone of `now`."""

# ruff: noqa: E501, SIM905 - one rule, one list of words per line
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo

from shared.cache import of_texts
from shared.language.festivals import FESTIVALS, Days, days_from
from shared.language.patterns import to_pattern

Range = tuple[datetime, datetime]

_ZH_DIGITS = {**{digit: value for value, digit in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
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
    """The first past or present time in the text, or None; from a day to a year long."""
    days = next((found for _, found in _times(text, now.date())), None)
    zone = now.tzinfo or UTC
    return None if days is None else (_midnight(days[0], zone), _midnight(days[1], zone))


def without_times(text: str, now: datetime) -> str:
    """The case-folded text without the words for a past or present time."""
    lower = arabic(text.lower())
    for start, end in sorted((span for span, _ in _times(text, now.date())), reverse=True):
        lower = f"{lower[:start]} {lower[max(end, start) :]}"
    return lower


@of_texts(200)
def _times(text: str, today: date) -> tuple[tuple[tuple[int, int], Days], ...]:
    """The matches of each rule in the folded text outside earlier matches, in rule order."""
    lower = arabic(text.lower())
    taken: set[int] = set()
    times: list[tuple[tuple[int, int], Days]] = []
    for pattern, resolve in _RULES:
        for match in pattern.finditer(lower):
            if not taken.isdisjoint(range(*match.span())):
                continue
            try:
                days = resolve(match, today)
            except (ValueError, OverflowError, KeyError):  # no such day, or a festival of a year that is not known
                continue
            if days and days[0] <= today:
                taken.update(range(*match.span()))
                times.append((match.span(), days))
    return tuple(times)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


_HAN_MONTH = to_pattern(
    r"(?<![一二三四五六七八九十几])(?P<month>十[一二]?|[一二三四五六七八九])(?P<mid>\s*月份?\s*)"
    r"(?:(?P<day>[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=\s*[日号]))?"
)


def arabic(text: str) -> str:
    """The text with Chinese numerals of months and days as digits: 三月十二号 becomes 3月12号."""

    def to_plain_date(match: re.Match[str]) -> str:
        day = str(_number(match["day"])) if match["day"] else ""
        return f"{_number(match['month'])}{match['mid']}{day}"

    return _HAN_MONTH.sub(to_plain_date, text) if "月" in text else text


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


def _month(year: int, month: int, length: int = 1) -> Days:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = month - 1 + length
    return date(year, month, 1), date(year + after // 12, after % 12 + 1, 1)


def _year(year: int) -> Days:
    return date(year, 1, 1), date(year + 1, 1, 1)


def _week(today: date, back: int) -> Days:
    return days_from(today - timedelta(days=today.weekday() + 7 * back), 7)


def find_days_ago(unit: str, count: int, today: date) -> Days:
    """A period around the time, longer for one longer ago."""
    if unit in ("day", "天", "日"):
        return days_from(today - timedelta(days=count))
    if unit in ("week", "周", "星期", "礼拜"):
        return days_from(today - timedelta(days=7 * count + 3), 7)
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


def _weekday_number(name: str) -> int:
    return next(at for at, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))


def _latest_month(month: int, today: date, year: str | None) -> Days:
    return _month(int(year) if year else today.year - (month > today.month), month)


def _latest_day(month: int, day: int, today: date, year: str | None) -> Days:
    if year:
        return days_from(date(int(year), month, day))
    this_year = date(today.year, month, day)
    return days_from(this_year if this_year <= today else date(today.year - 1, month, day))


def _season(name: str, year: int) -> Days:
    return _month(year, _SEASONS[name], 3)


def _weekday(at: int, back: int, today: date) -> Days:
    return days_from(today - timedelta(days=today.weekday() - at + 7 * back))


def _last_weekday(name: str, today: date) -> Days:
    return days_from(today - timedelta(days=(today.weekday() - _weekday_number(name) - 1) % 7 + 1))


def _weekday_past(at: int, today: date, *, told: bool) -> Days | None:
    """The past day of this week; a later weekday is one of last week in a statement about the past."""
    back = int(at > today.weekday())
    return _weekday(at, back, today) if not back or told else None


def _year_of(match: re.Match[str], today: date) -> int | None:
    """The year in the words: a number, or this, last or the year before."""
    told = match.groupdict()
    if told.get("year"):
        return int(told["year"])
    rel = told.get("rel")
    return today.year - _RELATIVE_YEARS[rel] if rel else None


def _part_of_year(match: re.Match[str], today: date) -> Days:
    first, length = _YEAR_PARTS[next(part for part in _YEAR_PARTS if part in match["part"])]
    year = _year_of(match, today) or today.year - (first > today.month)
    return _month(year, first, length)


def _quarter(year: int | None, quarter: int, today: date) -> Days:
    first = 3 * quarter - 2
    return _month(year or today.year - (first > today.month), first, 3)


def _part_of_month(first: date, part: str) -> Days:
    """The first ten days of the month that begins then, the next ten, or the rest."""
    start, end = _MONTH_PARTS[next(each for each in _MONTH_PARTS if each in part)]
    after = _month(first.year, first.month)[1]
    return first + timedelta(days=start), first + timedelta(days=end) if end else after


def _latest_part_of_month(part: str, today: date) -> Days:
    """Of this month if it is past, otherwise of the last."""
    found = _part_of_month(today.replace(day=1), part)
    return found if found[0] <= today else _part_of_month(_month(today.year, today.month - 1)[0], part)


def _month_and_part(match: re.Match[str], today: date) -> Days:
    month = int(match["month"]) if match["month"].isdigit() else _named_month(match["month"])
    year = _year_of(match, today)
    return _part_of_month(_latest_month(month, today, str(year) if year else None)[0], match["part"])


def _latest(days: Callable[[int], Days], year: int | None, today: date) -> Days:
    """That of the given year; without one, of this year if it is past, otherwise of the last."""
    if year:
        return days(year)
    found = days(today.year)
    return found if found[0] <= today else days(today.year - 1)


def _festival(match: re.Match[str], today: date) -> Days:
    name = next(each for each in FESTIVALS if each in match["name"])
    return _latest(FESTIVALS[name], _year_of(match, today), today)


def _festival_en(match: re.Match[str], today: date) -> Days:
    """`last` says that it is over, not that it was a year ago."""
    if match["rel"] and not match["year"]:
        name = next(each for each in FESTIVALS if each in match["name"])
        return _latest(FESTIVALS[name], None, today)
    return _festival(match, today)


def _latest_day_of_month(day: int, today: date) -> Days:
    if day <= today.day:
        return days_from(today.replace(day=day))
    before = _month(today.year, today.month - 1)[0]
    return days_from(before.replace(day=day))


_RELATIVE_YEARS = {"今": 0, "去": 1, "前": 2, "this": 0, "last": 1}
_YEAR_PARTS = {
    "年初": (1, 2), "年中": (6, 2), "年底": (11, 2), "年末": (11, 2), "上半年": (1, 6), "下半年": (7, 6),
    "first half": (1, 6), "second half": (7, 6), "early": (1, 3), "start": (1, 2), "beginning": (1, 2),
    "mid": (5, 4), "late": (10, 3), "end": (11, 2),
}  # fmt: skip
_MONTH_PARTS = {
    "初": (0, 10), "上旬": (0, 10), "中": (10, 20), "下旬": (20, 0), "底": (20, 0), "末": (20, 0),
    "first half": (0, 15), "second half": (15, 0), "early": (0, 10), "start": (0, 10), "beginning": (0, 10), "mid": (10, 20), "late": (20, 0), "end": (20, 0),
}  # fmt: skip
_EN_PART = (
    r"(?P<part>early|late|mid(?:dle)?|start|beginning|end|(?:first|second) half)(?:[\s-]+|\s+of\s+)(?:in\s+|the\s+)?"
)
_ZH_YEAR = r"(?:(?P<year>(?:19|20)\d\d)年的?|(?P<rel>[今去前])(?:年的?)?)?"
_ZH_WEEK = r"个?(?:周|星期|礼拜)"
_ZH_DAYS = "一二三四五六日"
_TOLD = to_pattern(r"那[天会晚]|[了过]|\b(?:did|was|were|had|went|said|told|happened|talked?|discuss(?:ed)?)\b")
"""Marks of a statement or question about the past."""


def _zh_weekday(match: re.Match[str], back: int, today: date) -> Days:
    return _weekday(_ZH_DAYS.find(match["day"].replace("天", "日")), back, today)


def is_told(match: re.Match[str]) -> bool:
    return _TOLD.search(match.string) is not None


def _vaguely_ago(unit: str, today: date) -> Days:
    """Two to six units ago."""
    return find_days_ago(unit, 6, today)[0], find_days_ago(unit, 2, today)[1]


def _half_year_ago(today: date) -> Days:
    return _month(today.year, today.month - 7, 3)


Rule = Callable[[re.Match[str], date], Days | None]
_RAW: tuple[tuple[str, Rule], ...] = (
    (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, m["year"])),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*[日号]", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, m["year"])),
    (rf"{_ZH_YEAR}\s*(?P<month>1[0-2]|[1-9])月份?的?(?P<part>初|上旬|中旬|下旬|底|末)", _month_and_part),
    (rf"{_EN_PART}{_MONTH}(?!\w)(?:,?\s*(?:of\s+)?{_YEAR})?", _month_and_part),
    (rf"{_ZH_YEAR}(?P<part>年初|年中|年底|年末|上半年|下半年)", _part_of_year),
    (rf"{_EN_PART}(?:(?P<rel>this|last) year|(?<=the )year|{_YEAR})\b", _part_of_year),
    (rf"{_ZH_YEAR}第?(?P<n>[一二三四1-4])季度", lambda m, t: _quarter(_year_of(m, t), _number(m["n"]), t)),
    (rf"\bq(?P<n>[1-4])\b(?:\s+(?:of\s+)?{_YEAR})?", lambda m, t: _quarter(_year_of(m, t), int(m["n"]), t)),
    (rf"\b(?P<n>first|second|third|fourth) quarter\b(?:\s+(?:of\s+)?{_YEAR})?", lambda m, t: _quarter(_year_of(m, t), ["first", "second", "third", "fourth"].index(m["n"]) + 1, t)),
    (r"上一?个?季度|\b(?:last|previous) quarter\b", lambda m, t: _month(t.year, (t.month - 1) // 3 * 3 - 2, 3)),
    (r"(?:这个?|本)季度|\bthis quarter\b", lambda m, t: _month(t.year, (t.month - 1) // 3 * 3 + 1, 3)),
    (r"(?:(?P<year>(?:19|20)\d\d)年的?|(?P<rel>[今去前])年的?)?(?P<name>平安夜|圣诞节?|元旦|跨年|春节|过年(?!货)|(?:大)?年三十|除夕|元宵节?|端午节?|中秋节?|清明节?|五一(?!路|广场|村)|劳动节|六一(?=[儿节去那])|儿童节|国庆节?|十一(?:假期|长假)|双十一|双11|教师节|情人节|妇女节|万圣节?|感恩节|暑假|寒假)", _festival),
    (rf"\b(?:(?P<rel>this|last)\s+)?(?P<name>christmas eve|christmas|xmas|chinese new year|lunar new year|new year'?s eve|new year'?s(?: day)?|spring festival|dragon boat(?: festival)?|mid-autumn(?: festival)?|valentine'?s?(?: day)?|halloween|thanksgiving|easter|independence day|(?:fourth|4th) of july|national day|(?:summer|spring|winter) break|summer vacation|holiday season|(?<=during )the holidays|(?<=over )the holidays)\b(?:(?:,?\s+(?:of\s+|in\s+)?){_YEAR})?", _festival_en),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月", lambda m, t: _month(int(m["year"]), int(m["month"]))),
    (rf"{_YEAR}\s*年\s*(?P<season>[春夏秋冬])天?", lambda m, t: _season(m["season"], int(m["year"]))),
    (rf"{_YEAR}\s*年", lambda m, t: _year(int(m["year"]))),
    (r"(?P<rel>[今去前])年的?\s*(?P<month>\d{1,2})\s*月(?:份)?(?:\s*(?P<day>\d{1,2})\s*[日号])?", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, str(_year_of(m, t))) if m["day"] else _month(_year_of(m, t) or t.year, int(m["month"]))),
    (r"(?P<rel>[今去前])年的?\s*(?P<season>[春夏秋冬])天?", lambda m, t: _season(m["season"], _year_of(m, t) or t.year)),
    (r"(?<![\d年])(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]", lambda m, t: _latest_day(int(m["month"]), int(m["day"]), t, None)),
    (rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:\s*,?\s*{_YEAR})?", lambda m, t: _latest_day(_named_month(m["month"]), int(m["day"]), t, m["year"])),
    (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:\s*,?\s*{_YEAR})?\b", lambda m, t: _latest_day(_named_month(m["month"]), int(m["day"]), t, m["year"])),
    (rf"\b{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}\b", lambda m, t: _month(int(m["year"]), _named_month(m["month"]))),
    (rf"\b(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?{_YEAR}\b", lambda m, t: _season(m["season"], int(m["year"]))),
    (r"\blast\s+(?P<season>spring|summer|autumn|fall|winter)\b", lambda m, t: _season(m["season"], t.year - (_SEASONS[m["season"]] + 3 > t.month))),
    (r"\b(?:this|(?:in|over|during) the)\s+(?P<season>spring|summer|autumn|fall|winter)\b|(?P<zh>[春夏秋冬])天(?:的时候|那会儿?|那阵子?|里)", lambda m, t: _latest(lambda year: _season(m["season"] or m["zh"], year), None, t)),
    (r"\b(?:this time|today) last year\b|\ba year ago (?:today|now)\b|去年的?(?:今天|这时候?|这个时候|同期)", lambda m, t: days_from(t - timedelta(days=372), 15)),
    (rf"\b(?:last|past|previous)\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?\b", lambda m, t: _past(m["unit"], _number(m["count"]), t)),
    (r"\b(?:these|the)\s+(?:last|past)\s+(?P<unit>day|week|month)s\b", lambda m, t: _past(m["unit"], 4, t)),
    (r"\bhalf a year (?:ago|back)\b|\b(?:about )?six months ago\b|半\s*(?:个)?年(?:多)?(?:以|之)?前", lambda m, t: _half_year_ago(t)),
    (r"\b(?:a few|few|several|some)\s+(?P<unit>day|week|month|year)s\s+(?:ago|back|earlier)\b|[几数好][几]?\s*个?(?P<zh>天|日|周|星期|礼拜|月|年)(?:以|之)?前", lambda m, t: _vaguely_ago(m["unit"] or m["zh"], t)),
    (rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+(?:ago|back|earlier)\b", lambda m, t: find_days_ago(m["unit"], _number(m["count"]), t)),
    (rf"{_ZH_COUNT}\s*个?多?(?P<unit>天|日|周|星期|礼拜|月|年)(?:以|之)?前", lambda m, t: find_days_ago(m["unit"], _number(m["count"]), t)),
    (rf"(?:最近|近|过去|这)(?:的)?\s*{_ZH_COUNT}\s*个?(?P<unit>天|日|周|星期|礼拜|月|年)", lambda m, t: _past(m["unit"], 1 if m["count"] == "半" else _number(m["count"]), t)),
    (r"大前[天日]", lambda m, t: days_from(t - timedelta(days=3))),
    (r"前天|前晚|前儿个?|\b(?:the )?day before yesterday\b", lambda m, t: days_from(t - timedelta(days=2))),
    (r"昨天|昨日|昨晚|昨夜|昨儿个?|\byesterday(?: (?:morning|afternoon|evening|night))?\b|\blast night\b", lambda m, t: days_from(t - timedelta(days=1))),
    (r"前[几两些]天|前些日子|这[几两]天|\bthe other (?:day|night|evening|morning|week)\b", lambda m, t: _past("day", 10, t)),
    (r"前一?段时间|前一?阵子?|前些时候|\ba while (?:ago|back)\b|\bsome time ago\b", lambda m, t: (t - timedelta(days=120), t - timedelta(days=6))),
    (rf"上上{_ZH_WEEK}(?P<day>[{_ZH_DAYS}天])", lambda m, t: _zh_weekday(m, 2, t)),
    (rf"上上{_ZH_WEEK}|\b(?:the )?week before last\b", lambda m, t: _week(t, 2)),
    (r"上上个?月|\b(?:the )?month before last\b", lambda m, t: _month(t.year, t.month - 2)),
    (rf"上{_ZH_WEEK}(?P<day>[{_ZH_DAYS}天])", lambda m, t: _zh_weekday(m, 1, t)),
    (r"上(?:个)?周末|\blast weekend\b", lambda m, t: days_from(t - timedelta(days=t.weekday() + 2), 2)),
    (r"\b(?:over|at|on|during) the weekend\b", lambda m, t: days_from(t - timedelta(days=(t.weekday() - 5) % 7), 2)),
    (r"(?:这|本)个?周末|\bthis weekend\b", lambda m, t: days_from(t - timedelta(days=t.weekday() - 5), 2)),
    (rf"上(?:一)?{_ZH_WEEK}|\b(?:last|previous|past) week\b", lambda m, t: _week(t, 1)),
    (rf"(?:这|本){_ZH_WEEK}(?P<day>[{_ZH_DAYS}天])", lambda m, t: _zh_weekday(m, 0, t)),
    (rf"(?:这|本){_ZH_WEEK}(?![{_ZH_DAYS}天末])|\b(?:earlier )?this week\b", lambda m, t: _week(t, 0)),
    (r"(?P<last>上一?个?)月(?P<part>初|上旬|中旬|中|下旬|底|末)|(?:这个|本)?月(?P<own>初|上旬|中旬|下旬|底|末)", lambda m, t: _part_of_month(_month(t.year, t.month - 1)[0], m["part"]) if m["last"] else _latest_part_of_month(m["own"], t)),
    (rf"\b{_EN_PART}(?P<rel>this|last) month\b", lambda m, t: _part_of_month(_month(t.year, t.month - (m["rel"] == "last"))[0], m["part"])),
    (r"上(?:一)?个月|\b(?:last|previous|past) month\b", lambda m, t: _month(t.year, t.month - 1)),
    (r"(?:这个|本|当)月|\b(?:earlier )?this month\b", lambda m, t: _month(t.year, t.month)),
    (r"大前年", lambda m, t: _year(t.year - 3)),
    (r"前年|\b(?:the )?year before last\b", lambda m, t: _year(t.year - 2)),
    (r"去年|上一年|\b(?:last|previous) year\b", lambda m, t: _year(t.year - 1)),
    (r"今年|本年|\b(?:earlier )?this year\b", lambda m, t: _year(t.year)),
    (rf"\blast\s+(?P<day>{'|'.join(_WEEKDAYS)}|mon|tue|wed|thu|fri|sat|sun)\b", lambda m, t: _last_weekday(m["day"], t)),
    (rf"(?<![下每上这本])(?<!下个)(?:周|星期|礼拜)(?P<day>[{_ZH_DAYS}天])(?![\w]*(?:都|一般|通常))", lambda m, t: _weekday_past(_ZH_DAYS.find(m["day"].replace("天", "日")), t, told=is_told(m))),
    (rf"\bon\s+(?P<day>{'|'.join(_WEEKDAYS)})\b", lambda m, t: _weekday_past(_weekday_number(m["day"]), t, told=is_told(m))),
    (rf"\b(?:in|during|since|last|this|of)\s+{_MONTH}(?!\w)(?!\s*,?\s*\d)", lambda m, t: _latest_month(_named_month(m["month"]), t, None)),
    (rf"\b(?:in|during|since)\s+{_YEAR}\b", lambda m, t: _year(int(m["year"]))),
    (r"(?<![\d年])(?P<month>1[0-2]|[1-9])月(?:份)?(?!\d)", lambda m, t: _latest_month(int(m["month"]), t, None)),
    (r"(?<![\d月第])(?P<day>3[01]|[12]\d|[1-9])号(?![\d线楼店院房门码机馆厅位桌])|\bon the (?P<en>\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|of|of the))", lambda m, t: _latest_day_of_month(int(m["day"] or m["en"]), t)),
    (r"今天|今日|今早|今晚|今儿个?|\b(?:earlier )?today\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b", lambda m, t: days_from(t)),
    (r"最近|近期|近来|这阵子|这段时间|不久前|\brecent(?:ly)?\b|\blately\b|\bthese days\b|\bnot long ago\b", lambda m, t: _past("day", 30, t)),
)  # fmt: skip
_RULES = [(to_pattern(pattern), resolve) for pattern, resolve in _RAW]
