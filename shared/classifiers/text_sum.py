"""Logistic sums over a whole text: a few signs, its static vector, and its words and pairs of words.

The vector knows words that no label had, the words know what the vector blurs, the signs know what neither sees: who
speaks, what is asked. `tests/training` fits the weights.
"""

import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.static_encoder import MAX_CHARS, load_static_encoder
from shared.language.patterns import to_pattern

Numbers = NDArray[np.float32]
SLOTS = 1 << 13
"""How many weights all words and pairs of words share."""
VECTOR_SCALE, WORD_SCALE = 4.0, 4.0
"""What the unit vector and the unit row of words are multiplied with, so that one penalty fits all weights."""
_WORD = to_pattern(r"[a-z0-9]+(?:'[a-z]+)?|[\u3400-\u9fff]")


class TextSum:
    """What each sign, number of the vector and word counts for; `bias` for none of them."""

    def __init__(self, signs: Numbers, vector: Numbers, words: Numbers, bias: float) -> None:
        self._signs, self._vector, self._words, self._bias = signs, vector * VECTOR_SCALE, words * WORD_SCALE, bias

    @property
    def shapes(self) -> tuple[int, int, int]:
        """How many signs, numbers of a vector and slots of words have a weight."""
        return len(self._signs), len(self._vector), len(self._words)

    def estimate(self, text: str, signs: Sequence[float]) -> float:
        """The probability that the text is of the kind that was asked for."""
        odds = self._bias + float(np.asarray(signs, np.float32) @ self._signs)
        odds += float(load_static_encoder().encode(text) @ self._vector)
        if slots := find_slots(text):
            odds += float(self._words[slots].sum()) / math.sqrt(len(slots))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def find_slots(text: str) -> list[int]:
    """The slots of the words and pairs of words that a text begins with, of Chinese of its characters, each once."""
    words = _WORD.findall(text[:MAX_CHARS].lower().replace("’", "'"))
    told = {*words, *map("_".join, pairwise(words))}
    return sorted({crc32(each.encode()) % SLOTS for each in told})


@cache
def load_text_sum(name: str) -> TextSum:
    """The weights of this name, read once a process."""
    path = resources.files("shared.classifiers") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        signs, vector, words = (read[part].astype(np.float32) for part in ("signs", "vector", "words"))
        return TextSum(signs, vector, words, float(read["bias"]))
