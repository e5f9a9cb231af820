"""The parts of a text, between commas and the ends of sentences, and texts that differ in one part. Pure."""

import re
from collections.abc import Sequence

from shared.classifiers.meanings import says_little
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms

_PART = to_pattern(
    r"(?:[，,](?!\d)|[。；;!?！？\n]|(?<!\b(?:Dr|Mr|Ms|St|vs))(?<!\bMrs)(?<!\bincl)(?<!\bapprox)\.(?=\s|$)"
    r"|\s+(?=(?:and|but) (?:i|i'm|i've|we|my|our|he|she|they|am|have|also|work|study|run|own|use|like|love|hate)\b))+",
    re.I,
)
_ASKS = to_pattern(r"[?？]")
EDGE = " \t\n,，.。;；!！、"
"""What stands around a part and is none of it."""


def split_parts(text: str) -> list[str]:
    """The parts of the text between commas and the ends of sentences, without questions."""
    parts: list[str] = []
    start = 0
    for mark in [*_PART.finditer(text), None]:
        part = text[start : mark.start() if mark else len(text)].strip(EDGE)
        if part and not (mark and _ASKS.search(mark[0])):
            parts.append(part)
        start = mark.end() if mark else len(text)
    return parts


def is_parallel(one: str, other: str) -> bool:
    """Whether both are one sentence with another thing in one place of it: two things to be reminded of by one day."""
    first, second = ([word for word in segment.words(text.lower()) if word.strip()] for text in (one, other))
    before = _common(first, second)
    after = _common(
        first[: before - 1 : -1] if before else first[::-1], second[: before - 1 : -1] if before else second[::-1]
    )
    most = max(len(first), len(second))
    middles = [words[before : len(words) - after] for words in (first, second)]
    if not all(middles) or 5 * (before + after) < 2 * most:
        return False
    terms = [
        {term for term in query_terms(" ".join(words)) if not says_little(term) and not term[0].isdigit()}
        for words in middles
    ]
    return bool(terms[0] - terms[1]) and bool(terms[1] - terms[0])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words both begin with."""
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
