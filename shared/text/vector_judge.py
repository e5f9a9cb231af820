"""A second opinion on a text by what it means: a small network over its static vector, fitted by `tests/learning`.

It knows what no list of words has seen, and its errors are others than those of the words.
"""

import math
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from shared.text.static_encoder import load_static_encoder

Numbers = NDArray[np.float32]


class VectorJudge:
    """One hidden layer over the vector and the length of a text, one answer."""

    def __init__(self, into: Numbers, into_bias: Numbers, out: Numbers, out_bias: float) -> None:
        self._into, self._into_bias, self._out, self._out_bias = into, into_bias, out, out_bias

    def log_odds(self, text: str) -> float:
        """The logarithm of the odds that the text is of the kind that was asked for."""
        hidden = np.maximum(read_features(text) @ self._into + self._into_bias, 0.0)
        return float(hidden @ self._out) + self._out_bias


def read_features(text: str) -> Numbers:
    """What the network reads of a text: its static vector, brought to numbers around one, and how long it is."""
    vector = load_static_encoder().encode(text) * 4
    return np.append(vector, np.float32(math.log1p(len(text)) / 8))


@cache
def load_judge(name: str) -> VectorJudge:
    """The network of this name, read once a process."""
    path = resources.files("shared.text") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        into, into_bias, out = (read[part].astype(np.float32) for part in ("into", "into_bias", "out"))
        return VectorJudge(into, into_bias, out, float(read["out_bias"]))
