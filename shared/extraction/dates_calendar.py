"""Words of times in both languages, and the calendar around a day: weeks, months, seasons and years as ranges."""

# ruff: noqa: SIM905 - one family of words per line

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from shared.language.festivals import FESTIVALS
from shared.language.patterns import to_pattern

MONTHS: Sequence[str] = "jan feb mar apr may jun jul aug sep oct nov dec".split()
NUMBERS_EN: Sequence[str] = "zero one two three four five six seven eight nine ten eleven twelve".split()
DIGITS_ZH = "零一二三四五六七八九"
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
DAYS = {
    "大前天": -3, "前天": -2, "昨": -1, "今": 0, "刚": 0, "明": 1, "后天": 2, "大后天": 3, "yesterday": -1,
    "last night": -1, "tomorrow": 1, "the day before yesterday": -2, "the day after tomorrow": 2,
}  # fmt: skip
YEARS = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
RELATIONS = {"last": -1, "past": -1, "next": 1, "coming": 1, "上": -1, "上上": -2, "下": 1, "下下": 2}
THIRDS = {
    "early": 0, "beginning": 0, "start": 0, "初": 0, "上": 0, "mid": 1, "middle": 1, "中": 1, "late": 2, "end": 2,
    "底": 2, "末": 2, "下": 2,
}  # fmt: skip
_FESTIVAL_ZH = "元旦|春节|除夕|年三十|端午|中秋|劳动节|国庆|教师节|情人节|平安夜|圣诞|感恩节"
_FESTIVAL_EN = (
    "new year's eve|new years eve|christmas eve|christmas|xmas|chinese new year|lunar new year|halloween|thanksgiving"
    "|easter|valentine|independence day"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_FULL = "january|february|march|april|may|june|july|august|september|october|november|december"
_COUNT = rf"\d{{1,3}}|an?|half an?|{'|'.join(NUMBERS_EN[1:])}"
_SEASON = "spring|summer|autumn|fall|winter"
_WEEKDAY = "mon|tues|wednes|thurs|fri|satur|sun"
_TEN = "[一二三四五六七八九]"
_UP_TO_99 = rf"\d{{1,2}}|{_TEN}?十{_TEN}?|{_TEN}"
_WHICH = r"(?:上上|上|这|本|下下|下)个?"

ISO = to_pattern(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?:日|号)?(?!\d)")
ZH = to_pattern(
    r"(?P<day>大前天|前天|昨[天晚日]|今[天早晚日]|刚[刚才]|明[天早晚日]|大后天|后天)"
    rf"|(?<![每个])(?P<wrel>{_WHICH})?(?:周|星期|礼拜)(?P<wday>[二三四五六日天末]|一(?!起))"
    rf"|(?P<week>{_WHICH})(?:周|星期|礼拜)"
    rf"|(?:(?<!每年)(?<!\d年)(?<!\d)(?P<year>[前去今明后]年|(?:1[89]|20)\d\d年)?的?(?P<month>\d{{1,2}}|十[一二]?|{_TEN})月份?"
    rf"|(?P<mrel>{_WHICH})月份?)(?:的?(?P<mday>{_UP_TO_99})[日号]|(?P<mpart>[初底末]|[上中下]旬))?"
    r"|(?P<yrel>[前去今明后](?=年))?年?(?P<end>[月年][底末初]|[上中下]旬)"
    rf"|(?<![一二两三四五六七八九十几个\d.])(?P<ago>\d{{1,3}}|两|俩|半|{_UP_TO_99})个?(?P<unit>天|周|星期|礼拜|月|年)"
    r"(?P<dir>以?前|以?后|之前|之后)"
    rf"|(?<!每年)(?P<nyear>[前去今明后]年|(?:1[89]|20)\d\d年)?的?(?P<named>{_FESTIVAL_ZH})节?(?P<whole>假期|长假)?"
    r"(?!快乐|联欢|晚会|装饰|树|老人|礼物|档)"
    r"|(?P<yonly>[前去今明后]年|(?:1[89]|20)\d\d年)的?(?P<season>[春夏秋冬][天季])?"
    r"|(?<!每月)(?<!每个月)(?<![路街巷道弄同厂园座楼村甲内\d])(?P<dom>\d{1,2})[号日](?!楼|店|线|机)"
    r"|(?<![\d/.占约分])(?P<slash>\d{1,2})/(?P<slash2>\d{1,2})(?![\d/%的杯个碗瓶斤片份])"
)
EN = to_pattern(
    r"(?<!every )(?<!each )\b(?:(?P<day>today|tonight|this (?:morning|afternoon|evening)|yesterday|last night|tomorrow"
    r"|the day before yesterday|the day after tomorrow)"
    rf"|(?P<mon>{_MONTH})\.?\s+(?P<dom>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<yr>(?:19|20)\d\d))?"
    rf"|(?:the\s+)?(?P<dom2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon2>{_MONTH})\b(?:,?\s+(?P<yr2>(?:19|20)\d\d))?"
    r"|the\s+(?P<dom3>\d{1,2})(?:st|nd|rd|th)\s+of\s+(?P<mrel>last|this|next|the)\s+month"
    r"|(?:(?:on|by|until|before|since|from)\s+|^)the\s+(?P<dom4>\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[.,;!?]|$|at\b|and\b))"
    rf"|(?P<num>{_COUNT})\s+(?P<unit>day|week|weekend|month|year|{_SEASON})s?"
    rf"\s+(?:(?P<ago>ago|back)|from now|later|from\s+(?:(?P<wfrom>{_WEEKDAY})day|(?P<dfrom>today|tomorrow)))"
    rf"|in\s+(?P<num2>{_COUNT})\s+(?P<unit2>day|week|month|year)s?"
    r"|(?P<rel>last|next|this|this past|this coming|past|coming)\s+(?P<what>week(?:end)?|month"
    r"|year|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    rf"|sun(?:day)?|{_SEASON})|(?P<rel2>last|next)\s+(?P<rmon>{_FULL})"
    rf"|(?:(?:on|by|before|until|till|this)\s+)?(?P<wday>{_WEEKDAY})day"
    r"|(?P<by>(?:by|before|until|till)\s+)?(?:(?P<part>early|mid|late)[\s-]+|(?:at\s+)?(?:the\s+)?(?P<part2>beginning"
    rf"|start|middle|end)\s+of\s+)(?:(?P<prel>the|this|next|last)\s+(?P<whole>week|month|year)|(?P<pmon>{_FULL})"
    r"(?:\s+(?P<pyr>(?:19|20)\d\d))?)"
    rf"|(?:in|since|back in|by|until)\s+(?P<mon3>{_FULL})(?!\s+\d{{1,2}}(?!\d))(?:,?\s+(?P<yr3>(?:19|20)\d\d))?"
    rf"|(?P<mon4>{_FULL})\s+(?P<yr4>(?:19|20)\d\d)"
    r"|(?:in|since|back in|by)\s+(?P<yonly>(?:19|20)\d{2})"
    r"|(?:on|by|due|until|before|since|for)\s+(?P<slash>\d{1,2})/(?P<slash2>\d{1,2})(?![\d/])"
    rf"|(?:on|at|for|by|until|before|since|over|(?P<nrel>this|last|next))\s+(?P<named>{_FESTIVAL_EN}))\b",
    re.I,
)
SIGN = to_pattern(
    r"[天晚日早周月年号底旬]|星期|礼拜|刚[刚才]|\d/\d|[12]\d\d\d|day|week|month|year|ago|last|next|night|in \d"
    rf"|\d(?:st|nd|rd|th)\b|{_FESTIVAL_ZH}|morning|evening|after|tomorrow|eve\b|hallow|easter|valentine|christ|xmas"
    r"|spring|summer|autumn|fall|winter|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    re.I,
)
"""A text without any of these names no time."""
LATIN = to_pattern(r"[A-Za-z]{2}")
SINCE = to_pattern(r"(?:\bsince\s+(?:the\s+)?|自从?|从)$", re.I)
SINCE_ZH = to_pattern(r"以来|至今|起(?![床来飞])")
BEFORE_ZH = to_pattern(r"[之以]?前|截止")
PAUSE = to_pattern(r"[,，;；。!！?？\n]|\.(?=\s|$)")
AHEAD_EN = to_pattern(
    r"['’]ll\b|\b(?:will|won't|shall|gonna|let's|must|should|remind|due)\b"
    r"|\b(?:want|need|have|has|plan|hope|ought)s? to\b|(?:\b(?:am|is|are)|['’](?:m|re|s))\s+(?:\w+\s+)?"
    r"(?:\w+ing|to|on|in|at|scheduled|planned|booked|set|expected)\b",
    re.I,
)
PAST_EN = to_pattern(
    r"\b(?:was|were|did|didn't|had|went|got|came|saw|met|took|made|bought|sold|left|quit|lost|found|began|broke|gave|told"
    r"|said|thought|felt|kept|ran|fell|flew|drove|wrote|ate|slept|spent|paid|sent|built|caught|won|knew|grew|became|chose"
    r"|heard|brought|forgot|agreed|(?!succeed|proceed|exceed)[a-z]+[a-df-z]ed|(?:have|has) \w+(?:en|ne|wn))\b",
    re.I,
)
AHEAD_ZH = to_pattern(
    r"(?<![重主不])要(?!是|不)|(?<![机社开聚学约协宴年])会(?!议|员|计)|打算|准备|计划|想(?!起|到)|得(?=[去把在给交还])"
    r"|应该|必须|马上|即将|预计|记得|提醒"
)
PAST_ZH = to_pattern(
    r"了(?!解)|过(?!去|年|完|来|节|生日)|刚|已经|曾|当时|[^日号月年点天周的]的(?:[。.!！]|$)|[生做换离结买办定搬]的"
)
CLOCK_EN = to_pattern(
    r"(?P<at>,?\s*at)?\s+(?P<h>\d{1,2})(?::(?P<m>\d\d))?(?:\s*(?P<half>[ap])\.?m\b)?(?![\d/:%])", re.I
)
CLOCK_ZH = to_pattern(
    rf"的?(?P<half>早上|上午|中午|下午|傍晚|晚上|凌晨|早|晚)?(?P<h>两|{_UP_TO_99})(?:点|[:：](?=\d))"
    rf"(?P<m>半|一刻|三刻|\d\d|{_UP_TO_99})?"
)
LATE = to_pattern(r"下午|晚|傍|^p$|night|evening|afternoon")
EARLY = to_pattern(r"早|上午|凌|中午|^a$|morning")


Precision = Literal["minute", "day", "week", "month", "season", "year"]
Stretch = tuple[date, date, Precision]
"""The first day, the last day, and the precision of the words."""
_CALLED = {"春节": 1, "chinese new year": 1, "lunar new year": 1, "圣诞": 1, "christmas": 1, "xmas": 1, "easter": 2}
"""The offset from the first day of a festival to the day with this name."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The day on which something is said, and its tense: -1 for the past, 1 for the future, 0 if no word tells.

    `ahead` excludes dates long past if no word tells the tense.
    """

    today: date
    tense: int
    ahead: bool = False

    def pick(self, choices: Iterable[Stretch | None], tense: int) -> Stretch | None:
        """The likeliest of recurring ranges in their order: by tense, or else the nearest."""
        stretches = [each for each in choices if each]
        if tense < 0:
            return next((each for each in reversed(stretches) if each[0] <= self.today), None)
        if tense > 0 or self.ahead:
            since = self.today - timedelta(days=0 if tense > 0 else 60)
            return next((each for each in stretches if each[1] >= since), None)
        return min(stretches, key=lambda each: max(each[0] - self.today, self.today - each[1]), default=None)

    def by_year(self, stretch: Callable[[int], Stretch | None]) -> Stretch | None:
        """The likeliest one of a range that every year has; leap days have one every fourth year."""
        return self.pick(map(stretch, range(self.today.year - 4, self.today.year + 5)), self.tense)

    def by_month(self, stretch: Callable[[Stretch], Stretch | None]) -> Stretch | None:
        """The likeliest one of a range that every month has: the next one if no word tells."""
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
        """The range so many units away, as long as the unit."""
        if unit in ("天", "day"):
            return one_day(self.today + timedelta(days=count))
        if unit in ("月", "month"):
            return self.month(count)
        if unit == "weekend":
            return weekend_of(self.week(count))
        return year_of(self.today.year + count) if unit in ("年", "year") else self.week(count)

    def of_week(self, weekday: int | None, weeks: int | None) -> Stretch:
        """A weekday, or the weekend, so many weeks away; without `weeks` the one of the tense."""
        shift = [-1, 0, 1] if weeks is None else [weeks]
        found = [self.week(count) for count in shift]
        every = [weekend_of(week) if weekday is None else one_day(week[0] + timedelta(days=weekday)) for week in found]
        if weeks is None and self.tense < 0:
            return next(each for each in reversed(every) if each[1] < self.today)
        return next(each for each in every if weeks is not None or each[1] >= self.today)

    def season(self, month: int, count: int) -> Stretch | None:
        """The season that begins with the month: a past one below 0, the next above 0, else the first not yet over."""
        every = [season_of(self.today.year + shift, month) for shift in range(-12, 3)]
        if count < 0:
            over = [each for each in every if each[1] < self.today]
            return over[count] if count >= -10 else None
        if count > 0:
            return next(each for each in every if each[0] > self.today) if count == 1 else None
        winter = month == 12
        return next(each for each in every if (each[1] >= self.today if winter else each[0].year == self.today.year))


def day_of(year: int, month: int, day: int) -> Stretch | None:
    """The day, if it exists."""
    try:
        return one_day(date(year, month, day))
    except ValueError:
        return None


def one_day(day: date) -> Stretch:
    """The day as a range."""
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
    """The beginning, the middle or the end of a range: ten days of a month, a month of a year, the whole of a week."""
    first, last, precision = of
    if precision == "year":
        return month_of(first.year, 12) if third == 2 else month_of(first.year, 1) if third == 0 else of
    if precision != "month":
        return of
    return first + timedelta(days=10 * third), last if third == 2 else first + timedelta(days=10 * third + 9), "week"


def festival(name: str, year: int, whole: bool = False) -> Stretch | None:
    """The day with this name, or all days of the festival; None in years that the table lacks."""
    try:
        first, after = FESTIVALS[name](year)
    except KeyError:
        return None
    return (
        (first, after - timedelta(days=1), "week") if whole else one_day(first + timedelta(days=_CALLED.get(name, 0)))
    )


def in_month(month: Stretch, day: int) -> Stretch | None:
    """This day of the month, if the month has it."""
    return day_of(month[0].year, month[0].month, day)
