"""What a question says about the place of its answer: who said it, when, in which words; a cue that is absent moves nothing."""

# ruff: noqa: E501 - one family of cues per line

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from shared.text import segment
from shared.text.dates import Range, arabic, time_range
from shared.text.normalise import fold, normalise

ASKS_WHEN = re.compile(
    r"什么时候|何时|哪(?:天|年|月|一天|一年)|几(?:号|点|月)|多久|\bwhen\b|\bwhat (?:date|day|time|year|month)\b|\bhow long\b",
    re.IGNORECASE,
)
_BY_ASSISTANT = re.compile(
    r"(?<!我告诉)(?<!我跟)(?<!我对)你(?:之前|上次|刚才|当时|以前|给我|给|帮我|跟我|对我)*(?:说|讲|建议|推荐|提|告诉|教|列|写|回答|解释|给出)"
    r"|\b(?:did|have|had|what|that) you (?:\w+ )?(?:sa[iy]d?|suggest(?:ed)?|recommend(?:ed)?|t(?:ell|old)|advi[sc]ed?|mention(?:ed)?|explain(?:ed)?|propos(?:e|ed)|g[ia]ven?|list(?:ed)?|wr(?:ite|ote))\b"
    r"|\byour (?:suggestion|advice|recommendation|answer|explanation|list|proposal)s?\b|\byou (?:suggested|recommended|told|advised|explained|proposed|listed|wrote|gave)\b",
    re.IGNORECASE,
)
_ASKS_ASKED = re.compile(
    r"问(?:过|了|的)|提问|\b(?:ask|asked|asking|question|questions|wonder(?:ed|ing)?)\b", re.IGNORECASE
)
_BY_USER = re.compile(r"(?<![们自])[我咱](?!们)|\b(?:i|i'm|i've|i'd|my|mine|me|myself)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALENDAR = re.compile(r"\d{1,2}\s*月|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_RELATIVE = re.compile(r"[今去前明]年|上个?月|这个月|\b(?:last|this|past|previous|ago)\b", re.IGNORECASE)
_TEMPORAL = re.compile(
    r"昨[天日晚]|今[天日早晚年]|明[天早晚年]|[前后]天|[上下这](?:个|一)?(?:周|星期|礼拜|月|学期)|[去前]年|周[一二三四五六日末]|星期[一二三四五六日天]|\d\s*[年月日号点]"
    r"|[一二两三四五六七八九十几半\d]\s*个?(?:天|周|星期|月|年|小时|分钟)(?:以?前|后|了)?|最近|刚刚|春节|中秋|国庆|元旦|暑假|寒假|[春夏秋冬]天"
    r"|\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|soon|since|weekend|(?:last|next|this|past|coming) (?:night|week|weekend|month|year|spring|summer|fall|autumn|winter|morning|evening|few|mon|tue|wed|thu|fri|sat|sun)\w*"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|june|july|august|september|october|november|december)"
    r"|(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|several) (?:day|week|month|year|hour|minute)s?|\d{1,2}(?:st|nd|rd|th)|(?:19|20)\d\d|\d{1,2}:\d\d)\b",
    re.IGNORECASE,
)
_MONTHS = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_DATE_WORDS = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})|(?:{_MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?|(?:in|of|during|since|last|this)\s+(?:{_MONTHS}))\b\.?(?:\s*,?\s*(?:19|20)\d\d\b)?"
    r"|\b(?:in|of|during|since|year)\s+(?:19|20)\d\d\b|(?:(?:19|20)\d\d\s*年)?\s*\d{1,2}\s*月(?:份|\s*\d{1,2}\s*[日号])?|(?:19|20)\d\d\s*年"
    r"|(?<!\d)(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|最近|近期|近来|[昨今前]天|[去今前]年|上(?:个)?(?:周|星期|礼拜|月)|这(?:个)?(?:周|星期|礼拜|月)"
    r"|\b(?:yesterday|today|tonight|recently|lately|(?:last|this|past) (?:night|week|weekend|month|year))\b",
    re.IGNORECASE,
)
"""Words that only say when: the date they name is compared with dates, not looked up as words."""
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]*")
AFTER_DAYS = 10.0
BEFORE_DAYS = 4.0
MAX_PAIRS = 8
Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Cues:
    """One question as the scoring reads it: its terms without names of speakers, and what points at its answer."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    text: str = ""
    speaker: str | None = None
    role: Role | None = None
    time: Range | None = None
    any_year: bool = False
    asks_when: bool = False
    asks_asked: bool = False

    def without(self, terms: Collection[str]) -> "Cues":
        """The same question without these terms."""
        return replace(self, terms=tuple(t for t in self.terms if t not in terms)) if terms else self


def read(text: str, speakers: Sequence[str], now: datetime) -> Cues:
    """The cues of a question put to conversations in which these speakers took part."""
    clean = normalise(text)
    called = {name: spelt for name in speakers if (spelt := _spelt(name, clean))}
    bare = _without(clean, called.values())
    every = segment.query_terms(clean)
    spoken = time_range(clean, now)
    timeless = _DATE_WORDS.sub(" ", arabic(bare)) if spoken else bare
    terms = segment.query_terms(timeless) or ([] if spoken else every)
    yearless = bool(_CALENDAR.search(arabic(clean))) and not (_YEAR.search(clean) or _RELATIVE.search(clean))
    return Cues(
        terms=tuple(terms),
        pairs=tuple(pairwise(terms))[:MAX_PAIRS],
        text=bare if bare.strip() else clean,
        speaker=next(iter(called)) if len({fold(name) for name in called}) == 1 else None,
        role=_role(clean),
        time=spoken,
        any_year=yearless,
        asks_when=bool(ASKS_WHEN.search(clean)),
        asks_asked=bool(_ASKS_ASKED.search(clean)),
    )


def _spelt(name: str, text: str) -> str | None:
    """How the text calls the speaker: by the whole name or by its first word, spelt as a name."""
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


def nearness(said_at: datetime, cues: Cues) -> float:
    """1 within the time that the question names, less the further away: things are told after they happen."""
    if cues.time is None:
        return 0.0
    years = range(said_at.year - 1, said_at.year + 2) if cues.any_year else (None,)
    return max(_near(said_at, _moved(cues.time, year)) for year in years)


def _moved(span: Range, year: int | None) -> Range:
    if year is None or span[0].year == year:
        return span
    try:
        start = span[0].replace(year=year)
    except ValueError:  # 29 February
        start = span[0].replace(year=year, day=28)
    return start, start + (span[1] - span[0])


def _near(said_at: datetime, span: Range) -> float:
    days = timedelta(days=1)
    if said_at >= span[1]:
        return float(2.718281828 ** (-((said_at - span[1]) / days) / AFTER_DAYS))
    if said_at < span[0]:
        return float(2.718281828 ** (-((span[0] - said_at) / days) / BEFORE_DAYS))
    return 1.0


def tells_when(text: str) -> bool:
    """Whether the text names a time."""
    return _TEMPORAL.search(text) is not None


def asking(text: str) -> float:
    """Which share of the text is questions."""
    if "?" not in text and "？" not in text:
        return 0.0
    asked = sum(len(each) for each in _SENTENCE.findall(text) if "?" in each[-3:] or "？" in each[-3:])
    return asked / max(1, len(text))


def phrase(pair: tuple[str, str]) -> re.Pattern[str]:
    """Both words side by side, or one word apart, in any form."""
    one, two = (re.escape(term) for term in pair)
    if pair[0].isascii() and pair[1].isascii():
        return re.compile(rf"\b{one}\w*\W+(?:\w+\W+)?{two}", re.IGNORECASE)
    return re.compile(rf"{one}.{{0,2}}{two}", re.IGNORECASE)


def same_speaker(name: str | None, cues: Cues) -> float:
    """1 where the speaker whom the question names spoke, -1 where another did, 0 where nothing is known."""
    if cues.speaker is None or not name:
        return 0.0
    return 1.0 if fold(name) == fold(cues.speaker) else -1.0


def same_role(role: str | None, cues: Cues) -> float:
    """1 where the side that the question asks about spoke, -1 where the other side did."""
    if cues.role is None or role not in ("user", "assistant"):
        return 0.0
    return 1.0 if role == cues.role else -1.0
