"""Sums, small networks and boosted trees that judge a text by signs, by its static vector and by its words; from files.

A network has one hidden layer over them. Each tree asks the same few questions of every row of
signs, one a level, and adds the value of the leaf that the answers lead to: some signs say something only together. The
vector knows words that no label had, the words know what the vector blurs, the signs know what neither sees: who
speaks, what is asked. Their errors differ, so one is the second opinion on the other. `tests/training` fits them.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.static_encoder import MAX_CHARS, encode
from shared.language.patterns import to_pattern

MOST_CERTAIN = 0.98
"""What is surer counts no more."""


def to_log_odds(share: float) -> float:
    """The logarithm of the odds of a probability, bounded on both sides."""
    share = min(MOST_CERTAIN, max(1.0 - MOST_CERTAIN, share))
    return math.log(share / (1.0 - share))


def to_share(odds: float) -> float:
    """The probability of such a logarithm."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class HiddenLayer:
    """Weights into the hidden layer (signs x units), its bias, the weights out of it, and their bias."""

    into: Numbers
    into_bias: Numbers
    out: Numbers
    out_bias: float

    def score(self, signs: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """The logarithm of the odds for each row of signs."""
        hidden = np.maximum(signs @ self.into + self.into_bias, 0.0)
        return np.asarray(hidden @ self.out + self.out_bias, np.float64)


@cache
def load_hidden_layer(name: str) -> HiddenLayer:
    """The network of this name, read once a process."""
    with open_weights(name) as read:
        names = ("into", "into_scale", "into_bias", "out")
        into, scale, into_bias, out = (read[part].astype(np.float32) for part in names)
        return HiddenLayer(into * scale, into_bias, out, float(read["out_bias"]))


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
    def parts(self) -> dict[str, Numbers]:
        """The weights by name, as they were given."""
        vector, words = self._vector / VECTOR_SCALE, self._words / WORD_SCALE
        return {"signs": self._signs, "vector": vector, "words": words, "bias": np.asarray(self._bias, np.float32)}

    @property
    def shapes(self) -> tuple[int, int, int]:
        """How many signs, numbers of a vector and slots of words have a weight."""
        return len(self._signs), len(self._vector), len(self._words)

    def estimate(self, text: str, signs: Sequence[float]) -> float:
        """The probability that the text is of the kind that was asked for."""
        return to_share(self.score(text, signs))

    def score(self, text: str, signs: Sequence[float] = ()) -> float:
        """The logarithm of the odds that it is."""
        odds = self._bias + float(np.asarray(signs, np.float32) @ self._signs)
        odds += float(encode(text) @ self._vector)
        if slots := find_slots(text):
            odds += float(self._words[slots].sum()) / math.sqrt(len(slots))
        return odds


def find_slots(text: str) -> list[int]:
    """The slots of the words and pairs of words that a text begins with, of Chinese of its characters, each once."""
    words = _WORD.findall(text[:MAX_CHARS].lower().replace("’", "'"))
    told = {*words, *map("_".join, pairwise(words))}
    return sorted({crc32(each.encode()) % SLOTS for each in told})


@cache
def load_text_sum(name: str) -> TextSum:
    """The weights of this name, read once a process."""
    with open_weights(name) as read:
        signs, vector, words = (read[part].astype(np.float32) for part in ("signs", "vector", "words"))
        return TextSum(signs, vector, words, float(read["bias"]))


def judge_meaning(name: str, text: str) -> float:
    """The logarithm of the odds that the text is of the kind that the network of this name was asked for."""
    return float(load_hidden_layer(name).score(read_features(text)))


def read_features(text: str) -> Numbers:
    """What the network reads of a text: its static vector, brought to numbers around one, and how long it is."""
    vector = encode(text) * 4
    return np.append(vector, np.float32(math.log1p(len(text)) / 8))


@dataclass(frozen=True)
class BoostedTrees:
    """Which sign each level of each tree asks for and from where on, what its leaves add, and what all begin with."""

    places: NDArray[np.int16]
    bounds: NDArray[np.float32]
    leaves: NDArray[np.float32]
    bias: float

    def score(self, rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """The logarithm of the odds for each row of signs."""
        signs = np.asarray(rows, np.float32)
        depth = self.places.shape[1]
        answers = signs[:, self.places] > self.bounds
        leaf: NDArray[np.int64] = np.asarray(answers @ (1 << np.arange(depth)), np.int64)
        return self.bias + np.take_along_axis(self.leaves[None], leaf[:, :, None], 2).sum(axis=(1, 2), dtype=np.float64)

    def estimate(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """The probability that the signs of each row amount to."""
        if not rows:
            return []
        return [to_share(odds) for odds in self.score(rows).tolist()]


@cache
def load_trees(name: str) -> BoostedTrees:
    """The trees of this name, read once a process."""
    with open_weights(name) as read:
        return _read_trees(read)


@contextmanager
def open_weights(name: str) -> Generator[Mapping[str, Numbers]]:
    """The arrays of the weights of this name."""
    path = resources.files("shared.classifiers") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        yield read


def _read_trees(read: Mapping[str, Numbers]) -> BoostedTrees:
    bounds, leaves = read["bounds"].astype(np.float32), read["leaves"].astype(np.float32)
    return BoostedTrees(np.asarray(read["places"], np.int16), bounds, leaves, float(read["bias"]))


class ClassSum:
    """What each sign and each number of the vector counts for each class, and `bias` for none of them."""

    def __init__(self, classes: Sequence[str], signs: Numbers, vector: Numbers, bias: Numbers) -> None:
        self.classes = tuple(classes)
        self._signs, self._vector, self._bias = signs, vector * VECTOR_SCALE, bias

    def find_likeliest(self, text: str, signs: Sequence[float]) -> str:
        """The class that the text is likeliest to be of."""
        odds = np.asarray(signs, np.float32) @ self._signs + encode(text) @ self._vector
        return self.classes[int(np.argmax(odds + self._bias))]


@cache
def load_class_sum(name: str) -> ClassSum:
    """The weights of this name, read once a process."""
    with open_weights(name) as read:
        signs, vector, bias = (read[part].astype(np.float32) for part in ("signs", "vector", "bias"))
        return ClassSum([str(each) for each in read["classes"]], signs, vector, bias)
