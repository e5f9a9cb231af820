"""Reads two texts of one person together, word by word: does the later end the earlier, repeat it, or add to it?

Each unit of a text sees the units of the other that are like it, by their static vectors; convolutions look at its
neighbours; then it sees the units of the other again, by what the convolutions made of them. What the network makes
of both texts amounts to the odds of each class. `tests/training/pair_fit.py` fits the weights.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.cache import of_texts
from shared.classifiers.judges import open_weights
from shared.classifiers.tagger import softmax
from shared.classifiers.units import NUMBER, SHAPES, WORDS, Units, split_units
from shared.language.patterns import to_pattern

Numbers = NDArray[np.float32]
Places = NDArray[np.intp]
NONE, ENDS, SAME, BOTH = CLASSES = range(4)
"""The later text has nothing to do with the earlier, ends it, says it again, or adds to it."""
MOST_CHARS, MOST_UNITS = 400, 64
"""So much of a text is read."""
SIDE = 2
"""How many units a layer looks at on either side."""
REACHES = {"near": 1, "far": 2, "met": 1}
"""How far apart the units are that each layer looks at: the first two before the texts meet again, the last after."""
OTHER_SIGNS = 6
UNLIKE, SHARP = -0.2, 8.0
"""The likeness of what is not compared, and how much more the likest units of the other text count than others."""
VECTOR_SCALE = np.float32(4.0)
BARRED = np.float32(-30.0)


@dataclass(frozen=True)
class TextInputs:
    """What the network reads of one text of each pair, padded to the longest: pairs x units x numbers.

    `inside` is 1.0 for units and 0.0 for padding; `vectors` are unit vectors; `words` numbers of usual words;
    `signs` the shape of each unit and how it stands to the other text; `likeness` how much of each unit of the other
    text it sees, a row summing to one.
    """

    inside: Numbers
    vectors: Numbers
    words: Places
    signs: Numbers
    likeness: Numbers


_ADDRESS = to_pattern(
    r"https?://[^\s，。；、（）()\u3400-\u9fff]+|[a-z0-9_.+-]+@[a-z0-9-]+\.[a-z0-9.]+|\b[a-z0-9_-]+(?:/[a-z0-9_-]+)+\.[a-z]+\b",
    re.I,
)
"""An address of the web, of mail or of a file: its parts are no words of the sentence."""
Pair = tuple[TextInputs, TextInputs]
"""The earlier texts of some pairs, and the later."""


def read_pairs(pairs: Sequence[tuple[Units, Units]], usual: Mapping[str, int]) -> Pair:
    """What the network reads of these pairs; a word that `usual` has not is number 0."""
    earlier = _pad([before for before, _ in pairs], usual)
    later = _pad([after for _, after in pairs], usual)
    alike = earlier.vectors @ later.vectors.transpose(0, 2, 1)
    compared = earlier.is_unit[:, :, None] & later.is_unit[:, None, :]
    same = compared & (earlier.names[:, :, None] == later.names[:, None, :])
    before = _see(earlier, later, alike, same, 0.0)
    return before, _see(later, earlier, alike.transpose(0, 2, 1), same.transpose(0, 2, 1), 1.0)


@dataclass(frozen=True)
class _Padded:
    is_unit: NDArray[np.bool_]
    vectors: Numbers
    words: Places
    names: Places
    """A number of each word, the same for the same word of a pair."""
    shapes: Places


def _pad(texts: Sequence[Units], usual: Mapping[str, int]) -> _Padded:
    longest = max(map(len, texts))
    size = (len(texts), longest)
    is_unit = np.zeros(size, np.bool_)
    vectors = np.zeros((*size, texts[0].vectors.shape[1]), np.float32)
    words, names, shapes = np.zeros(size, np.intp), np.zeros(size, np.intp), np.full(size, len(SHAPES) - 1, np.intp)
    for place, units in enumerate(texts):
        count = len(units)
        is_unit[place, :count] = True
        vectors[place, :count] = units.vectors
        words[place, :count] = [usual.get(word, 0) for word in units.words]
        names[place, :count] = [hash(word) for word in units.words]
        shapes[place, :count] = units.shapes
    return _Padded(is_unit, vectors, words, names, shapes)


def _see(own: _Padded, other: _Padded, alike: Numbers, same: NDArray[np.bool_], side: float) -> TextInputs:
    """One text of each pair as it sees the other; `alike` and `same` are pairs x own units x other units."""
    compared = own.is_unit[:, :, None] & other.is_unit[:, None, :]
    telling = compared & (own.shapes <= WORDS)[:, :, None] & (other.shapes <= WORDS)[:, None, :]
    replaced = telling & ~same & (own.shapes[:, :, None] == other.shapes[:, None, :])
    numbers = telling & (own.shapes == NUMBER)[:, :, None] & (other.shapes == NUMBER)[:, None, :]
    beside = np.zeros((len(same), same.shape[1] + 2, same.shape[2] + 2), np.bool_)
    beside[:, 1:-1, 1:-1] = same
    framed = beside[:, :-2, :-2].astype(np.float32) + beside[:, 2:, 2:]
    shapes = np.zeros((*own.shapes.shape, len(SHAPES)), np.float32)
    np.put_along_axis(shapes, own.shapes[:, :, None], 1.0, 2)
    signs = np.stack(
        [
            (same & telling).any(axis=2),
            np.where(telling, alike, UNLIKE).max(axis=2),
            np.where(replaced, alike, UNLIKE).max(axis=2),
            (numbers & ~same).any(axis=2) & ~(numbers & same).any(axis=2),
            np.where(replaced, framed, 0.0).max(axis=2),
            np.full(own.is_unit.shape, side),
        ],
        axis=2,
        dtype=np.float32,
    )
    odds = np.where(compared, SHARP * alike, BARRED)
    seen = np.exp(odds - odds.max(axis=2, keepdims=True))
    seen *= compared
    seen /= np.maximum(seen.sum(axis=2, keepdims=True), 1e-9)
    inside = own.is_unit.astype(np.float32)
    return TextInputs(inside, own.vectors, own.words, np.concatenate([shapes, signs], axis=2), seen)


def find_neighbours(numbers: Numbers, reach: int) -> Numbers:
    """For each unit its numbers and those of the units on either side, `reach` apart; zeros beyond the text."""
    pad = SIDE * reach
    padded = np.pad(numbers, ((0, 0), (pad, pad), (0, 0)))
    count = numbers.shape[1]
    return np.concatenate([padded[:, at : at + count] for at in range(0, 2 * pad + 1, reach)], axis=2)


@dataclass(frozen=True)
class PairReader:
    """The network: the numbers of usual words, and the weights and biases of its layers by name."""

    usual: Mapping[str, int]
    weights: Mapping[str, Numbers]

    def score(self, earlier: Sequence[str], later: str) -> list[float]:
        """The logarithm of the odds that the later text ends each of the earlier; those of none where one is empty."""
        after = _split(later)
        before = [_split(text) for text in earlier]
        pairs = [(units, after) for units in before if units and after]
        if not pairs:
            return [UNREAD] * len(earlier)
        shares = iter(self.estimate(read_pairs(pairs, self.usual))[:, ENDS].tolist())
        return [to_odds(next(shares)) if units else UNREAD for units in before]

    def estimate(self, pair: Pair) -> Numbers:
        """The probability of each class for each pair; a row sums to one."""
        own = self.weights
        before, after = self._read(pair)
        looks = (before @ own["look"]) @ (after @ own["look"]).transpose(0, 2, 1)
        looks = np.asarray(looks / own["look"].shape[1] ** 0.5, np.float32)
        pooled = [
            *self._meet(pair[0], before, pair[1], after, looks),
            *self._meet(pair[1], after, pair[0], before, looks.transpose(0, 2, 1)),
        ]
        hidden = np.maximum(np.concatenate(pooled, axis=1) @ own["hidden"] + own["hidden_bias"], 0.0)
        return softmax(hidden @ own["out"] + own["out_bias"])

    def _read(self, pair: Pair) -> tuple[Numbers, Numbers]:
        """What the convolutions make of the units of both texts."""
        scale = self.weights["narrow"] * VECTOR_SCALE
        narrow = [np.asarray(text.vectors @ scale, np.float32) for text in pair]
        texts: list[Numbers] = []
        for text, own, other in ((pair[0], narrow[0], narrow[1]), (pair[1], narrow[1], narrow[0])):
            near = self._convolve(open_units(text, own, other, self.weights["rows"]), "near", text)
            texts.append(near + self._convolve(near, "far", text))
        return texts[0], texts[1]

    def _meet(
        self, text: TextInputs, own: Numbers, other: TextInputs, seen: Numbers, looks: Numbers
    ) -> tuple[Numbers, Numbers]:
        """The largest and the mean of what is made of the units of a text that look at those of the other."""
        shares = softmax(np.where(other.inside[:, None, :] > 0, looks, BARRED))
        inside = text.inside[:, :, None]
        sums = meet(own, shares @ seen) @ self.weights["meet"] + self.weights["meet_bias"]
        met: Numbers = np.maximum(sums, 0.0) * inside
        met = met + self._convolve(met, "met", text)
        return find_largest(met, inside), find_mean(met, inside)

    def _convolve(self, numbers: Numbers, name: str, text: TextInputs) -> Numbers:
        """What the layer makes of each unit and its neighbours; zeros beyond the text."""
        sums = find_neighbours(numbers, REACHES[name]) @ self.weights[name] + self.weights[f"{name}_bias"]
        return np.asarray(np.maximum(sums, 0.0) * text.inside[:, :, None])


UNREAD = -4.0
"""The odds where nothing can be read."""


def to_odds(share: float) -> float:
    """The logarithm of the odds of a probability, bounded."""
    share = min(1 - 1e-4, max(1e-4, share))
    return float(np.log(share / (1 - share)))


def open_units(text: TextInputs, narrow: Numbers, other: Numbers, rows: Numbers) -> Numbers:
    """What the first layer reads of each unit: its vector, how far it is from what it sees, its word, its signs."""
    away = np.abs(narrow - text.likeness @ other)
    one = np.ones((*text.words.shape, 1), np.float32)
    return np.concatenate([narrow, away, rows[text.words], text.signs, one], axis=2) * text.inside[:, :, None]


def meet(own: Numbers, seen: Numbers) -> Numbers:
    """What each unit is, what it sees, and how the two differ and agree."""
    return np.concatenate([own, seen, own - seen, own * seen], axis=2)


def find_largest(numbers: Numbers, inside: Numbers) -> Numbers:
    """The largest of each number over the units of a text."""
    return np.where(inside > 0, numbers, BARRED).max(axis=1)


def find_mean(numbers: Numbers, inside: Numbers) -> Numbers:
    """The mean of each number over the units of a text."""
    return numbers.sum(axis=1) / np.maximum(inside.sum(axis=1), np.float32(1.0))


@of_texts(256)
def _split(text: str) -> Units | None:
    return read_units(text)


def read_units(text: str) -> Units | None:
    """The units that the text begins with but those of addresses, or None if it has none."""
    units = split_units(_ADDRESS.sub(" ", text)[:MOST_CHARS], MOST_CHARS)
    if units is None or len(units) <= MOST_UNITS:
        return units
    most = MOST_UNITS
    return Units(
        units.text,
        units.starts[:most],
        units.ends[:most],
        units.words[:most],
        units.shapes[:most],
        units.vectors[:most],
    )


@cache
def load_pair_reader(name: str) -> PairReader:
    """The network of this name, read once a process."""
    with open_weights(name) as read:
        return build_pair_reader(read)


def build_pair_reader(stored: Mapping[str, NDArray[Any]]) -> PairReader:
    """The network of a file: whole numbers, each column with its scale; biases as they are."""
    usual = {word: place for place, word in enumerate(str(stored["usual"]).split("\n"), 1)}
    weights: dict[str, Numbers] = {}
    for name in stored:
        if name == "usual" or name.endswith("_scale"):
            continue
        scale = stored[f"{name}_scale"].astype(np.float32) if f"{name}_scale" in stored else np.float32(1.0)
        weights[name] = stored[name].astype(np.float32) * scale
    return PairReader(usual, weights)
