"""Grams known by their hashes: those that have weights are found, others hardly ever."""

import numpy as np

from shared.classifiers.network import REMEMBERED, Vocabulary, hash_gram
from tests.training import shrink

ROOM = 128
GRAMS = [f"{one}_{other}" for one in range(80) for other in "咖啡火车tea"]


def test_each_gram_has_the_row_of_its_hash_and_strangers_hardly_any() -> None:
    known, found = shrink.order_by_hash(GRAMS, {}, ROOM)
    assert [found[gram] for gram in known] == [*range(1, len(known) + 1)]
    assert 0.98 * len(GRAMS) < len(known) <= len(GRAMS)
    taken = sum(found[f"stranger {number}"] is not None for number in range(20_000))
    assert 0.7 / ROOM < taken / 20_000 < 1.3 / ROOM


def test_of_grams_with_one_hash_the_more_usual_is_kept() -> None:
    one, other = find_pair()
    for seen, kept in (({one: 3, other: 2}, one), ({one: 2, other: 3}, other)):
        assert shrink.order_by_hash([one, other], seen, ROOM)[0] == [kept]


def find_pair() -> tuple[str, str]:
    """Two grams that have the same hash where there are two."""
    first = "0_t"
    number = hash_gram(first, ROOM * 2)
    others = (f"gram {number}" for number in range(100_000))
    return first, next(each for each in others if hash_gram(each, ROOM * 2) == number)


def test_what_is_remembered_has_an_end() -> None:
    found = Vocabulary(np.array([3, 900], np.uint32), 1000)
    for number in range(REMEMBERED + 10):
        found[f"gram {number}"]
    assert len(found) <= REMEMBERED
