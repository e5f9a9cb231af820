"""Grams that are rounded together: in fewer bits than alone, and their texts hardly further off."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.classifiers.network import BLOCKS
from tests.training.rounding import Price, Rows, Text, Texts, round_together

GRAMS, WIDTH = 60, 4
TURNS = [np.eye(WIDTH)[::-1].copy() for _ in range(BLOCKS)]
"""Each block tells the directions of the texts in the other order."""


@pytest.fixture(name="messages")
def messages_of_two_texts() -> list[list[Text]]:
    random = np.random.default_rng(5)
    texts = [[0, *np.sort(random.permutation(GRAMS)[:12] + 1).tolist()] for _ in range(600)]
    return [[(texts[place], True), (texts[place + 1], True)] for place in range(0, len(texts), 2)]


@pytest.fixture(name="rows")
def rows_of_grams(messages: list[list[Text]]) -> Rows:
    random = np.random.default_rng(6)
    often = np.bincount([row for message in messages for text, _ in message for row in text], minlength=GRAMS + 1)
    numbers = random.normal(0, 0.4, (GRAMS, BLOCKS * WIDTH)).astype(np.float32)
    return Rows(numbers, np.full(GRAMS, 4), 8.0, often[1:])


def count_wrong(rows: Rows, whole: NDArray[np.int8], messages: list[list[Text]]) -> float:
    """How far the texts are off in the mean, reckoned one by one."""
    errors = np.vstack([np.zeros(rows.numbers.shape[1]), rows.numbers - whole * rows.steps])
    blocks = np.split(errors, BLOCKS, axis=1)
    wrong = list[float]()
    for (first, _), (second, _) in messages:
        root = np.sqrt(len(first) + len(second))
        for own, other, block in ((first, second, 2), (second, first, 1)):
            off = blocks[0][own].sum(axis=0) + blocks[block][other].sum(axis=0)
            wrong.append(float(((off / root) ** 2).sum()))
    return float(np.mean(wrong))


def test_what_is_rounded_together_is_less_wrong_in_as_many_bits(rows: Rows, messages: list[list[Text]]) -> None:
    together = round_together(rows, TURNS, messages, Price(0.0, alone=0.1))
    assert count_wrong(rows, together, messages) < 0.8 * count_wrong(rows, rows.round_alone(), messages)


def test_the_dearer_a_bit_the_more_is_nought(rows: Rows, messages: list[list[Text]]) -> None:
    noughts = [(round_together(rows, TURNS, messages, Price(bit)) == 0).mean() for bit in (0.0, 0.02, 0.1, 1e6)]
    assert noughts == sorted(noughts)
    assert noughts[0] < noughts[1] < noughts[-1] == 1.0


def test_a_gram_is_written_where_it_is_worth_its_bits(rows: Rows, messages: list[list[Text]]) -> None:
    rows.numbers[:20] *= 0.2
    written = np.any(round_together(rows, TURNS, messages, Price(0.03)) != 0, axis=1)
    assert not written[:20].any()
    assert written[20:].mean() > 0.5


def test_only_texts_that_are_asked_count(messages: list[list[Text]]) -> None:
    texts = Texts.of([[(message[0][0], False), message[1]] for message in messages], GRAMS + 1)
    own, after, before = (set(moved.tolist()) for moved, _ in texts.places)
    assert own == after == set(range(1, 600, 2))
    assert before == set()


def test_a_text_counts_by_the_root_of_its_grams_and_those_beside_it() -> None:
    texts = Texts.of([[([0, 1], True), ([0, 2, 3], True)], [([0, 1], True)]], 4)
    assert texts.weights == pytest.approx(np.array([5, 5, 2]) ** -0.5)
    moved, begins = texts.places[0]
    assert moved[begins[1] : begins[2]].tolist() == [0, 2]
    moved, begins = texts.places[1]
    assert moved[begins[1] : begins[2]].tolist() == [1]
