"""Softmax sums over a text: which of several classes it is of, by a few signs and its static vector.

The vector knows words that no label had, the signs know who speaks and what the other weights say. `tests/training`
fits the weights.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import VECTOR_SCALE
from shared.classifiers.static_encoder import load_static_encoder

Numbers = NDArray[np.float32]


class ClassSum:
    """What each sign and each number of the vector counts for each class, and `bias` for none of them."""

    def __init__(self, classes: Sequence[str], signs: Numbers, vector: Numbers, bias: Numbers) -> None:
        self.classes = tuple(classes)
        self._signs, self._vector, self._bias = signs, vector * VECTOR_SCALE, bias

    @property
    def shapes(self) -> tuple[int, int, int]:
        """How many signs, numbers of a vector and classes there are."""
        return len(self._signs), len(self._vector), len(self.classes)

    def find_likeliest(self, text: str, signs: Sequence[float]) -> str:
        """The class that the text is likeliest to be of."""
        odds = np.asarray(signs, np.float32) @ self._signs + load_static_encoder().encode(text) @ self._vector
        return self.classes[int(np.argmax(odds + self._bias))]


@cache
def load_class_sum(name: str) -> ClassSum:
    """The weights of this name, read once a process."""
    path = resources.files("shared.classifiers") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        signs, vector, bias = (read[part].astype(np.float32) for part in ("signs", "vector", "bias"))
        return ClassSum([str(each) for each in read["classes"]], signs, vector, bias)
