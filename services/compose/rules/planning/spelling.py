"""Which words of a question may be misspelt, or are spelt otherwise in memory: names, identifiers, lone words."""

from collections.abc import Collection, Sequence

from shared.language.patterns import to_pattern

MIN_CHARS = 5
"""Shorter words have too few trigrams: most neighbours of `tea` are other words."""
MOST = 3
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
    return unknown[:MOST]
