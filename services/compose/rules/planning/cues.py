"""Reads cues of the answer in a question: its kind, speaker, time and words. A missing cue has no effect."""

# ruff: noqa: E501, SIM905 - one family of cues per line, a list of words reads best as one

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from shared.cache import BoundedMemo, of_texts
from shared.language import segment
from shared.language.dates import Range, arabic, time_range, without_times
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import HAN, STOPWORDS, tag_words

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
_CALENDAR_WORDS = frozenset(
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
"""The number of names that counts fully."""


def find_kinds(question: str) -> frozenset[Kind]:
    """The kinds of things that would answer the question; empty if unknown."""
    return frozenset(kind for kind, pattern in _ASKS if pattern.search(question))


def find_names(text: str) -> frozenset[str]:
    """The names and quoted titles in a text, folded, without sentence openers and words of the calendar."""
    named = {name.lower() for name in _NAMED.findall(text)}
    if '"' in text or "“" in text or "《" in text or "「" in text or "『" in text:
        named |= {title.lower() for title in _QUOTED.findall(text)}
    if _HAS_HAN.search(text):
        named |= {word for word, tag in map(tuple, tag_words(text)) if tag in _NAME_TAGS and len(word) > 1}
        named |= {word.lower() for word in _LATIN.findall(text)}
    return frozenset(named - _CALENDAR_WORDS - STOPWORDS)


_NAMES_OF = BoundedMemo[frozenset[int]]()
"""Keyed by hash, like the texts that hold them."""


def score_names(text: str, asked_names: Collection[int]) -> float:
    """The number of names in the text beyond the known ones (by hash), as a share of enough."""
    found = _NAMES_OF.get(text)
    if found is None:
        found = _NAMES_OF.put(text, frozenset(map(hash, find_names(text))))
    return min(sum(name not in asked_names for name in found), ENOUGH_NAMES) / ENOUGH_NAMES


def has_number(text: str) -> bool:
    """Whether the text holds a number."""
    return _NUMBER.search(text) is not None


def gives_reason(text: str) -> bool:
    """Whether the text gives a reason."""
    return _REASON.search(text) is not None


ASKS_WHEN = to_pattern(
    r"什么时候|何时|哪(?:天|年|月|一天|一年)|几(?:号|点|月)|多久|\bwhen\b|\bwhat (?:date|day|time|year|month)\b|\bhow long\b",
    re.IGNORECASE,
)
_BY_ASSISTANT = to_pattern(
    r"(?<!我告诉)(?<!我跟)(?<!我对)你(?:之前|上次|刚才|当时|以前|给我|给|帮我|跟我|对我)*(?:说|讲|建议|推荐|提|告诉|教|列|写|回答|解释|给出)"
    r"|\b(?:did|have|had|what|that) you (?:\w+ )?(?:sa[iy]d?|suggest(?:ed)?|recommend(?:ed)?|t(?:ell|old)|advi[sc]ed?|mention(?:ed)?|explain(?:ed)?|propos(?:e|ed)|g[ia]ven?|list(?:ed)?|wr(?:ite|ote))\b"
    r"|\byour (?:suggestion|advice|recommendation|answer|explanation|list|proposal)s?\b|\byou (?:suggested|recommended|told|advised|explained|proposed|listed|wrote|gave)\b",
    re.IGNORECASE,
)
_ASKS_ASKED = to_pattern(
    r"问(?:过|了|的)|提问|\b(?:ask|asked|asking|question|questions|wonder(?:ed|ing)?)\b", re.IGNORECASE
)
_BY_USER = to_pattern(r"(?<![们自])[我咱](?!们)|\b(?:i|i'm|i've|i'd|my|mine|me|myself)\b", re.IGNORECASE)
_YEAR = to_pattern(r"(?:19|20)\d\d")
_CALENDAR = to_pattern(r"\d{1,2}\s*月|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_RELATIVE = to_pattern(r"[今去前明]年|上个?月|这个月|\b(?:last|this|past|previous|ago)\b", re.IGNORECASE)
_TEMPORAL = to_pattern(
    r"昨[天日晚]|今[天日早晚年]|明[天早晚年]|[前后]天|[上下这](?:个|一)?(?:周|星期|礼拜|月|学期)|[去前]年|周[一二三四五六日末]|星期[一二三四五六日天]|\d\s*[年月日号点]"
    r"|[一二两三四五六七八九十几半\d]\s*个?(?:天|周|星期|月|年|小时|分钟)(?:以?前|后|了)?|最近|刚刚|春节|中秋|国庆|元旦|暑假|寒假|[春夏秋冬]天"
    r"|\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|soon|since|weekend|(?:last|next|this|past|coming) (?:night|week|weekend|month|year|spring|summer|fall|autumn|winter|morning|evening|few|mon|tue|wed|thu|fri|sat|sun)\w*"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|june|july|august|september|october|november|december)"
    r"|(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|several) (?:day|week|month|year|hour|minute)s?|\d{1,2}(?:st|nd|rd|th)|(?:19|20)\d\d|\d{1,2}:\d\d)\b",
    re.IGNORECASE,
)
_DIGIT = to_pattern(r"\d")
_LATIN_WORD = to_pattern(r"[a-z]+")
_TIME_WORDS = frozenset(
    "yesterday today tonight tomorrow ago recently lately soon since weekend last next this past coming monday tuesday wednesday thursday friday saturday sunday"
    " january february march april june july august september october november december day days week weeks month months year years hour hours minute minutes".split()
)
"""English texts without any of these words name no time."""
_SENTENCE = to_pattern(r"[^.!?。！？\n]*[.!?。！？\n]*")
_WORD = to_pattern(r"[^\W_]+")
_TOGETHER = to_pattern(r"(?:['’]s)?\s*(?:,|&|and|or|和|与|及|或|、|，)+\s*")
FIRST_OF_TWO = 0.65
"""The probability that a question with two people is about the first."""
AFTER_DAYS = 10.0
BEFORE_DAYS = 4.0
Role = Literal["user", "assistant"]


_FRAMING = frozenset(
    map(
        segment.stem,
        """talk discuss say mention chat tell speak conversation happen do go up new news happening visit busy
        spend plan remind remember summarize summary recap list
        聊 聊天 聊到 聊过 谈 谈到 说 说到 说过 讲 讲到 提 提到 讨论 告诉 发生 事 事情 做 干 忙 玩 过得 过 安排
        对话 内容 记录 那天 那会 那会儿 有事 总结 回顾 经历 情况""".split(),
    )
)
"""Words that only ask what was said or done, in a question that names a time."""
_OF_SPEECH = frozenset(
    map(
        segment.stem,
        "talk discuss say mention chat tell speak conversation 聊 谈 说 讲 提 提到 讨论 告诉 事 事情 对话".split(),
    )
)
"""Words that only ask what was said, in any question."""


@dataclass(frozen=True, slots=True)
class Cues:
    """A question as scoring reads it: its terms without speakers' names, and cues of its answer."""

    terms: tuple[str, ...]
    text: str = ""
    speaker: str | None = None
    role: Role | None = None
    time: Range | None = None
    ahead: bool = False
    """Whether the named time is not over: a question about tonight's dinner is not about what was said today."""
    any_year: bool = False
    asks_when: bool = False
    asks_asked: bool = False
    sure: float = 1.0
    kinds: frozenset[Kind] = frozenset()
    known: frozenset[str] = frozenset()
    words: str = ""
    """All its letters, to detect texts that repeat it word for word."""

    @property
    def only_dates(self) -> bool:
        """Whether it gives only a time, and that something was said or done."""
        return all(term in _FRAMING for term in self.terms)

    def without(self, terms: Collection[str]) -> "Cues":
        """The same question without these terms."""
        return replace(self, terms=tuple(t for t in self.terms if t not in terms)) if terms else self


def read_cues(text: str, speakers: Sequence[str], now: datetime) -> Cues:
    """The cues of a question about conversations with these speakers."""
    clean = normalise(text)
    called = {name: spelt for name in speakers if (spelt := find_spelling(name, clean))}
    bare = _without(clean, called.values())
    every = segment.query_terms(clean)
    spoken = time_range(clean, now)
    timeless = without_times(bare, now) if spoken else bare
    terms = segment.query_terms(timeless) or ([] if spoken else every)
    terms = [term for term in terms if term not in _OF_SPEECH] or terms
    speaker, sure = _about(called, clean)
    yearless = bool(_CALENDAR.search(arabic(clean))) and not (_YEAR.search(clean) or _RELATIVE.search(clean))
    return Cues(
        terms=tuple(terms),
        text=bare if bare.strip() else clean,
        speaker=speaker,
        role=_role(clean),
        time=spoken,
        ahead=bool(spoken) and spoken[1] > now and not yearless,
        any_year=yearless,
        asks_when=bool(ASKS_WHEN.search(clean)),
        asks_asked=asks_for_questions(clean),
        sure=sure,
        kinds=find_kinds(clean),
        known=frozenset(word.lower() for word in _WORD.findall(clean))
        | {part for name in speakers for part in (name.lower(), *name.lower().split())}
        | find_names(clean),
        words=to_letters(text),
    )


def asks_for_questions(text: str) -> bool:
    """Whether it asks what was asked; only then can a question be an answer."""
    return _ASKS_ASKED.search(text) is not None


def _about(called: Mapping[str, str], text: str) -> tuple[str | None, float]:
    """Which speaker's words are wanted: the only one named, or probably the first of two, unless both act together."""
    if len({fold(name) for name in called}) == 1:
        return next(iter(called)), 1.0
    if not called:
        return None, 1.0
    (start, first, spelt), (then, _, _), *_ = sorted(
        (_place(spelt, text), name, spelt) for name, spelt in called.items()
    )
    return (None, 1.0) if _TOGETHER.fullmatch(text[start + len(spelt) : then]) else (first, FIRST_OF_TWO)


def _place(spelt: str, text: str) -> int:
    edges = r"\b" if spelt.isascii() else ""
    found = re.search(f"{edges}{re.escape(spelt)}{edges}", text)
    return found.start() if found else len(text)


def find_spelling(name: str, text: str) -> str | None:
    """The form in which the text names the speaker: the whole name or its first word, capitalised."""
    for form in dict.fromkeys((name, name.split()[0] if name.split() else name)):
        if len(form) < 2 or form.lower() in ("user", "assistant", "system"):
            continue
        if not form.isascii():
            if form in text:
                return form
        elif match := re.search(rf"\b{re.escape(form)}\b", text, re.IGNORECASE):
            said = match.group()
            if said[0].isupper() or text.islower():
                return said
    return None


def _without(text: str, spelt: Iterable[str]) -> str:
    for each in spelt:
        edges = r"\b" if each.isascii() else ""
        text = re.sub(rf"{edges}{re.escape(each)}{edges}(?:['’]s\b)?", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def _role(text: str) -> Role | None:
    if _BY_ASSISTANT.search(text):
        return "assistant"
    return "user" if _BY_USER.search(text) else None


def score_time(said_at: datetime, cues: Cues) -> float:
    """1 within the named time, less the further away: events are told after they happen."""
    if cues.time is None:
        return 0.0
    years = range(said_at.year - 1, said_at.year + 2) if cues.any_year else (None,)
    return max(score_nearness(said_at, move_range(cues.time, year)) for year in years)


def move_range(span: Range, year: int | None) -> Range:
    if year is None or span[0].year == year:
        return span
    try:
        start = span[0].replace(year=year)
    except ValueError:  # 29 February
        start = span[0].replace(year=year, day=28)
    return start, start + (span[1] - span[0])


def score_nearness(said_at: datetime, span: Range) -> float:
    days = timedelta(days=1)
    if said_at >= span[1]:
        return float(2.718281828 ** (-((said_at - span[1]) / days) / AFTER_DAYS))
    if said_at < span[0]:
        return float(2.718281828 ** (-((span[0] - said_at) / days) / BEFORE_DAYS))
    return 1.0


@of_texts(8192)
def names_time(text: str) -> bool:
    """Whether the text names a time."""
    if text.isascii() and not _DIGIT.search(text) and _TIME_WORDS.isdisjoint(_LATIN_WORD.findall(text.lower())):
        return False  # a cheap check that excludes most texts
    return _TEMPORAL.search(text) is not None


def score_questions(text: str) -> float:
    """The share of the text that is questions."""
    return _share_asked(text) if "?" in text or "？" in text else 0.0


@of_texts(8192)
def _share_asked(text: str) -> float:
    asked = sum(len(each) for each in _SENTENCE.findall(text) if "?" in each[-3:] or "？" in each[-3:])
    return asked / max(1, len(text))


def to_letters(text: str) -> str:
    """The letters and digits of a text, folded."""
    return "".join(filter(str.isalnum, text.casefold()))


def compare_speaker(name: str | None, cues: Cues) -> float:
    """1 if the named speaker spoke, -1 if another did, 0 if unknown."""
    if cues.speaker is None or not name:
        return 0.0
    return cues.sure if fold(name) == fold(cues.speaker) else -cues.sure


def compare_role(role: str | None, cues: Cues) -> float:
    """1 if the side that the question asks about spoke, -1 if the other did."""
    if cues.role is None or role not in ("user", "assistant"):
        return 0.0
    return 1.0 if role == cues.role else -1.0
