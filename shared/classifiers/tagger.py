"""Tags each unit of a text: a small network of convolutions over units, read from a file.

Each layer looks at a unit and some on either side of it, the later ones further apart, so that the last layer sees some
thirty units around each. What it makes of a unit is read by one head or more, each of which asks one question of it.
`tests/training/tagging.py` fits the weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import open_weights
from shared.classifiers.units import SHAPES, Units, count_repetitions

Numbers = NDArray[np.float32]
REACHES = (1, 2, 4, 8, 1)
"""How far apart the units are that each layer looks at."""
SIDE = 2
"""How many units each layer looks at on either side."""
LAYERS = tuple(f"layer_{place}" for place in range(len(REACHES)))
SLIP, WORTH, TYPE = HEADS = ("slip", "worth", "type")
"""The questions: which part of a slip a unit is; whether the sentence that it stands in is worth keeping; its type."""
VECTOR_SCALE = 4.0
"""What the vector of a unit is multiplied with, to have numbers of the order of one."""


@dataclass(frozen=True)
class Layer:
    """Weights into a layer (numbers of all units that it looks at x width), and its bias."""

    weights: Numbers
    bias: Numbers


@dataclass(frozen=True)
class Tagger:
    """The network: usual words, a row of numbers for each of them and one for all others, the layers, the heads.

    `narrow` reduces the vector of a unit to fewer numbers.
    """

    usual: dict[str, int]
    rows: Numbers
    narrow: Numbers
    layers: tuple[Layer, ...]
    heads: Mapping[str, Layer]

    def estimate(self, units: Units) -> dict[str, Numbers]:
        """By head the probability of each class for each unit; a row sums to one."""
        looked_at = read_inputs(units, self.usual)
        numbers = np.concatenate(
            [VECTOR_SCALE * units.vectors @ self.narrow, self.rows[looked_at.words], looked_at.signs], axis=1
        )
        for layer, reach in zip(self.layers, REACHES, strict=True):
            seen = np.concatenate([numbers, np.zeros((1, numbers.shape[1]), np.float32)])[find_seen(len(units), reach)]
            made = np.maximum(seen.reshape(len(units), -1) @ layer.weights + layer.bias, 0.0)
            numbers = made + numbers if numbers.shape == made.shape else made
        return {name: softmax(numbers @ head.weights + head.bias) for name, head in self.heads.items()}


@dataclass(frozen=True)
class Inputs:
    """The number of each unit's word, 0 for an unusual one, and its shape and repetitions as numbers."""

    words: NDArray[np.intp]
    signs: Numbers


def read_inputs(units: Units, usual: dict[str, int]) -> Inputs:
    """What the network reads of the units beside their vectors."""
    words = np.fromiter((usual.get(word, 0) for word in units.words), np.intp, len(units))
    shapes = np.zeros((len(units), len(SHAPES)), np.float32)
    shapes[np.arange(len(units)), units.shapes] = 1.0
    return Inputs(words, np.concatenate([shapes, count_repetitions(units)], axis=1))


@lru_cache(maxsize=512)
def find_seen(count: int, reach: int) -> NDArray[np.intp]:
    """The units that a layer looks at, for each of `count` units; `count` itself stands for none."""
    places = np.arange(count)[:, None] + reach * np.arange(-SIDE, SIDE + 1)[None, :]
    return np.where((places >= 0) & (places < count), places, count)


def softmax(odds: Numbers) -> Numbers:
    """The probabilities of each row of the last axis."""
    shares = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


@cache
def load_tagger(name: str) -> Tagger:
    """The network of this name, read once a process."""
    with open_weights(name) as read:
        return read_tagger(read)


def read_tagger(stored: Mapping[str, NDArray[Any]]) -> Tagger:
    """The network of a file: whole numbers, each column with its scale."""
    heads = [name for name in HEADS if name in stored]
    names = ("rows", "narrow", *LAYERS, *heads)
    parts = {name: stored[name] * stored[f"{name}_scale"].astype(np.float32) for name in names}
    made = {name: Layer(parts[name], stored[f"{name}_bias"].astype(np.float32)) for name in (*LAYERS, *heads)}
    usual = {word: place for place, word in enumerate(str(stored["usual"]).split("\n"), 1)}
    layers = tuple(made[name] for name in LAYERS)
    return Tagger(usual, parts["rows"], parts["narrow"], layers, {name: made[name] for name in heads})
