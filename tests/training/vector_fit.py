"""The fit of `shared.classifiers.judges`: logistic loss, Adam, dropout; deterministic."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import HiddenLayer, read_features
from tests.training.adam import Weights

HIDDEN = 192
EPOCHS = 12
BATCH = 512
RATE = 2e-3
DROPPED = 0.3
DECAY = 1e-5
Numbers = NDArray[np.float32]


def fit(texts: Sequence[str], labels: Sequence[bool]) -> HiddenLayer:
    """The network that separates the labels."""
    rows = np.stack([read_features(text) for text in texts])
    wanted = np.asarray(labels, np.float32)
    random = np.random.default_rng(0)
    weights = [
        Weights(random.normal(0, 0.08, (rows.shape[1], HIDDEN)).astype(np.float32)),
        Weights(np.zeros(HIDDEN, np.float32)),
        Weights(random.normal(0, 0.1, HIDDEN).astype(np.float32)),
        Weights(np.zeros(1, np.float32)),
    ]
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(wanted))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            kept = ((random.random((len(batch), HIDDEN)) > DROPPED) / (1 - DROPPED)).astype(np.float32)
            slopes = _slopes([each.now for each in weights], rows[batch], wanted[batch], kept)
            for each, slope in zip(weights, slopes, strict=True):
                each.move(slope, rate)
    into, into_bias, out, out_bias = (each.now for each in weights)
    return HiddenLayer(into, into_bias, out, float(out_bias[0]))


def _slopes(weights: Sequence[Numbers], rows: Numbers, wanted: Numbers, kept: Numbers) -> list[Numbers]:
    into, into_bias, out, out_bias = weights
    inner = rows @ into + into_bias
    hidden = np.maximum(inner, 0) * kept
    error = (1 / (1 + np.exp(-(hidden @ out + out_bias))) - wanted) / len(wanted)
    back = np.outer(error, out) * kept * (inner > 0)
    slopes = [rows.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])]
    return [(slope + DECAY * each).astype(np.float32) for slope, each in zip(slopes, weights, strict=True)]
