"""The fit of `shared.classifiers.judges`: a logistic regression on a few signs, by Newton's method."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
PENALTY = 0.02
STEPS = 12


@dataclass(frozen=True)
class Sample:
    """Something by its signs, whether it is of the kind that is asked for, what it counts, and where it is from."""

    signs: list[float]
    kept: bool
    weight: float
    message: int


def fit(samples: Sequence[Sample]) -> tuple[Numbers, float]:
    """What each sign counts for, and the bias."""
    rows = np.asarray([each.signs for each in samples], np.float64)
    wanted = np.asarray([each.kept for each in samples], np.float64)
    weight = np.asarray([each.weight for each in samples], np.float64)
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    inner = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
    penalty = np.full(inner.shape[1], PENALTY * weight.sum() / 10)
    penalty[-1] = 0.0
    found = np.zeros(inner.shape[1])
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-(inner @ found)))
        slope = inner.T @ (weight * (share - wanted)) + penalty * found
        curve = (inner * (weight * share * (1 - share))[:, None]).T @ inner + np.diag(penalty + 1e-9)
        found -= np.linalg.solve(curve, slope)
    signs = found[:-1] / scale
    return signs, float(found[-1] - signs @ mean)


def shares(samples: Sequence[Sample], fitted: tuple[Numbers, float]) -> Numbers:
    """How likely each is to be kept."""
    rows = np.asarray([each.signs for each in samples], np.float64)
    return 1 / (1 + np.exp(-(rows @ fitted[0] + fitted[1])))
