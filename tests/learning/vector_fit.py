"""The fit of `shared.text.vector_judge`: logistic loss, Adam, dropout; deterministic."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.text.vector_judge import read_features

HIDDEN = 192
EPOCHS = 12
BATCH = 512
RATE = 2e-3
DROPPED = 0.3
DECAY = 1e-5
Numbers = NDArray[np.float32]


def fit(texts: Sequence[str], labels: Sequence[bool]) -> tuple[Numbers, Numbers, Numbers, float]:
    """The weights into the hidden layer, its bias, the weights out of it and theirs, which tell the labels apart."""
    rows = np.stack([read_features(text) for text in texts])
    wanted = np.asarray(labels, np.float32)
    random = np.random.default_rng(0)
    weights = [
        random.normal(0, 0.08, (rows.shape[1], HIDDEN)).astype(np.float32),
        np.zeros(HIDDEN, np.float32),
        random.normal(0, 0.1, HIDDEN).astype(np.float32),
        np.zeros(1, np.float32),
    ]
    mean, square = ([np.zeros_like(each) for each in weights] for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(wanted))
        for start in range(0, len(order), BATCH):
            step += 1
            batch = order[start : start + BATCH]
            kept = ((random.random((len(batch), HIDDEN)) > DROPPED) / (1 - DROPPED)).astype(np.float32)
            for n, slope in enumerate(_slopes(weights, rows[batch], wanted[batch], kept)):
                mean[n] = 0.9 * mean[n] + 0.1 * slope
                square[n] = 0.999 * square[n] + 0.001 * slope * slope
                moved = mean[n] / (1 - 0.9**step) / (np.sqrt(square[n] / (1 - 0.999**step)) + 1e-8)
                weights[n] -= (rate * moved).astype(np.float32)
    return weights[0], weights[1], weights[2], float(weights[3][0])


def _slopes(weights: Sequence[Numbers], rows: Numbers, wanted: Numbers, kept: Numbers) -> list[Numbers]:
    into, into_bias, out, out_bias = weights
    inner = rows @ into + into_bias
    hidden = np.maximum(inner, 0) * kept
    error = (1 / (1 + np.exp(-(hidden @ out + out_bias))) - wanted) / len(wanted)
    back = np.outer(error, out) * kept * (inner > 0)
    slopes = [rows.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])]
    return [(slope + DECAY * each).astype(np.float32) for slope, each in zip(slopes, weights, strict=True)]


def write(fitted: tuple[Numbers, Numbers, Numbers, float], path: Path) -> int:
    """The bytes of the file."""
    into, into_bias, out, out_bias = fitted
    half = {"into": into, "into_bias": into_bias, "out": out}
    kept = {name: part.astype(np.float16) for name, part in half.items()}
    np.savez_compressed(path, out_bias=np.float32(out_bias), **kept)
    return path.stat().st_size
