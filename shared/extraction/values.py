"""Values in a text by their sort: times, weekdays, dates, sums, numbers, words of one kind, names."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Container

from shared.classifiers import meanings
from shared.language.patterns import to_pattern

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    "|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_SORTS = (
    ("surname", to_pattern(r"姓[\u4e00-\u9fff](?![\u4e00-\u9fff]氏)")),
    ("code", to_pattern(r"\b[A-Za-z]{1,4}-?\d{2,}[A-Za-z]?\b")),
    (
        "time",
        to_pattern(
            r"\b\d{1,2}(?::\d\d)?\s*(?:am|pm|a\.m\.|p\.m\.)|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bhalf (?:past )?\d{1,2}\b"
            r"|(?:上午|下午|早上|晚上|中午|凌晨|傍晚)?(?<![周期拜])[\d一二两三四五六七八九十]{1,3}点(?:半|一刻|三刻|[\d一二三四五六七八九十]+分?)?",
            re.I,
        ),
    ),
    (
        "weekday",
        to_pattern(
            r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\b"
            r"|(?:[上下这本]个?)?(?:周|星期|礼拜)[一二三四五六日天]",
            re.I,
        ),
    ),
    (
        "date",
        to_pattern(
            rf"\b(?:{_MONTH})\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b"
            r"|\b(?:the )?\d{1,2}(?:st|nd|rd|th)\b"
            r"|\b(?:today|tomorrow|tonight)\b|(?:[上下这本]个?月)?\d{1,2}[日号](?!线|楼)|\d{1,2}月(?:\d{1,2}[日号]?)?|今天|明天|后天",
            re.I,
        ),
    ),
    (
        "money",
        to_pattern(
            r"[$€£¥]\s?\d[\d,.]*k?|\b\d[\d,.]*k?\s?(?:dollars?|bucks|euros?|pounds?|usd|rmb)\b|\d[\d.,]*万?(?:元|块)钱?",
            re.I,
        ),
    ),
    (
        "number",
        to_pattern(
            r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|half|hundred)\b|\d[\d,.]*\d(?:k\b)?|\d(?:k\b)?|[一二两三四五六七八九十百千万]+(?=[个只条张次天周年岁口斤公里层])|[一二两三四五六七八九十](?:[百千万][一二两三四五六七八九]?)+",
            re.I,
        ),
    ),
)
"""Sorts that letters tell, the narrowest first."""
_DAYPART = to_pattern(r"上午|下午|早上|晚上|中午|凌晨|傍晚")
_NAME = to_pattern(r"(?<![.!?] )(?<!^)\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_ALL_NAME = to_pattern(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
PART = to_pattern(r"[^,，.。;；!！?？…\n]+(?:(?<=\d)[.,](?=\d)[^,，.。;；!！?？…\n]+)*")
"""What stands between two marks; a number is not cut."""
_DENIED = to_pattern(
    r"(?:\bnot|\bn['’]t|\bno longer|\binstead of|\brather than|\bfrom|\bused to be|\bwas|\bwere)\s+(?:the |a |an |on |at |in )*$"
    r"|(?:不是|不再|不要|不用|不去|不叫|别|没有?|从|由|原来|本来|原先|之前)(?:的|是|在)?$",
    re.I,
)
"""Says that what follows is so no longer, or never was."""
Span = tuple[int, int]


def values(text: str) -> list[str]:
    """The values that the text names: what letters tell, words of the lexicon, names."""
    found = {text[slice(*each.span())] for _, pattern in _SORTS for each in pattern.finditer(text)}
    found |= {text[each.start : each.end] for each in meanings.find_known_words(text)}
    return sorted(found | {match[0] for match in _NAME.finditer(text)})


def spans(text: str) -> list[Span]:
    """Where the values stand that the text names."""
    found = [each.span() for _, pattern in _SORTS for each in pattern.finditer(text)]
    found += [(each.start, each.end) for each in meanings.find_known_words(text)]
    return sorted({*found, *(match.span() for match in _NAME.finditer(text))})


def is_denied(said: str, value: str) -> bool:
    """Whether the text says anywhere of the value that it is so no longer, or never was."""
    return any(is_denied_at(said, match.start()) for match in re.finditer(re.escape(value), said))


def is_denied_at(said: str, at: int) -> bool:
    """Whether the text denies what stands there."""
    return _DENIED.search(said[:at]) is not None


def sort_of(words: str) -> str:
    """The sort of the first value that begins with the words, as letters tell it; empty where it is of none."""
    return next((name for name, pattern in _SORTS if pattern.match(words)), "")


def find_times(text: str, sorts: Container[str]) -> list[Span]:
    """Where the text tells a time of these sorts, in order."""
    return sorted(each.span() for name, pattern in _SORTS if name in sorts for each in pattern.finditer(text))


def like(text: str, value: str) -> list[Span]:
    """Where the text has other things of the sort that the value is of, in order."""
    value = value.strip()
    for name, pattern in _SORTS:
        if not pattern.search(value):
            continue
        places = [each.span() for each in pattern.finditer(text)]
        if name == "time" and not _DAYPART.match(value):
            places = [
                (start + (m.end() if (m := _DAYPART.match(text[start:end])) else 0), end) for start, end in places
            ]
        if not places and name in ("money", "number"):
            places = [each.span() for each in _SORTS[-1][1].finditer(text)]
        if places := [place for place in places if text[slice(*place)].lower() != value.lower()]:
            return places
    sorts = frozenset(sort for each in meanings.find_known_words(value) for sort in each.sorts)
    places = [(each.start, each.end) for each in meanings.find_known_words(text) if each.sorts & sorts]
    if not places and _ALL_NAME.fullmatch(value):
        places = [each.span() for each in _NAME.finditer(text)]
    return [place for place in places if text[slice(*place)].lower() != value.lower()]


_JOINT = to_pattern(r"[\s,，]*(?:(?:at|on|in|of|by)\s+)?")
_SORTS_BY_NAME = dict(_SORTS)
_BARE_HOUR = to_pattern(r"\s*(?:at\s+)?\d{1,2}(?![\d%:.]\d|\d|\s*(?:am|pm))", re.I)
"""An hour behind a day that nothing else tells to be one."""
_OF_TIME = frozenset({"time", "weekday", "date"})


def widen_span(text: str, place: Span, value: str) -> Span:
    """The place with the times beside it that the value tells as well: for `Friday at 6` all of `Tuesday, May 3 at 5`."""
    start, end = place
    tells_time = _SORTS_BY_NAME["time"].search(value) is not None
    patterns = [pattern for name, pattern in _SORTS if name in _OF_TIME and pattern.search(value)]
    grown = True
    while grown:
        grown = False
        for pattern in patterns:
            joint = _JOINT.match(text, end)
            if joint and (joined := pattern.match(text, joint.end())):
                end, grown = joined.end(), True
            for joined in pattern.finditer(text, 0, start):
                joint = _JOINT.match(text, joined.end())
                if joint and joint.end() == start and joined.start() < start:
                    start, grown = joined.start(), True
    if tells_time and (hour := _BARE_HOUR.match(text, end)):
        end = hour.end()
    return start, _with_tail(text, end, value)


def _with_tail(text: str, end: int, value: str) -> int:
    """The end with the words behind it that follow upon the last time in the value, too: `周五三点前` for `周四三点前`."""
    last = max((m.end() for name in _OF_TIME for m in _SORTS_BY_NAME[name].finditer(value)), default=len(value))
    tail = value[last:]
    return end + len(tail) if tail.strip() and text.startswith(tail, end) else end
