"""Boosted trees: a judge of signs that say something only together. Pure.

Each tree asks the same few questions of every row, one a level, and adds what stands in the leaf that the answers lead
to. Fitted by `tests/training/trees.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray


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
        return [1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds)))) for odds in self.score(rows).tolist()]


@cache
def load_trees(name: str) -> BoostedTrees:
    """The trees of this name, read once a process."""
    path = resources.files("shared.classifiers") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        places, bounds, leaves = read["places"], read["bounds"].astype(np.float32), read["leaves"].astype(np.float32)
        return BoostedTrees(places, bounds, leaves, float(read["bias"]))
