"""What a statement moves to another day: the day takes its place in the memory that tells of it. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from shared.domain.statements import ActiveMemory
from shared.extraction.values import find_times, sort_of, widen_span
from shared.language.patterns import to_pattern
from shared.resolution.parts import split_parts
from shared.resolution.related import about
from shared.resolution.remaining import says_unchanged
from shared.resolution.roles import find_others

_MOVED_EN = r"(?:moved|rescheduled|postponed|pushed|shifted|changed|bumped|brought|put|delayed|slipped)(?: (?:back|out|up|forward))?"
_WHEN_EN = r"(?:from .{2,24}? )?(?:to|till?|until) (?P<when>.{2,30})"
_MOVES = (
    to_pattern(
        rf"^(?:(?:and|but|so|also|ok|btw|update|oh),? )*(?P<thing>(?:[\w'’-]+ ){{1,5}}?)(?:(?:has|have|was|were|is|are|got|been|just|now|also) )*{_MOVED_EN} {_WHEN_EN}$",
        re.I,
    ),
    to_pattern(
        rf"^(?:(?:and|but|so|also|ok|btw|update|oh),? )*(?:i|we|they|he|she|\w+)(?:['’]ve|['’]s)?(?: (?:have|had to|has|had|just))* {_MOVED_EN} (?P<thing>(?:[\w'’-]+ ){{1,5}}?){_WHEN_EN}$",
        re.I,
    ),
    to_pattern(
        r"^(?:那个?|对了|还有)?(?P<thing>[^，,。；]{1,14}?)(?:的?(?:时间|日期|日子))?(?:已经|临时|又|也|要|被|给|再|得|都|刚|最后)*"
        r"(?:改|挪|推迟|延期|延后|推后|提前|顺延|调整|调|推|移|延)(?:到|成|至|为)(?:了)?(?P<when>[^，,。；]{1,16}?)[了啦吧]*$"
    ),
)
_BEFORE_DAY = to_pattern(r"^(?:(?:next|this|the coming|coming|on|at|around) )+", re.I)
_OWN = to_pattern(r"^(?:my|our)\b|^我们?的?(?![爸妈哥弟姐妹爷奶老])", re.I)
_MONTH = to_pattern(r"[a-z]{3,9} (?=\d)|\d{1,2}月", re.I)
_DAY = to_pattern(r"\d{1,2}(?:st|nd|rd|th|[日号])?$", re.I)
_BARE_DAY = to_pattern(r"(?:the )?(?P<day>\d{1,2}(?:st|nd|rd|th|[日号]))$", re.I)
DAYS = frozenset({"date", "weekday"})
"""Sorts of value that tell a day, of which one may stand for another."""


@dataclass(frozen=True, slots=True)
class MovedDay:
    """The memory of what is moved, where it tells the time that holds no longer, and the words that take its place."""

    target: ActiveMemory
    place: tuple[int, int]
    value: str


def find_moved_day(said: str, live: Sequence[ActiveMemory]) -> MovedDay | None:
    """What the sentence moves, where it says no more than that and one memory alone can be meant."""
    parts = [part for part in split_parts(said) if not says_unchanged(part)]
    if len(parts) != 1 or (match := next((m for form in _MOVES if (m := form.search(parts[0]))), None)) is None:
        return None
    thing, when = match["thing"].strip(), match["when"].strip()
    sort = sort_of(_BEFORE_DAY.sub("", when))
    topics = about(thing).topics
    if sort not in (*DAYS, "time") or not topics:
        return None
    sorts = DAYS if sort in DAYS else {sort}
    telling = [(old, place) for old in live if (place := _find_place(old.words_said, thing, topics, sorts))]
    if len(telling) != 1:
        return None
    (old, place) = telling[0]
    text = old.words_said
    return MovedDay(old, widen_span(text, place, when), _keep_month(text[slice(*place)], when))


def _find_place(text: str, thing: str, topics: Set[str], sorts: Set[str]) -> tuple[int, int] | None:
    """Where the text tells the one such time beside the thing, in one part with it."""
    owners, named = find_others(thing), find_others(text)
    if not owners <= named or (_OWN.search(thing) and named):
        return None
    places = [
        (text.index(part) + start, text.index(part) + end)
        for part in split_parts(text)
        if topics <= about(part).terms
        for start, end in find_times(part, sorts)
    ]
    return places[0] if len(places) == 1 else None


def _keep_month(old: str, when: str) -> str:
    """The new day in the month that the old one names, where it names none itself."""
    bare = _BARE_DAY.fullmatch(when)
    return _DAY.sub(bare["day"], old) if bare and _MONTH.search(old) else when
