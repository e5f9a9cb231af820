"""Decides by words whether a newer sentence replaces an older one about the same thing or adds to it.

`Now X` and `switched to X` replace; `started X` and `X too` add. An event stays true, and a taste for one thing does
not end a taste for another.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

from shared.cache import of_texts
from shared.classifiers.meanings import says_little
from shared.extraction import slots_words
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.guards_words import KIN_EN, KIN_ZH
from shared.extraction.learned import read
from shared.extraction.relatives import tells_of_relative
from shared.extraction.values import like, values
from shared.language.patterns import to_pattern
from shared.language.segment import ALIKE, query_terms, stem

CHANGED = 0.8
"""The learned score from which a sentence is a change, whatever its words."""
Way = Literal["replaces", "now", "adds"]
_REPLACES = to_pattern(
    r"\binstead\b(?! of\b.{0,20}\?)|\b(?:switch|swap|chang|mov|migrat|convert|transfer|shift|upgrad|relocat)\w*(?:(?: \w+){0,3})? (?:over |back )?(?:to|into|onto)\b"
    r"|\b(?:switch|swap|chang|mov)ed (?:house|flats?|apartments?|jobs?|banks?|providers?|gyms?|schools?)\b|\breplac(?:ed|es|ing|ement)\b|\b(?:no|not any) longer\b|\bany ?more\b"
    r"|\b(?:gave|given|giving) up(?: on)?\b|\b(?:quit|stopped|ditched|dropped|scrapped|cancel+ed|abandoned|sold|retired|killed)\b|\bgot rid of\b|\brather than\b"
    r"|\b(?:went|gone|going|am|are|is|'m|'re) back (?:to|on|at|in)\b|\b(?:done|through|over) with\b|\bback to using\b|\bused to\b|\btook over\b|\btakes over\b|\bmoved (?:me|us|it|them)\b"
    r"|(?<!修)改(?!善|进|天|日|变心|良|写|编|正)|换(?!句话|个角度|位思考)|搬(?:家|到|去|进|走|来)|迁到|转(?:到|去|成|用|学|岗)|调(?:走|到|去|课|成|整)|挪到|切(?:到|换)|不再|戒(?:了|掉|咖|酒|烟|糖)"
    r"|弃了|放弃|卖(?:了|掉)|退(?:了|掉|订|租|出)|停(?:了|掉|用)|取代|代替|替代|接替|接手|接任|取消|辞(?:了|掉|职)|离职|跳槽|扔了|被偷|由[\u4e00-\u9fff]{2,4}(?:带|负责|管|接|来)|没再|再也不|不(?:用|去|喝|吃|做|练|学|住|在|坐|骑|开|看|玩|养|租|穿)[^，,。]{0,8}了",
    re.IGNORECASE,
)
"""Words that say that one thing replaces another."""
_NOW = to_pattern(
    r"\b(?:now|nowadays|these days|currently|from now on|from today|as of (?:today|now|this|last|next)|since (?:last|this|then)|starting (?:today|this|next))\b"
    r"|现在|如今|目前|现如今|从今|今后|以后|往后|这阵子|这段时间|最近(?:都|一直|早上|早餐|晚上|上班|改)|这半年|眼下都",
    re.IGNORECASE,
)
_ADDS = to_pattern(
    r"\b(?:also|too|as well|another|besides|on top of|plus|both|still|in addition|second|on the side|sometimes|occasionally)\b"
    r"|\b(?:start(?:ed|ing)?|began|begun|begin(?:ning)?|took up|taken up|taking up|picked up|picking up|joined|signed up|trying out|tried|open(?:ed|ing)(?: up)? (?:a|an|our|the|another)|got (?:a|an|another|my|our) new)\b"
    r"|也|还(?!是|没|不)|又|另外|再加|同时|除了|仍|依然|开始|刚开|新开|报(?:了|名)|加入|顺便|有时|偶尔|第二",
    re.IGNORECASE,
)
"""Words that add one thing to another."""
_ADDS_ANYWAY = to_pattern(r"\b(?:also|too|as well|in addition|on top of|both|besides)\b|另外|同时|除了", re.IGNORECASE)
_GATHERS = to_pattern(
    r"\b(?:lov(?:e|es|ed|ing)|lik(?:e|es|ed)|enjoy\w*|ador\w+|hat(?:e|es|ed)|dislik\w+|prefer\w*|play(?:s|ing)?|speak(?:s|ing)?|know(?:s)?|learn(?:s|ing)?|study(?:ing)?|studies|read(?:s|ing)?"
    r"|watch(?:es|ing)?|collect(?:s|ing)?|owns?|visit(?:s|ed|ing)?|allergic|intolerant|fan of|interested in|been to|favou?rites?|scared of|afraid of|good at|married|supports?|(?:i|we)(?: have|'ve got| got) an? )\b"
    r"|喜欢|[热喜最也很]爱|会(?:说|弹|拉|做|跳|讲)|在?学(?!校|生|院|区|期|费)|在?看(?:书|剧|一|这|完|推理|小说|电影|动漫)|养(?!老|成|生)|收集|收藏|过敏|讨厌|害怕|去过|到过|[打踢]\S{0,2}球|弹|玩|读|追剧|支持|擅长|懂|有(?:一?[个只条辆套台]|两)",
    re.IGNORECASE,
)
"""With these words there may be many at a time."""
_HAPPENED = to_pattern(
    r"^i(?:'m| am| come) (?:originally )?from\b|\bborn\b|^(?:(?:today|yesterday|earlier|last \w+|this \w+|finally|just|so)[ ,]+)*(?:(?:i|we)(?:'ve| have)? (?:just |finally |already )*)?(?!mov|switch|chang|us|replac|start|join|settl|retir)(?:\w{3,}ed|went|met|had|saw|bought|made|took|got|did|ate|came|gave|found|told|been|ran|won|lost|read|wrote|flew|drove)\b"
    r"|[去吃看见买做跑玩逛回聊喝拍到办参](?:完|到)?[过了](?!$)|(?:昨天|前天|昨晚|上周|刚才|那天|去年)|^我?是[\u4e00-\u9fff]{1,4}人|出生|老家|的时候|有一?次",
    re.IGNORECASE,
)
"""Single events, and origins."""
_PASSING = to_pattern(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|weekend|time|once)|just (?:this|for)|for now|right now|for a (?:\w+ )?(?:few|couple|week|day|month|meeting|conference|visit|wedding|workshop|trip)"
    r"|on (?:a trip|holiday|vacation|my lunch|a break|my way|the way)|visiting|temporarily|until (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今天|今晚|今早|这周|这两天|这次|这回|暂时|临时|出差|旅游|度假|路上|吃(?:午|晚)饭|午休",
    re.IGNORECASE,
)
_KIN = to_pattern(rf"\b{KIN_EN}\b|{KIN_ZH}", re.IGNORECASE)
_DAYPARTS = (
    to_pattern(r"\b(?:mornings?|breakfast|wake|waking)\b|早上|早晨|早餐|早饭|上午|起床", re.IGNORECASE),
    to_pattern(r"\b(?:noon|lunch(?:time|es)?)\b|中午|午饭|午餐", re.IGNORECASE),
    to_pattern(r"\bafternoons?\b|下午", re.IGNORECASE),
    to_pattern(r"\b(?:evenings?|dinners?|supper|nights?|bed(?:time)?)\b|晚上|晚饭|晚餐|夜里|睡前|傍晚", re.IGNORECASE),
    to_pattern(r"\bweekends?\b|周末", re.IGNORECASE),
)
_LEAD = to_pattern(
    r"^(?:(?:and|but|so|now|also|my|our|the|his|her|their|that|this)\s+|我们?的?|这|那|现在)+", re.IGNORECASE
)
_NAMED = to_pattern(r"叫(?:做|作)?([^，,。]{2,8})$")
_MARKS = " .,;:!?。，；：！？~"
_NUMBER = to_pattern(r"\d+(?::\d+)?")
_COUNTS = to_pattern(r"\d|day\b|[点号日]|周|星期", re.IGNORECASE)
_HEAD_EN = to_pattern(
    r"^(?:and |but |so |now |also |these days |currently )*(?:my|our|the|his|her|their) ((?:[\w'’-]+ ){1,3}?)(?:now |currently )?(?:is|are|was|were|has|have|\w{2,}[^\Ws]s)\b",
    re.IGNORECASE,
)
_TAIL_EN = to_pattern(
    r"\b(?:is|are) (?:now )?(?:my|our|the) ((?:[\w'’-]+ ){0,2}?[\w'’-]+)(?= now\b|[^\w '’-]|$)", re.IGNORECASE
)
_HEAD_ZH = to_pattern(
    r"^(?:我们?|咱们?|现在|目前|如今|的|家里?|那个|这个)*([\u4e00-\u9fff]{2,6}?)(?:现在|目前|如今|已经|改)*(?:是(?!不)|叫|刷成|装成|定在)"
)


@of_texts(2048)
def find_way(text: str) -> Way | None:
    """Whether the text says that a thing replaces another, is so now, or is added to others."""
    replaces = _REPLACES.search(text) is not None
    if _ADDS.search(text) and (not replaces or _ADDS_ANYWAY.search(text)):
        return "adds"
    if replaces:
        return "replaces"
    if _NOW.search(text):
        return "now"
    clauses = split(text)
    changed = any(map(slots_words.may_correct, clauses)) and max(each.changed for each in read(clauses)) >= CHANGED
    return "now" if changed else None


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The form of a sentence, for comparison with an older or newer one."""

    way: Way | None
    states: bool
    """Whether the user states it about themselves."""
    of_self: bool
    relative: bool
    gathers: bool
    happened: bool
    passing: bool
    kin: frozenset[str]
    dayparts: frozenset[int]
    numbers: frozenset[str]
    head: str


@of_texts(2048)
def read_phrasing(text: str) -> Phrasing:
    clauses = split(text)
    subjects = stances(clauses)
    return Phrasing(
        find_way(text),
        all(each.stands and each.subject != "agent" for each in subjects),
        any(each.subject == "self" and each.explicit for each in subjects),
        tells_of_relative(text),
        _GATHERS.search(text) is not None,
        _HAPPENED.search(text) is not None,
        _PASSING.search(text) is not None,
        frozenset(each.lower() for each in _KIN.findall(text)),
        frozenset(n for n, pattern in enumerate(_DAYPARTS) if pattern.search(text)),
        frozenset(_NUMBER.findall(text)),
        _find_head(text),
    )


def _find_head(text: str) -> str:
    """The subject of the sentence, if it names it: `manager` in `Omar is my manager now`."""
    found = _HEAD_EN.search(text) or _TAIL_EN.search(text)
    if found:
        return stem(found[1].split()[-1].lower())
    named = _HEAD_ZH.search(text)
    return named[1] if named else ""


def stands_beside(old: str, new: str) -> bool:
    """Whether the words of the newer sentence show that the older one is still valid.

    It adds something, or is about somebody or something else by name. If only `now` marks a change, also if it is about
    another part of the day, about something of which there may be many, about something temporary, or only tells more
    of what the older one names.
    """
    if find_way(new) == "adds":
        return True
    was, newer = read_phrasing(old), read_phrasing(new)
    if not newer.states or _of_others(was, newer) or _of_other_thing(was.head, newer.head):
        return True
    if newer.way != "now":
        return False
    again = bool(newer.numbers) and newer.numbers <= was.numbers
    apart = bool(was.dayparts and newer.dayparts) and was.dayparts.isdisjoint(newer.dayparts)
    more = not (was.numbers and newer.numbers) and _speaks_of_value(old, new)
    return was.gathers or newer.gathers or was.happened or newer.passing or again or apart or more


@of_texts(2048)
def _value_alone(text: str) -> tuple[str, ...]:
    """The times and numbers of a sentence that says nothing else: `I'm on the 7:50 now`."""
    rest = _NOW.sub(" ", _REPLACES.sub(" ", text))
    counted = [value for value in values(rest) if _COUNTS.search(value)]
    for value in sorted(counted, key=len, reverse=True):
        rest = rest.replace(value, " ")
    others = [term for term in query_terms(rest) if not says_little(term)]
    return () if others else tuple(counted)


def gives_other_value(old: str, new: str) -> bool:
    """Whether the newer sentence only gives another time or number of the same sort."""
    return any(like(old, value) for value in _value_alone(new))


def without_common_change(one: str, other: str) -> tuple[str, str]:
    """Both sentences without words of change that both have, because these make any two sentences similar."""
    common = _change_words(one) & _change_words(other)
    if not common:
        return one, other
    return _drop_words(one, common), _drop_words(other, common)


def _drop_words(text: str, words: Set[str]) -> str:
    for pattern in (_REPLACES, _NOW):
        text = pattern.sub(lambda found: " " if found[0].lower() in words else found[0], text)
    return text


def _change_words(text: str) -> frozenset[str]:
    return frozenset(each[0].lower() for pattern in (_REPLACES, _NOW) for each in pattern.finditer(text))


def _speaks_of_value(was: str, newer: str) -> bool:
    """Whether the newer sentence begins with the end of the older one, and so tells more about it."""
    was, newer = was.rstrip(_MARKS), _LEAD.sub("", newer)
    if was[-1:].isascii():
        last, first = was.rsplit(None, 1)[-1:], newer.split(None, 1)[:1]
        return [stem(each.lower()) for each in last] == [stem(each.rstrip(_MARKS).lower()) for each in first]
    named = _NAMED.search(was)
    return named is not None and newer.startswith(named[1])


def _of_others(was: Phrasing, said: Phrasing) -> bool:
    if said.relative and not (was.kin & said.kin):
        return True
    return was.relative and said.of_self and not (was.kin & said.kin)


def _of_other_thing(was: str, newer: str) -> bool:
    """Whether both name their subjects, and these differ."""
    if not was or not newer or was == newer:
        return False
    if was.isascii():
        return newer not in ALIKE.get(was, ()) and was not in ALIKE.get(newer, ())
    return set(was).isdisjoint(newer)
