"""Names in a text, and numbers that distinguish things of one kind.

Names are people, places, organisations, quoted titles, identifiers; in order, without duplicates. Numbers distinguish
the eighth trip, room 12, 工单311; other numbers are quantities.
"""

# ruff: noqa: SIM905, E501 - a list of words reads best as one; one frame a line, words in a row

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shared.cache import of_texts
from shared.language.patterns import to_pattern
from shared.language.segment import CHINESE_STOPWORDS, ENGLISH_STOPWORDS, HAN, tag_words

_QUOTED = to_pattern(r"[「『“\"《]([^「」『』“”\"《》\n]{2,40})[」』”\"》]")
_IDENTIFIER = to_pattern(
    r"https?://[^\s，。；）)>\]]+|[\w.+-]+@[\w-]+\.[\w.]+|\b[\w-]+(?:/[\w.-]+)+\b|\b[A-Za-z_]\w*(?:\.[A-Za-z]\w*)+\b"
    r"|\b[A-Za-z]+_\w+\b|#\d+\b|\b[A-Z]{2,}-\d+\b",
    re.ASCII,
)
_CAPITALISED = to_pattern(
    r"\b[A-Z][a-zA-Z]*(?:['’-][A-Z]?[a-z]+)?(?:\s+(?:[A-Z][a-zA-Z]*|of the|of|de|van|von)(?=\s+[A-Z]|\b))*"
)
_HAN_RUN = to_pattern(f"[{HAN}]+")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
_NOT_NAMES = ENGLISH_STOPWORDS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december please yesterday today tomorrow english chinese ok"
    " explain summarize summarise write draft recommend suggest compare remind translate list show tell give find help"
    " create make fix add book schedule send let let's generate describe define check update continue review rewrite"
    " remember hey hi hello thanks thank any got best".split()
)


def names(text: str, limit: int = 8) -> list[str]:
    """The names in the text, the longest match first; sentence openers and calendar words are not names."""
    named: dict[str, None] = dict.fromkeys(match.strip() for match in _QUOTED.findall(text[:4000]))
    named |= dict.fromkeys(_IDENTIFIER.findall(text[:4000]))
    for match in _CAPITALISED.finditer(text[:4000]):
        words = re.sub(r"['’]s$", "", match.group()).split()
        while words and words[0].lower() in _NOT_NAMES:
            words.pop(0)
        while words and words[-1].lower() in _NOT_NAMES:
            words.pop()
        name = " ".join(words)
        if len(name) > 1 and not any(name in known for known in named):
            named.setdefault(name)
    for run in _HAN_RUN.findall(text[:2000]):
        named |= dict.fromkeys(_han_names(run))
    return list(named)[:limit]


def _han_names(run: str) -> tuple[str, ...]:
    tagged = [(str(each[0]), str(each[1])) for each in tag_words(run)]
    return tuple(word for word, tag in tagged if tag in _NAME_TAGS and len(word) > 1 and word not in CHINESE_STOPWORDS)


_TURNS_ZH = "次趟回期季集届场轮批遍站"
_PLACES_ZH = "个章节课号页版步层排名台间份张单封位段条款家天周年楼栋"
_THINGS_ZH = (
    "会议室|包间|包厢|房间|教室|宿舍|工单|订单|发票|账单|收据|单号|合同|票|航班|车次|任务|项目|需求|缺陷|问题|案件|病例|样本|实验|迭代|冲刺"
    "|里程碑|通道|柜子?|箱子?|货架|机器|服务器|节点|工位|桌|座位?|仓库?|批次|编号|版本|楼|栋|单元|学生|病人|患者|客户|快递|包裹|登机口"
)
_TURNS_EN = (
    "trip|visit|day|week|night|session|round|lap|episode|season|sprint|iteration|meeting|interview|exam|game|match|race|attempt|try"
    "|run|flight|lesson|class|date|tour|stay|shift|year|month|time"
)
_THINGS_EN = (
    "room|invoice|ticket|order|case|issue|bug|task|story|gate|bus|train|platform|chapter|unit|level|stage|phase|version|release|batch"
    "|lot|table|seat|row|locker|desk|floor|apartment|apt|suite|box|bay|building|block|house|lane|line|track|question|exercise|page"
    "|figure|section|article|experiment|sample|patient|customer|student|player|car|machine|server|node|rack|shelf|contract|claim"
    "|account|job|project|pr|commit|step|part|item|parcel|shipment|package|hole|receipt|bill|plot|pier|dock|exit|terminal|warehouse"
)
_WORDS_EN = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
    " seventeenth eighteenth nineteenth twentieth"
).split()
_COUNT_EN = "one two three four five six seven eight nine ten eleven twelve".split()
_DIGITS_ZH = {each: n for n, each in enumerate("零一二三四五六七八九")} | {"两": 2}
_NUMBER_ZH = r"\d{1,9}|[零一二两三四五六七八九十百]{1,6}"
_ZH = to_pattern(
    rf"第\s*(?P<nth>{_NUMBER_ZH})\s*(?P<of>[{_TURNS_ZH}{_PLACES_ZH}])"
    rf"|(?P<kind>{_THINGS_ZH})\s*(?:号|编号|第|#|No\.?)?\s*(?P<no>[A-Za-z]{{0,3}}-?\d{{1,12}})(?!\d|\.\d|\s*(?:个|块|元|人|次|天|年|月|日|岁|%))"
    rf"|(?<!\d)(?P<before>\d{{1,6}})\s*号?(?P<kind2>{_THINGS_ZH}|号线)"
    rf"|(?P<han>[一二三四五六七八九十]{{1,3}})号(?P<kind3>{_THINGS_ZH}|线|机|门|店)"
)
_EN = to_pattern(
    rf"\b(?P<kind>{_TURNS_EN}|{_THINGS_EN})\s*(?:no\.?|nr\.?|number|num|\#)?\s*(?P<no>\#?[a-z]{{0,3}}-?\d{{1,12}}[a-z]?|(?:{'|'.join(_COUNT_EN)})\b)"
    r"(?![\d%]|\.\d|\s*(?:am|pm|euros?|dollars?|percent|years?|days?|hours?|minutes?)\b)"
    rf"|\b(?P<nth>\d{{1,4}}(?=st|nd|rd|th)|{'|'.join(_WORDS_EN)})(?:st|nd|rd|th)?\s+(?:\w+\s+)?(?P<of>{_TURNS_EN}|{_THINGS_EN})\b"
    r"|\b(?P<code>[A-Z]{2,8})-(?P<code_no>\d{1,7})\b",
    re.IGNORECASE,
)
_LEAD = to_pattern(
    r"(?:我的?|我们的?|这|那|在|从|对|关于|出差|旅行|出门|去|到|the|my|our|on|in|at|for|from|during|of|this|that|about|as for"
    r"|and|so|ok|sorry|actually|其实|哦|对了|[，,:：\s])*",
    re.IGNORECASE,
)
_CHANGES = to_pattern(
    r"\b(?:now|no longer|moved?|changed?|instead|not|actually|correction|sorry|wrong|meant|these days|any ?more|switched|pushed"
    r"|rescheduled|became)\b|n't\b|现在|改|换|搬|不是|而是|更正|纠正|其实|记错|说错|调|挪|移|不再|已经",
    re.IGNORECASE,
)
_DIGITS = to_pattern(r"\d+")


@dataclass(frozen=True, slots=True)
class Labels:
    """The distinguishing numbers by kind of thing; the recurring kinds; the kinds that are the subject of the text."""

    numbers: Mapping[str, frozenset[str]]
    turns: frozenset[str]
    topics: frozenset[str]


@of_texts(4096)
def labels(text: str) -> Labels:
    """The labels in the text."""
    numbers: dict[str, set[str]] = {}
    turns: set[str] = set()
    topics: set[str] = set()
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    for match in (*_ZH.finditer(text), *_EN.finditer(text)):
        groups = {name: part for name, part in match.groupdict().items() if part}
        kind = next(groups[name] for name in ("of", "kind", "kind2", "kind3", "code") if name in groups).lower()
        number = next(groups[name] for name in ("nth", "no", "before", "han", "code_no") if name in groups)
        numbers.setdefault(kind, set()).add(_value(number))
        if kind in _TURNS_ZH or kind in _TURNS_EN.split("|"):
            turns.add(kind)
        if match.start() <= begin:
            topics.add(kind)
    return Labels({kind: frozenset(part) for kind, part in numbers.items()}, frozenset(turns), frozenset(topics))


def are_apart(before: str, later: str) -> bool:
    """Whether the two concern different things of one kind that only their numbers distinguish.

    Not if the text retracts the other number, or says that the number of a thing has changed.
    """
    one, other = labels(before), labels(later)
    mentioned = set(_DIGITS.findall(later)) | {each for found in other.numbers.values() for each in found}
    for kind in one.numbers.keys() & other.numbers.keys():
        if one.numbers[kind] & other.numbers[kind] or one.numbers[kind] & mentioned:
            continue
        named = kind in one.turns or (kind in one.topics and kind in other.topics)
        if named or not _CHANGES.search(later):
            return True
    return False


def _value(number: str) -> str:
    plain = number.lower().lstrip("#").lstrip("0") or "0"
    if plain in _WORDS_EN:
        return str(_WORDS_EN.index(plain) + 1)
    if plain in _COUNT_EN:
        return str(_COUNT_EN.index(plain) + 1)
    return plain if plain.isascii() else str(_of_han(plain))


def _of_han(number: str) -> int:
    total = digit = 0
    for each in number:
        if each in ("十", "百"):
            total += (digit or 1) * (10 if each == "十" else 100)
            digit = 0
        else:
            digit = _DIGITS_ZH.get(each, 0)
    return total + digit
