"""Which grams have weights, known by their hashes alone: their words are nowhere.

A gram without weights is taken for one with weights now and then: once in as many times as there are hashes for each
gram that has weights. Then one of the many grams of a text says what it should not.
"""

from bisect import bisect_left
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

REMEMBERED = 20_000
"""So many grams are found without a look into the hashes."""


def hash_gram(gram: str, room: int) -> int:
    """A whole number below `room`."""
    return crc32(gram.encode()) % room


class Vocabulary(dict[str, int | None]):
    """The row of each gram that has weights, None of any other: `vocabulary[gram]`.

    `hashes` are in order, and `room` is what they are below; the row of the first is 1. As a dict it holds what was
    asked lately.
    """

    def __init__(self, hashes: NDArray[np.uint32], room: int) -> None:
        super().__init__()
        self.hashes = hashes
        self.room = room
        self._numbers = hashes.data
        self._width = max(1, room // max(1, len(hashes)))
        # where the hashes of each stretch of that width begin: there is hardly one in each
        stretches = np.arange(0, room + self._width + 1, self._width)
        self._begins = np.searchsorted(hashes, stretches).astype(np.uint32).data

    def __missing__(self, gram: str) -> int | None:
        number = hash_gram(gram, self.room)
        stretch = number // self._width
        end = self._begins[stretch + 1]
        place = bisect_left(self._numbers, number, self._begins[stretch], end)
        row = place + 1 if place < end and self._numbers[place] == number else None
        if len(self) >= REMEMBERED:
            self.clear()
        self[gram] = row
        return row
