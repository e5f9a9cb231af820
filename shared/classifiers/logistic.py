"""Logistic sums: weights of named signs, read from a file that a fit in `tests/training` wrote."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

MOST_CERTAIN = 0.98
"""What is surer counts no more."""


@dataclass(frozen=True)
class LogisticSum:
    """What each sign counts for, and for no sign at all."""

    signs: NDArray[np.float32]
    bias: float

    def estimate(self, signs: Sequence[float]) -> float:
        """The probability that these signs amount to."""
        odds = float(np.asarray(signs, np.float32) @ self.signs) + self.bias
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def load_sum(name: str) -> LogisticSum:
    """The weights of this name, read once a process."""
    read = json.loads((resources.files("shared.classifiers") / "weights" / f"{name}.json").read_text("utf-8"))
    return LogisticSum(np.asarray(read["signs"], np.float32), float(read["bias"]))


def to_log_odds(share: float) -> float:
    """The logarithm of the odds of a probability, bounded on both sides."""
    share = min(MOST_CERTAIN, max(1.0 - MOST_CERTAIN, share))
    return math.log(share / (1.0 - share))
