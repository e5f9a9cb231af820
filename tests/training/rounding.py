"""Rounds what grams add together: what one is wrong by, the grams of the same texts make good; in few bits.

Each gram in turn takes those whole numbers that cost least: in what the texts that hold it are then wrong by, with all
their other grams as they are rounded now, and in bits. Grams lie within each other ("喜欢" in "我喜欢"), so that many
need hardly say anything themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.network import BLOCKS, mix
from shared.classifiers.packed_numbers import MIDDLE
from tests.training import pack_numbers

MOST = 127
GRAM_BITS = 13
"""So many it takes to say which gram is written, and its step."""
Numbers = NDArray[np.float32]
Text = tuple[Sequence[int], bool]
"""The rows of a text, and whether its class is asked for."""
Places = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The texts that grams move, gram by gram, and where those of each gram begin."""


@dataclass(frozen=True)
class Price:
    """How much error a bit must save, in squares of the step of a gram of one text.

    The share `alone` of an error counts as if nothing made it good: other texts hold other grams beside this one.
    """

    bit: float
    alone: float = 0.5
    rounds: int = 2


@dataclass(frozen=True)
class Rows:
    """What each gram but the first adds, block by block, and its step: `step`, halved so many times (below 0: doubled).

    `often` is how many texts held each of these grams.
    """

    numbers: Numbers
    halvings: NDArray[np.intp]
    step: float
    often: NDArray[Any]

    @property
    def parts(self) -> NDArray[np.intp]:
        """The halvings, counted from the widest step."""
        return self.halvings - self.halvings.min()

    @property
    def steps(self) -> Numbers:
        """The step of each gram, a row each."""
        return (self.step * np.exp2(-self.halvings.astype(float))[:, None]).astype(np.float32)

    def round_alone(self) -> NDArray[np.int8]:
        """The nearest whole steps."""
        return np.clip(np.round(self.numbers / self.steps), -MOST, MOST).astype(np.int8)


@dataclass(frozen=True)
class Texts:
    """The weight of a gram in each text, and for each block which texts whose class is asked for grams move."""

    weights: Numbers
    places: tuple[Places, ...]

    @classmethod
    def of(cls, messages: Sequence[Sequence[Text]], grams: int) -> "Texts":
        """Of these messages; there are so many grams."""
        texts = [text for message in messages for text in message]
        asked = np.array([text[1] for text in texts])
        counts = np.array([len(rows) for rows, _ in texts])
        behind = np.array([place > 0 for message in messages for place in range(len(message))])
        roots = mix(np.zeros((len(texts), BLOCKS)), counts, behind.astype(np.float32))[1][:, 0]
        flat = np.concatenate([np.asarray(rows, np.intp) for rows, _ in texts])
        own = np.repeat(np.arange(len(texts)), counts)
        follows, leads = behind, np.append(behind[1:], False)
        moved = ((own, np.ones(len(own), bool)), (own + 1, leads[own]), (own - 1, follows[own]))
        places: list[Places] = []
        for texts_moved, there in moved:
            there[there] = asked[texts_moved[there]]
            order = np.argsort(flat[there], kind="stable")
            begins = np.searchsorted(flat[there][order], np.arange(grams + 1))
            places.append((texts_moved[there][order], begins))
        return cls((1.0 / roots).astype(np.float32), tuple(places))


def round_together(
    rows: Rows, turns: Sequence[NDArray[Any]], messages: Sequence[Sequence[Text]], price: Price
) -> NDArray[np.int8]:
    """Whole steps for each gram; `turns` turns what is seen of a text into the directions of each block."""
    grams = _Grams(rows, turns, Texts.of(messages, len(rows.numbers) + 1), price)
    order = np.argsort(-rows.often, kind="stable").tolist()
    for _ in range(price.rounds):
        prices = grams.count_prices()
        for row in order:
            grams.round_anew(row, prices[:, :, rows.parts[row]])
    return grams.whole


class _Grams:
    """All grams as they are rounded now, in `whole`, and by how much each text is wrong then."""

    def __init__(self, rows: Rows, turns: Sequence[NDArray[Any]], texts: Texts, price: Price) -> None:
        self.whole = rows.round_alone()
        self._aims, self._often, self._parts = rows.numbers, rows.often, rows.parts
        self._steps, self._step, self._price = rows.steps[:, 0], rows.step, price
        self._turns = [turn.astype(np.float32) for turn in turns]
        self._weights, self._places = texts.weights, texts.places
        self._usual = float((texts.weights**2).mean())
        self._wrong = np.zeros((len(texts.weights), len(turns[0])), np.float32)
        errors = np.split(rows.numbers - self.whole * rows.steps, BLOCKS, axis=1)
        for (held, begins), turn, error in zip(self._places, self._turns, errors, strict=True):
            for row, added in enumerate(error @ turn.T):
                places = held[begins[row + 1] : begins[row + 2]]
                self._wrong[places] += self._weights[places, None] * added  # a text holds a gram once

    def count_prices(self) -> Numbers:
        """What each number costs, by block, column, halvings and number: the rarer it is now, the more."""
        numbers = np.ascontiguousarray(self.whole.T)
        kinds = pack_numbers.sort_kinds(numbers, self._parts)
        bits = pack_numbers.count_bits(numbers, kinds[:, self._parts])
        return (bits[kinds] * np.float32(self._price.bit)).reshape(BLOCKS, -1, *bits[kinds].shape[1:])

    def round_anew(self, row: int, prices: Numbers) -> None:
        """Rounds what this gram adds; one that had better be nought everywhere is not written at all."""
        choices = [self._choose(row, block, prices[block]) for block in range(BLOCKS)]
        spared = self._price.bit * GRAM_BITS - sum(saved for _, saved in choices)
        for block, (numbers, _) in enumerate(choices):
            self._write(row, block, numbers if spared < 0 else np.zeros_like(numbers))

    def _choose(self, row: int, block: int, prices: Numbers) -> tuple[NDArray[np.intp], float]:
        """The numbers that cost least, and how much less than nought."""
        places, own = self._find_texts(row, block)
        columns, step = self._find_columns(block), self._steps[row]
        alone = self._price.alone * (self._often[row] + 1) * self._usual
        together = (1 - self._price.alone) * float(own @ own)
        aims = alone * self._aims[row, columns] + together * self.whole[row, columns] * step
        aims += (1 - self._price.alone) * (own @ self._wrong[places] @ self._turns[block])
        worth = float((alone + together) / self._usual * (step / self._step) ** 2)
        return _choose_cheapest(aims / ((alone + together) * step), worth, prices)

    def _write(self, row: int, block: int, numbers: NDArray[np.intp]) -> None:
        columns = self._find_columns(block)
        more = numbers - self.whole[row, columns]
        if np.any(more):
            places, own = self._find_texts(row, block)
            self._wrong[places] -= own[:, None] * (self._turns[block] @ (more * self._steps[row]).astype(np.float32))
            self.whole[row, columns] = numbers

    def _find_columns(self, block: int) -> slice:
        width = len(self._turns[block])
        return slice(block * width, (block + 1) * width)

    def _find_texts(self, row: int, block: int) -> tuple[NDArray[np.intp], Numbers]:
        """The texts that this block of the gram moves, and its weight in each."""
        held, begins = self._places[block]
        places = held[begins[row + 1] : begins[row + 2]]
        return places, self._weights[places]


def _choose_cheapest(aims: NDArray[Any], worth: float, prices: Numbers) -> tuple[NDArray[np.intp], float]:
    """Of each aim nought, or the whole number on either side of it; and how much less that costs than nought."""
    each = np.arange(len(aims))
    inner = np.clip(np.trunc(aims), -MOST, MOST).astype(np.intp)
    outer = np.clip(inner + np.where(aims < 0, -1, 1), -MOST, MOST)
    tried = np.stack([np.zeros_like(inner), inner, outer])
    costs = (aims - tried) ** 2 * worth + prices[each, tried + MIDDLE]
    best = costs.argmin(axis=0)
    return tried[best, each], float((costs[0] - costs[best, each]).sum())
