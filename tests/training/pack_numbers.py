"""Packs what `shared.classifiers.packed_numbers` unpacks."""

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.packed_numbers import BITS, LEAST, MIDDLE, WORD

LANES = 2048
LEAST_IN_LANE = 8192
"""A lane costs two bytes: there are no more lanes than have so many numbers each."""
FINENESS = 4
"""So many kinds of numbers for each time that they are twice as large in the mean."""
UNMET = 0.25
SMALLEST = 2.0**-12
"""A smaller mean makes no further kind."""


def sort_kinds(numbers: NDArray[np.int8], parts: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The kind of each row of numbers in each of the parts that its columns are in: those of like size are alike."""
    count = int(parts.max()) + 1
    held = np.maximum(np.bincount(parts, minlength=count), 1)
    means = np.stack([np.bincount(parts, np.abs(row.astype(np.int16)), count) / held for row in numbers])
    sizes = np.round(np.log2(np.maximum(means, SMALLEST)) * FINENESS).astype(np.intp)
    return np.unique(sizes, return_inverse=True)[1].reshape(sizes.shape).astype(np.uint8)


def count_frequencies(numbers: NDArray[np.int8], kinds: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """How often each kind is which number, in whole shares, at least one of what is met."""
    places = kinds.astype(np.intp) * 2 * MIDDLE + numbers + MIDDLE
    counts = np.bincount(places, minlength=(int(kinds.max()) + 1) * 2 * MIDDLE).reshape(-1, 2 * MIDDLE)
    counts[counts.sum(axis=1) == 0, MIDDLE] = 1
    shares = counts * ((1 << BITS) / counts.sum(axis=1, keepdims=True))
    often = np.where(counts > 0, np.maximum(np.round(shares), 1), 0).astype(np.intp)
    most = often.argmax(axis=1)
    often[np.arange(len(often)), most] += (1 << BITS) - often.sum(axis=1)
    return often.astype(np.uint16)


def count_bits(numbers: NDArray[np.int8], kinds: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How many bits each number from -128 to 127 takes, by kind; one that was not met, as if it were hardly ever."""
    often = count_frequencies(numbers.reshape(-1), kinds.reshape(-1))
    return (BITS - np.log2(np.maximum(often, UNMET))).astype(np.float32)


def pack_numbers(
    numbers: NDArray[np.int8], kinds: NDArray[np.uint8], frequencies: NDArray[np.uint16]
) -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
    """The words and the states from which the numbers are read again, the first numbers first."""
    often = frequencies.astype(np.uint64)
    before = often.cumsum(axis=1) - often
    states = np.full(max(1, min(LANES, len(numbers) // LEAST_IN_LANE)), LEAST, np.uint64)
    words: list[NDArray[np.uint16]] = []
    for begin in reversed(range(0, len(numbers), len(states))):
        own, at = kinds[begin : begin + len(states)], numbers[begin : begin + len(states)].astype(np.intp) + MIDDLE
        now, share = states[: len(own)], often[own, at]
        over = now >= share << np.uint64(2 * WORD - BITS)
        words.append((now[over] & np.uint64(LEAST - 1)).astype(np.uint16))
        now = np.where(over, now >> np.uint64(WORD), now)
        states[: len(own)] = (now // share << np.uint64(BITS)) + now % share + before[own, at]
    return np.concatenate(words[::-1]), states.astype(np.uint32)
