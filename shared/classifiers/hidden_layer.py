"""A network of one hidden layer over the signs of something: weights are fitted by `tests/training`."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    path = resources.files("shared.classifiers") / "weights" / f"{name}.npz"
    with path.open("rb") as opened, np.load(opened) as read:
        into, into_bias, out = (read[part].astype(np.float32) for part in ("into", "into_bias", "out"))
        return HiddenLayer(into, into_bias, out, float(read["out_bias"]))
