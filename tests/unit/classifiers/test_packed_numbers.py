"""Numbers packed and read again: the same, in hardly more bits than they tell."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.classifiers.packed_numbers import unpack_numbers
from tests.training import pack_numbers


def pack_and_unpack(numbers: NDArray[np.int8], kinds: NDArray[np.uint8]) -> tuple[NDArray[np.int8], int]:
    """The numbers as they are read again, and the bytes that they took."""
    frequencies = pack_numbers.count_frequencies(numbers, kinds)
    words, states = pack_numbers.pack_numbers(numbers, kinds, frequencies)
    return unpack_numbers(words, states, frequencies, kinds), words.nbytes + states.nbytes


@pytest.mark.parametrize("count", [1, 7, 8192, 100_001])
def test_numbers_of_several_kinds_are_read_as_they_were(count: int) -> None:
    random = np.random.default_rng(count)
    kinds = random.integers(0, 3, count).astype(np.uint8)
    numbers = np.clip(np.round(random.normal(0, [0.2, 3.0, 40.0], (count, 3))), -127, 127).astype(np.int8)
    own = numbers[np.arange(count), kinds]
    read, _ = pack_and_unpack(own, kinds)
    assert np.array_equal(read, own)


def test_they_take_hardly_more_than_they_tell() -> None:
    numbers = np.random.default_rng(3).choice([0, 1, -1, 5], 200_000, p=[0.9, 0.05, 0.04, 0.01]).astype(np.int8)
    shares = np.unique(numbers, return_counts=True)[1] / len(numbers)
    tells = -(shares * np.log2(shares)).sum() * len(numbers) / 8
    _, taken = pack_and_unpack(numbers, np.zeros(len(numbers), np.uint8))
    assert tells < taken < 1.01 * tells


def test_a_number_that_is_met_once_in_very_many_is_still_read() -> None:
    numbers = np.zeros(300_000, np.int8)
    numbers[123_456] = -127
    read, taken = pack_and_unpack(numbers, np.zeros(len(numbers), np.uint8))
    assert np.array_equal(read, numbers)
    assert taken < 300


def test_rows_of_like_size_are_of_one_kind_and_others_of_another() -> None:
    numbers = np.array([[0, 0, 9, 9], [0, 0, 9, 9], [0, 0, 0, 1]], np.int8)
    kinds = pack_numbers.sort_kinds(numbers, np.array([0, 0, 1, 1]))
    assert kinds[0, 1] == kinds[1, 1] > kinds[2, 1] > kinds[2, 0] == kinds[0, 0]
