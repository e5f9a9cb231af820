"""Fits `shared.classifiers.judges`: logistic loss with a penalty, all texts at every step, Adam; deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import SLOTS, VECTOR_SCALE, WORD_SCALE, find_slots
from shared.classifiers.static_encoder import load_static_encoder
from tests.training.adam import Weights

Numbers = NDArray[np.float64]
PENALTY = 4.0
"""Half of this times the squared weights is added to the loss of all texts together."""
STEPS, RATE = 500, 0.03
FRACTION = 4
"""Bits of a stored weight behind its first: the third decimal place says nothing that the labels know."""


@dataclass(frozen=True)
class Texts:
    """Texts as the fit reads them: scaled signs, vectors, and the slots of their words."""

    dense: Numbers
    flat: NDArray[np.intp]
    owner: NDArray[np.intp]
    share: Numbers
    """The weight of each slot of a text, such that all of them have the length `WORD_SCALE`."""
    mean: Numbers
    scale: Numbers

    @property
    def count(self) -> int:
        """The number of texts."""
        return len(self.dense)


@dataclass(frozen=True)
class Fitted:
    """Weights of the signs, of the vector, of the slots of words, and the bias."""

    signs: Numbers
    vector: Numbers
    words: Numbers
    bias: float


def read_texts(texts: Sequence[str], signs: Sequence[Sequence[float]]) -> Texts:
    """The weighted sum for each text."""
    counted = np.asarray(signs, np.float64)
    mean, scale = counted.mean(axis=0), counted.std(axis=0) + 1e-6
    encode = load_static_encoder().encode
    vectors = np.stack([encode(text) for text in texts]) * VECTOR_SCALE
    slots = [find_slots(text) for text in texts]
    sizes = np.asarray([len(each) for each in slots])
    owner = np.repeat(np.arange(len(texts)), sizes)
    flat = np.asarray([slot for each in slots for slot in each], np.intp)
    dense = np.column_stack([(counted - mean) / scale, vectors, np.ones(len(texts))])
    return Texts(dense, flat, owner, WORD_SCALE / np.sqrt(sizes[owner]), mean, scale)


def fit(texts: Texts, wanted: Sequence[bool], weight: Sequence[float], chosen: NDArray[np.bool_]) -> Fitted:
    """The weights that separate the chosen texts."""
    target, weights = np.asarray(wanted, np.float64), np.asarray(weight, np.float64) * chosen
    total, width = weights.sum(), texts.dense.shape[1]
    moved = Weights(np.zeros(width + SLOTS))
    now = moved.now
    for step in range(1, STEPS + 1):
        error = weights * (_estimate(texts, now) - target)
        words = np.bincount(texts.flat, texts.share * error[texts.owner], minlength=SLOTS)
        slope = np.concatenate([texts.dense.T @ error, words]) + PENALTY * now
        slope[width - 1] -= PENALTY * now[width - 1]
        moved.move(slope / total, RATE * min(1.0, 2 * (1 - step / STEPS) + 0.02))
    of_signs = len(texts.mean)
    signs = now[:of_signs] / texts.scale
    return Fitted(signs, now[of_signs : width - 1], now[width:], float(now[width - 1] - signs @ texts.mean))


def _estimate(texts: Texts, now: Numbers) -> Numbers:
    width = texts.dense.shape[1]
    odds = texts.dense @ now[:width]
    odds += np.bincount(texts.owner, texts.share * now[width:][texts.flat], minlength=texts.count)
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def estimate(texts: Texts, fitted: Fitted) -> Numbers:
    """The likelihood that each text is of the kind."""
    signs = fitted.signs * texts.scale
    bias = fitted.bias + fitted.signs @ texts.mean
    return _estimate(texts, np.concatenate([signs, fitted.vector, [bias], fitted.words]))


def shorten(numbers: Numbers) -> NDArray[np.float16]:
    """The numbers to FRACTION bits behind the first: in a file they take a quarter less room."""
    left = 10 - FRACTION
    bits = numbers.astype(np.float16).view(np.uint16).astype(np.uint32)
    return (((bits + (1 << (left - 1))) >> left) << left).astype(np.uint16).view(np.float16)


def write(fitted: Fitted, path: Path) -> int:
    """The bytes of the file."""
    parts = {name: shorten(getattr(fitted, name)) for name in ("vector", "words")}
    np.savez_compressed(path, signs=fitted.signs.astype(np.float32), bias=np.float32(fitted.bias), **parts)
    return path.stat().st_size
