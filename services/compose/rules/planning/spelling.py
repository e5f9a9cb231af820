"""Words of a question that may be spelt otherwise: as memory has them, or by the other name of whom they name."""

import re
from collections.abc import Collection, Iterable, Sequence

from shared.language.patterns import to_pattern
from shared.language.within import has_word

MIN_CHARS = 5
"""Shorter words have too few trigrams: most neighbours of `tea` are other words."""
MOST_DOUBTFUL = 3
LIKENESS = 0.45
"""The least share of trigrams in common (pg_trgm); a letter missing or swapped in a word of seven keeps about half."""
ENOUGH = 2
"""So many known words find what a question is about without the unknown ones."""

_MARKED = to_pattern(r"(?<=[^.!?。！？\s]\s)[A-Z][^\W_]+|\b\w*(?:[A-Z]\w*[a-z]\w*[A-Z]|[a-z]\d|_)\w*")


def doubtful(text: str, terms: Sequence[str], known: Collection[str]) -> list[str]:
    """Terms that memory does not have and that may stand there in another spelling, at most three."""
    unknown = [t for t in terms if t not in known and len(t) >= MIN_CHARS and t.isascii() and t[0].isalpha()]
    if not unknown:
        return []
    if sum(t in known for t in terms) >= ENOUGH:
        marked = " ".join(_MARKED.findall(text)).lower()
        unknown = [t for t in unknown if t[:MIN_CHARS] in marked]
    return unknown[:MOST_DOUBTFUL]


MOST_RESPELT = 3
"""So many other spellings of a question are asked at most."""
Pair = tuple[str, str]


def respelt(text: str, joined: Iterable[Pair]) -> list[str]:
    """The text with each other name in the place of one that it has; none where it has both."""
    pairs = list(joined)
    questions: dict[str, None] = {}
    for name in dict.fromkeys(each for pair in pairs for each in pair):
        if not has_word(text, name):
            continue
        for other in _same_as(name, pairs):
            if not has_word(text, other):
                questions.setdefault(re.sub(re.escape(name), lambda _, new=other: new, text, flags=re.IGNORECASE))
    return list(questions)[:MOST_RESPELT]


def _same_as(name: str, pairs: list[Pair]) -> list[str]:
    """The names that are this one's, also by way of another."""
    known = [name]
    for one in known:
        beside = [b if a.lower() == one.lower() else a for a, b in pairs if one.lower() in (a.lower(), b.lower())]
        known += [each for each in dict.fromkeys(beside) if each.lower() not in {k.lower() for k in known}]
    return known[1:]
