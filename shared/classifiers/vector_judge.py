"""A second opinion on a text by what it means: a small network over its static vector, fitted by `tests/training`.

It knows what no list of words has seen, and its errors are others than those of the words.
"""

import math

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.hidden_layer import load_hidden_layer
from shared.classifiers.static_encoder import load_static_encoder

Numbers = NDArray[np.float32]


def judge_meaning(name: str, text: str) -> float:
    """The logarithm of the odds that the text is of the kind that the network of this name was asked for."""
    return float(load_hidden_layer(name).score(read_features(text)))


def read_features(text: str) -> Numbers:
    """What the network reads of a text: its static vector, brought to numbers around one, and how long it is."""
    vector = load_static_encoder().encode(text) * 4
    return np.append(vector, np.float32(math.log1p(len(text)) / 8))
