"""Which statements are equal and may be merged; in doubt they are not. Pure."""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from services.evolver.rules import alike as words
from shared.language import segment
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS, letters, stem

FEW = 3
"""Statements with fewer content words are equal only with the same words."""

FRAMED = 0.6
"""Sentences with this letter similarity share one frame: another word in it is another statement."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """The compared parts of a text."""

    plain: str
    words: tuple[str, ...]
    marks: tuple[frozenset[str], tuple[str, ...], frozenset[str]]
    counts: Counter[str]
    norm: float


def read(text: str) -> ComparedText:
    """The text prepared for comparisons; computed once, compared often."""
    carried = (term for term in segment.terms(text) if term not in STOPWORDS and term not in words.EMPTY)
    counts = Counter(carried)
    return ComparedText(
        fold(normalise(text)), _words(text), _marks(text), counts, sum(n * n for n in counts.values()) ** 0.5
    )


def _words(text: str) -> tuple[str, ...]:
    """The distinct content words of the text, in order."""
    found = (segment.stem(fold(word)) for word in segment.keywords(text, limit=200))
    return tuple(dict.fromkeys(word for word in found if word not in words.EMPTY))


def _marks(text: str) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Words that change the meaning of a sentence: denials, limits, times, persons; its numbers; its names."""
    plain = fold(normalise(text))
    spoken = words.HARMLESS.sub(lambda found: words.SPOKEN.get(found.group(), " "), plain)
    english = {word.rstrip("s") if word.rstrip("s") in words.ENGLISH else word for word in re.findall(r"[a-z]+", plain)}
    marks = (english & words.ENGLISH) | set(words.CHINESE.findall(spoken))
    if words.DENIED.search(plain):
        marks |= {"not"}
    named = (*words.NAME.findall(normalise(text)), *words.NAMED_ZH.findall(text))
    names = frozenset(fold(name) for name in named if name != "I")
    return frozenset(marks), tuple(sorted(words.NUMBER.findall(plain))), names | letters(normalise(text))


def may_be_merged(one: ComparedText, other: ComparedText) -> bool:
    """Whether no word excludes that the two are equal; their similarity is measured elsewhere.

    Numbers, dates, denials, limits, persons and names must agree. If most words are shared, neither may replace one by
    another; one of them may add words, but only after the shared ones, because subjects come first.
    """
    if one.marks != other.marks:
        return False
    a, b = one.words, other.words
    shared = set(a) & set(b)
    more_a, more_b = [w for w in a if w not in shared], [w for w in b if w not in shared]
    if more_a and more_b:
        fewest = min(len(a), len(b))
        return fewest >= FEW and 2 * len(shared) < fewest and _resemblance(one, other) < FRAMED
    longer, more = (a, more_a) if more_a else (b, more_b)
    return bool(shared) and (not more or longer[0] in shared)


def _resemblance(one: ComparedText, other: ComparedText) -> float:
    return SequenceMatcher(None, one.plain, other.plain, autojunk=False).ratio()


def likeness(one: ComparedText, other: ComparedText) -> float:
    """The cosine of the two by their content terms, 0 to 1, weighted by frequency."""
    if not one.norm or not other.norm:
        return 0.0
    return sum(n * other.counts[term] for term, n in one.counts.items() if term in other.counts) / (
        one.norm * other.norm
    )


_MARKS = """
no not never none nothing neither nor without hardly rarely seldom hate dislike avoid stop quit refuse unable allergic
only just if unless except but when while until instead rather than more less most least better worse over
used formerly was were had did will going plan want wish hope would might may maybe before after ago anymore longer yet
always sometimes occasionally left right up down early late
he him his she her they them their wife husband spouse partner son daughter child kid baby mother mom mum father dad
parent brother sister sibling friend boss manager colleague coworker roommate neighbor neighbour grandma grandpa
grandmother grandfather uncle aunt cousin boyfriend girlfriend team everyone somebody
monday tuesday wednesday thursday friday saturday sunday weekend weekday january february march april june july
august september october november december spring summer autumn fall winter today tomorrow yesterday
one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million
once twice first second third half double
"""
ENGLISH = frozenset(_MARKS.split())
DENIED = to_pattern(
    r"\b\w+n['’]t\b|\b(?:do|does|did|is|are|was|were|has|have|had|should|would|could|must|wo)nt\b|\bcan(?:no)?t\b"
)
CHINESE = to_pattern(
    r"不|没|无|非|别|勿|未|戒|忌|讨厌|反感|拒绝|避免|停止"
    r"|只|仅|除|如果|要是|但|而是|反而|代替|比|更|最|宁|倒是"
    r"|以前|曾|过去|原来|原先|之前|之后|将|打算|计划|想|希望|可能|也许|或许|准备|总是|有时|偶尔|很少|早|晚|左|右"
    r"|他|她|它|老婆|妻|太太|媳妇|老公|丈夫|爱人|儿子|女儿|孩子|小孩|宝宝|妈|爸|母亲|父亲|父母|哥|弟|姐|妹|爷|奶|外公|外婆|姥"
    r"|叔|阿姨|舅|姑|朋友|同事|老板|领导|室友|邻居|同学|老师|女友|男友|对象|大家"
    r"|周[一二三四五六日天末]|星期[一二三四五六日天]|礼拜[一二三四五六日天]|春|夏|秋|冬|今天|明天|昨天|今年|明年|去年"
    r"|[零二三四五六七八九十百千万两半双]"
)
HARMLESS = to_pattern(
    r"特别|非常|别致|不错|无论|非洲|未来|一直|一起|一般|一些|一点|一下|一样|一定|十分|万一|三明治|早已|早就|将近|最近"
    r"|爸爸|妈妈|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶"
)
"""Words that contain a marker word without its meaning, or that equal a shorter one."""
SPOKEN = {word: word[0] for word in ("爸爸", "妈妈", "哥哥", "弟弟", "姐姐", "妹妹", "爷爷", "奶奶")}
NUMBER = to_pattern(r"\d+(?:[.:/\-]\d+)*")
NAME = to_pattern(r"(?<=[a-z,;:] )[A-Z][\w'-]*|(?<=[\u4e00-\u9fff])[A-Za-z][\w.+#-]*|\b[A-Z]{2,}\w*")
NAMED_ZH = to_pattern(r"(?:(?<=[和跟与给])|^)[小老阿][\u4e00-\u9fff]")
_ADDS_NOTHING = """
like love enjoy prefer adore fond keen really usually often normally generally regularly user
喜欢 爱 喜爱 热爱 偏爱 钟爱 偏好 中意 平时 通常 平常 经常 常 常常 用户 比较 还是 挺 蛮 超 真 真的 特
"""
EMPTY = frozenset(stem(word) for word in _ADDS_NOTHING.split())
"""Words of liking differ in strength, not in their object; words of degree and habit add nothing to it."""
