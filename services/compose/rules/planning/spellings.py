"""A question in the other spellings of the names in it, where the user has said that both are one's. Pure."""

import re
from collections.abc import Iterable

from shared.language.within import has_word

MOST = 3
"""So many other spellings of a question are asked at most."""
Pair = tuple[str, str]


def respelt(text: str, joined: Iterable[Pair]) -> list[str]:
    """The text with each other name in the place of one that it has; none where it has both."""
    pairs = list(joined)
    found: dict[str, None] = {}
    for name in dict.fromkeys(each for pair in pairs for each in pair):
        if not has_word(text, name):
            continue
        for other in _same_as(name, pairs):
            if not has_word(text, other):
                found.setdefault(re.sub(re.escape(name), lambda _, new=other: new, text, flags=re.IGNORECASE))
    return list(found)[:MOST]


def _same_as(name: str, pairs: list[Pair]) -> list[str]:
    """The names that are this one's, also by way of another."""
    known = [name]
    for one in known:
        beside = [b if a.lower() == one.lower() else a for a, b in pairs if one.lower() in (a.lower(), b.lower())]
        known += [each for each in dict.fromkeys(beside) if each.lower() not in {k.lower() for k in known}]
    return known[1:]
