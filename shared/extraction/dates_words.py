"""Words and patterns of times: days, weeks, months, seasons, years and festivals of both languages."""

# ruff: noqa: SIM905 - one list of words a line

import re
from collections.abc import Sequence

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
"""A cheap look: a text without any of these names no time."""
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
