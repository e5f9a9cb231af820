"""What kind of thing a question asks for, and which texts hold one: a name, a number, a reason; in both languages."""

# ruff: noqa: E501, SIM905 - one family of cues per line, a list of words reads best as one

import re
from collections.abc import Collection
from typing import Literal

from shared.cache import BoundedMemo
from shared.language import chinese, stopwords
from shared.language.patterns import to_pattern
from shared.language.segment import HAN

Kind = Literal["name", "amount", "reason"]

_ASKS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "name",
        to_pattern(
            r"\b(?:where|who|whom|whose)\b|\b(?:name[sd]?|called|titles?)\b"
            r"|\b(?:what|which)\b(?:\W+\w+){0,3}\W+(?:books?|novels?|movies?|films?|songs?|bands?|games?|teams?|authors?|artists?"
            r"|singers?|actors?|players?|shows?|series|brands?|compan(?:y|ies)|cit(?:y|ies)|countr(?:y|ies)|places?|states?|towns?"
            r"|restaurants?|schools?|universit(?:y|ies)|breeds?)\b"
            r"|哪里|哪儿|在哪|去哪|哪(?:一)?(?:个|座|家|所|本|部|首|位|款|支|种)|什么(?:地方|城市|国家|书|电影|歌|游戏|牌子|品牌|公司|学校|餐厅|名字?)|谁|叫(?:啥|什么)|名字|名叫",
            re.IGNORECASE,
        ),
    ),
    (
        "amount",
        to_pattern(
            r"\bhow (?:many|much|long|old|often|far|big|tall|large|frequently)\b|\bwhat (?:age|number|amount|price)\b"
            r"|几|多少|多久|多大|多长|多远|多高|多重|频率|价格|价钱",
            re.IGNORECASE,
        ),
    ),
    (
        "reason",
        to_pattern(
            r"\bwhy\b|\bhow come\b|\bwhat (?:\w+ ){0,3}(?:reason|motivat|inspir|made|led|prompted)|为什么|为何|为啥|干嘛|怎么会|原因|理由",
            re.IGNORECASE,
        ),
    ),
)
_NAMED = to_pattern(r"(?<=[a-z\d,;:)\]] )(?!I\b)[A-Z][\w&-]*")
_QUOTED = to_pattern(r"[\"“《「『]([^\"“”《》「」『』\n]{2,60})[\"”》」』]")
_HAS_HAN = to_pattern(f"[{HAN}]")
_LATIN = to_pattern(r"[A-Z][A-Za-z\d+-]+")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
_CALENDAR = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_NUMBER = to_pattern(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|couple|several|few"
    r"|once|twice|half|every|daily|weekly|monthly)\b|[二两三四五六七八九十百千万半]|一(?=[十百千万两二三四五六七八九天年月周岁次回号点])",
    re.IGNORECASE,
)
_REASON = to_pattern(
    r"\b(?:because|cause|since|so that|in order to|reasons?|that's why|due to|inspired?|motivat\w+|wanted to|thanks to)\b"
    r"|因为|由于|所以|为了|是想|原因|以便|免得|省得",
    re.IGNORECASE,
)
ENOUGH_NAMES = 3
"""So many names are as good as any number of them."""


def kinds(question: str) -> frozenset[Kind]:
    """What kinds of things would answer the question; none where nothing says so."""
    return frozenset(kind for kind, pattern in _ASKS if pattern.search(question))


def names(text: str) -> frozenset[str]:
    """The names and quoted titles in a text, folded; what opens a sentence and the calendar's words are none."""
    named = {name.lower() for name in _NAMED.findall(text)}
    if '"' in text or "“" in text or "《" in text or "「" in text or "『" in text:
        named |= {title.lower() for title in _QUOTED.findall(text)}
    if _HAS_HAN.search(text):
        named |= {word for word, tag in map(tuple, chinese.tag(text)) if tag in _NAME_TAGS and len(word) > 1}
        named |= {word.lower() for word in _LATIN.findall(text)}
    return frozenset(named - _CALENDAR - stopwords.ALL)


_NAMES_OF = BoundedMemo[frozenset[int]]()
"""By their hashes, like the texts that hold them."""


def score_names(text: str, asked_names: Collection[int]) -> float:
    """How many names the text holds besides those known (by their hashes), as a share of enough."""
    found = _NAMES_OF.get(text)
    if found is None:
        found = _NAMES_OF.put(text, frozenset(map(hash, names(text))))
    return min(sum(name not in asked_names for name in found), ENOUGH_NAMES) / ENOUGH_NAMES


def counts(text: str) -> bool:
    """Whether the text holds a number."""
    return _NUMBER.search(text) is not None


def reasons(text: str) -> bool:
    """Whether the text gives a reason."""
    return _REASON.search(text) is not None
