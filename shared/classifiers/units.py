"""A text as units: its words, numbers and signs, each with its place, its shape and its static vector."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.static_encoder import encode_word, load_static_encoder
from shared.language.patterns import to_pattern

Numbers = NDArray[np.float32]
_LETTERS = r"[^\W_\u3400-\u9fff]+"
_PIECE = to_pattern(
    rf"{_LETTERS}(?:[.,:/](?=\d){_LETTERS})*(?:['’]{_LETTERS})*|[\u3400-\u9fff]+|\.{{2,}}|…+|[-–—~]+|\S"
)
_DIGIT = to_pattern(r"\d")
_CHINESE_NUMBERS = frozenset("零一二两三四五六七八九十百千万半几")
NUMBER, LATIN, CHINESE, COMMA, STOP, DASH, DOTS, OPENS, CLOSES, CALLS, QUOTE, OTHER = SHAPES = range(12)
"""The shapes of units."""
WORDS = CHINESE
"""The last of the shapes that words and numbers have."""
_SIGNS = {
    sign: shape
    for shape, signs in (
        (COMMA, ",，、;；:："),
        (STOP, ".。"),
        (DASH, "-–—~"),
        (DOTS, "…"),
        (OPENS, "(（[【"),
        (CLOSES, ")）]】"),
        (CALLS, "!！?？"),
        (QUOTE, "\"“”'‘’「」"),
    )
    for sign in signs
}


@dataclass(frozen=True)
class Units:
    """The units of a text in order: where each begins and ends, its word in small letters, its shape and its vector.

    A vector has length one; it is zero where the encoder does not know the unit, as for most signs.
    """

    text: str
    starts: list[int]
    ends: list[int]
    words: list[str]
    shapes: NDArray[np.intp]
    vectors: Numbers

    def __len__(self) -> int:
        return len(self.words)


def split_units(text: str, most: int) -> Units | None:
    """The units of the text; None if it has none, more than `most`, or letters that change length in lower case."""
    low = text.lower()
    pieces = [*_PIECE.finditer(low)]
    if not pieces or len(pieces) > most or len(low) != len(text):
        return None
    starts: list[int] = []
    ends: list[int] = []
    vectors: list[Numbers] = []
    for piece in pieces:
        if "\u3400" <= piece[0][0] <= "\u9fff":
            for begin, end, vector in load_static_encoder().cut(piece[0]):
                starts.append(piece.start() + begin)
                ends.append(piece.start() + end)
                vectors.append(vector)
        else:
            starts.append(piece.start())
            ends.append(piece.end())
            vectors.append(encode_word(piece[0]))
    if len(starts) > most:
        return None
    words = [low[start:end] for start, end in zip(starts, ends, strict=True)]
    shapes = np.fromiter(map(_find_shape, words), np.intp, len(words))
    return Units(text, starts, ends, words, shapes, np.stack(vectors))


def _find_shape(word: str) -> int:
    first = word[0]
    if _DIGIT.search(word) or (first in _CHINESE_NUMBERS and _CHINESE_NUMBERS.issuperset(word)):
        return NUMBER
    if first.isalpha():
        return CHINESE if "\u3400" <= first <= "\u9fff" else LATIN
    return DOTS if word.startswith("..") else _SIGNS.get(first, OTHER)


SIGNS = 10
"""How many signs of repetition each unit has."""
_FAR = 40
"""How many units on either side are compared with a unit."""
_UNLIKE = -0.2
"""The likeness of units that are not compared."""


def count_repetitions(units: Units) -> Numbers:
    """Rows of SIGNS numbers, one for each unit. After and before it: whether its word occurs again and how near; how
    similar the most similar other unit of its shape is; how similar the units before both are; whether there is
    another number.
    """
    size = len(units)
    every = np.arange(size)
    number: dict[str, int] = {}
    ids = np.fromiter((number.setdefault(word, len(number)) for word in units.words), np.intp, size)
    likeness = units.vectors @ units.vectors.T
    telling = units.shapes <= WORDS
    compared = telling[:, None] & telling
    same = ids[:, None] == ids
    alike = (units.shapes[:, None] == units.shapes) & ~same & compared
    same &= compared
    numbers = units.shapes == NUMBER
    signs = np.zeros((size, SIGNS), np.float32)
    for place, (near, distance) in enumerate(_find_neighbours(size)):
        at = place * (SIGNS // 2)
        nearest = np.where(near & same, distance, size + _FAR).min(axis=1)
        again = nearest <= _FAR
        signs[:, at] = again
        signs[:, at + 1] = np.where(again, 1 / np.sqrt(nearest), 0.0)
        others = near & alike
        likest = np.where(others, likeness, _UNLIKE)
        best = likest.argmax(axis=1)
        most = likest[every, best]
        signs[:, at + 2] = most
        before = np.maximum(likeness[every - 1, best - 1], 0.0)
        signs[:, at + 3] = np.where((most > _UNLIKE) & (best > 0) & (every > 0), before, 0.0)
        signs[:, at + 4] = others.any(axis=1) & numbers
    return signs


@lru_cache(maxsize=256)
def _find_neighbours(size: int) -> tuple[tuple[NDArray[np.bool_], NDArray[np.intp]], ...]:
    """For `size` units, those after and those before each: whether they are near but not adjacent, and how far."""
    distance = np.arange(size) - np.arange(size)[:, None]
    return tuple(((distance * side >= 2) & (distance * side <= _FAR), np.abs(distance)) for side in (1, -1))
