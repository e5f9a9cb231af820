"""What sorts of thing a text names: drinks, cities, tools, days ... by the lexicon, and numbers by their look."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

from shared.language.patterns import to_pattern

FOLDER = "lexicon"
SORTS = frozenset(
    {"food_ingredient", "dish", "drink", "animal", "job", "workplace", "study", "illness", "medicine", "allergen"}
    | {"body", "city", "country_region", "language", "sport", "hobby", "music", "game_media", "software", "programming"}
    | {"device", "vehicle", "clothing", "family", "friend_colleague", "home", "time_of_day", "weekday_month"}
    | {"festival", "religion", "document", "event_kind", "style_of_answer"}
)
"""Classes of the lexicon whose words may stand for one another: who changes one of them names another."""
TOLD_BY = {"v_live": "home", "v_move": "home", "v_work": "job", "v_study": "study"}
"""Classes of verbs that speak of a sort without naming any."""
SAYS_LITTLE = frozenset(
    {"v_like", "v_dislike", "v_own_use", "v_consume", "v_must", "v_plan_aim", "v_decide", "v_start", "habit_always"}
    | {"frequency", "now_current", "request_verb", "speech_verb", "lasting", "one_off", "past_used_to"}
)
"""Classes of words that two sentences may share without having to do with each other."""
NUMBER = "number"
CIRCUMSTANCES = frozenset({"city", "country_region", "time_of_day", "weekday_month", NUMBER})
"""Sorts that say where, when or how many: two texts may name the same one and have nothing to do with each other."""
_HAN = "\u3400-\u9fff"
_PIECE = to_pattern(
    rf"(?P<number>\d+(?:[.:]\d+)*|(?<=[第上下晚早点过])?[一二两三四五六七八九十百千万半零]+(?=[{_HAN}]))"
    rf"|(?P<word>[a-z][a-z'’+#-]*)|(?P<han>[{_HAN}]+)"
)
_LONGEST_HAN = 6
_LONGEST_EN = 3


class KnownWord(NamedTuple):
    """A word of a text, where it stands, and the sorts of thing that it may be."""

    start: int
    end: int
    word: str
    sorts: frozenset[str]


@cache
def _lexicon() -> dict[str, frozenset[str]]:
    return {word: classes & SORTS for word, classes in _classes().items() if classes & SORTS}


def says_little(word: str) -> bool:
    """Whether the word is of such a class alone."""
    classes = _classes().get(word, frozenset())
    return bool(classes) and classes <= SAYS_LITTLE


@cache
def _classes() -> dict[str, frozenset[str]]:
    sorts_of: dict[str, set[str]] = {}
    for path in resources.files("shared.classifiers").joinpath(FOLDER).iterdir():
        sort = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("#"):
                sort = TOLD_BY.get(name := line[1:].split()[0], name)
            elif sort in SORTS or sort in SAYS_LITTLE:
                for word in filter(None, (part.strip().lower() for part in line.split("|"))):
                    sorts_of.setdefault(word, set()).add(sort)
    return {word: frozenset(sorts) for word, sorts in sorts_of.items()}


def find_known_words(text: str) -> Iterator[KnownWord]:
    """The words of the text that the lexicon knows, the longest at each place, and its numbers, in order."""
    low = text.lower()
    lexicon = _lexicon()
    words: list[re.Match[str]] = []
    for piece in _PIECE.finditer(low):
        if piece.lastgroup == "word":
            words.append(piece)
            continue
        yield from _phrases(words, low, lexicon)
        words = []
        if piece.lastgroup == "number":
            yield KnownWord(piece.start(), piece.end(), piece[0], frozenset((NUMBER,)))
        else:
            yield from _han(piece.start(), piece[0], lexicon)
    yield from _phrases(words, low, lexicon)


def _phrases(words: list[re.Match[str]], low: str, lexicon: dict[str, frozenset[str]]) -> Iterator[KnownWord]:
    at = 0
    while at < len(words):
        for count in range(min(_LONGEST_EN, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + count - 1].end()
            if sorts := lexicon.get(low[start:end]):
                yield KnownWord(start, end, low[start:end], sorts)
                at += count
                break
        else:
            at += 1


def _han(offset: int, run: str, lexicon: dict[str, frozenset[str]]) -> Iterator[KnownWord]:
    at = 0
    while at < len(run):
        for length in range(min(_LONGEST_HAN, len(run) - at), 0, -1):
            word = run[at : at + length]
            if (length > 1 or len(run) == 1) and (sorts := lexicon.get(word)):
                yield KnownWord(offset + at, offset + at + length, word, sorts)
                at += length
                break
        else:
            at += 1
