"""Small whole numbers in about as few bits as they tell anything: what `tests/training/pack_numbers.py` has packed.

The coder is rANS: a state holds many numbers, the more usual ones in less of it. Numbers stand in lanes, each with a
state of its own, so that numpy reads a number of every lane at once.
"""

import numpy as np
from numpy.typing import NDArray

BITS = 12
"""How often a number is met is told in shares of 2 ** BITS."""
WORD = 16
LEAST = 1 << WORD
"""A state below it has room for another word of WORD bits."""
MIDDLE = 128
"""Where nought stands among the frequencies of the numbers -128 to 127."""


def unpack_numbers(
    words: NDArray[np.uint16], states: NDArray[np.uint32], frequencies: NDArray[np.uint16], kinds: NDArray[np.uint8]
) -> NDArray[np.int8]:
    """The numbers, each of the kind that is given for it; `frequencies` says of each kind how often it is which."""
    met, shares, offsets = _read_tables(frequencies)
    numbers = np.empty(len(kinds), np.int8)
    now, place = states.astype(np.uint32), 0
    for begin in range(0, len(kinds), len(states)):
        own = kinds[begin : begin + len(states)]
        now = now[: len(own)]
        places = (own.astype(np.uint32) << BITS) | (now & ((1 << BITS) - 1))
        numbers[begin : begin + len(own)] = met[places]
        now = shares[places] * (now >> BITS) + offsets[places]
        low = np.flatnonzero(now < LEAST)
        now[low] = (now[low] << WORD) | words[place : place + len(low)]
        place += len(low)
    return numbers


def _read_tables(
    frequencies: NDArray[np.uint16],
) -> tuple[NDArray[np.int8], NDArray[np.uint32], NDArray[np.uint32]]:
    """For each kind and each end of a state: which number it is, its frequency, and the place among those of it."""
    often: NDArray[np.intp] = frequencies.reshape(-1).astype(np.intp)
    kinds, count = frequencies.shape
    numbers = np.arange(kinds * count, dtype=np.int64) % count - MIDDLE
    met = np.repeat(numbers, often).astype(np.int8)
    offsets = np.arange(int(often.sum()), dtype=np.int64) - np.repeat(often.cumsum() - often, often)
    return met, np.repeat(often, often).astype(np.uint32), offsets.astype(np.uint32)
