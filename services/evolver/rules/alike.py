"""Which statements are equal and may be merged; in doubt they are not. Pure."""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from services.evolver.rules import alike_words as words
from shared.language import segment
from shared.language.normalise import fold, normalise
from shared.language.segment import STOPWORDS, letters

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
