"""The optimiser Adam."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import HiddenLayer


class Weights:
    """An array that Adam updates; only the rows of a batch."""

    def __init__(self, start: NDArray[Any]) -> None:
        self.now = start
        self._mean, self._square = np.zeros_like(start), np.zeros_like(start)
        self._times = 0

    def move(self, slope: NDArray[Any], rate: float, rows: NDArray[np.intp] | slice = slice(None)) -> None:
        """One step against the gradient of these rows."""
        self._times += 1
        self._mean[rows] = mean = 0.9 * self._mean[rows] + 0.1 * slope
        self._square[rows] = square = 0.999 * self._square[rows] + 0.001 * slope * slope
        mean = mean / (1 - 0.9**self._times)
        square = square / (1 - 0.999**self._times)
        self.now[rows] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(self.now.dtype)


def write_hidden_layer(layer: HiddenLayer, path: Path) -> int:
    """The bytes of the file: the weights into the layer as whole numbers, each column with its scale."""
    scale = (np.abs(layer.into).max(axis=0) / 127 + 1e-6).astype(np.float32)
    parts = {"into_scale": scale, "into_bias": layer.into_bias, "out": layer.out}
    kept = {name: part.astype(np.float16) for name, part in parts.items()}
    into = np.rint(layer.into / kept["into_scale"].astype(np.float32)).clip(-127, 127).astype(np.int8)
    np.savez_compressed(path, out_bias=np.float32(layer.out_bias), into=into, **kept)
    return path.stat().st_size
