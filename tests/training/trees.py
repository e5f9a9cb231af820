"""The fit of `shared.classifiers.judges`: gradient boosting on histograms of the signs; deterministic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import BoostedTrees

Numbers = NDArray[np.float64]
BIAS_STEPS = 30
NOTHING: Mapping[str, NDArray[Any]] = MappingProxyType({})
BINS = 32
"""The maximum number of bins for the values of a sign."""


@dataclass(frozen=True)
class Sample:
    """A sample: its signs, its label, its weight, and its source."""

    signs: list[float]
    kept: bool
    weight: float
    message: int


@dataclass(frozen=True)
class Boosting:
    """Number and depth of the trees, the learning rate, and the regularisation of leaves.

    Each tree sees a share of the rows and of the signs, so that none relies on a few.
    """

    trees: int = 300
    depth: int = 4
    rate: float = 0.08
    penalty: float = 4.0
    rows: float = 0.8
    signs: float = 0.4


def fit(samples: Sequence[Sample], how: Boosting = Boosting(), start: Numbers | None = None) -> BoostedTrees:
    """The trees of these samples, which add to the odds that each of them starts with."""
    signs = np.asarray([each.signs for each in samples], np.float32)
    wanted = np.asarray([each.kept for each in samples], np.float64)
    weight = np.asarray([each.weight for each in samples], np.float64)
    edges = [_edges(signs[:, place]) for place in range(signs.shape[1])]
    bins = np.stack([np.searchsorted(cut, signs[:, n], "left") for n, cut in enumerate(edges)], axis=1).astype(np.int64)
    random = np.random.default_rng(11)
    start = np.zeros(len(samples)) if start is None else start
    bias = _find_bias(start, wanted, weight)
    odds = start + bias
    places: list[list[int]] = []
    bounds: list[list[float]] = []
    leaves: list[Numbers] = []
    for _ in range(how.trees):
        guess = 1 / (1 + np.exp(-odds))
        seen = random.random(len(samples)) < how.rows
        slope, curve = weight * (wanted - guess), weight * guess * (1 - guess)
        chosen = np.sort(random.choice(signs.shape[1], max(1, int(how.signs * signs.shape[1])), replace=False))
        asked, leaf = _grow(bins, np.where(seen, slope, 0.0), np.where(seen, curve, 0.0), chosen, how)
        size = 1 << how.depth
        added = np.bincount(leaf[seen], slope[seen], size) / (np.bincount(leaf[seen], curve[seen], size) + how.penalty)
        added *= how.rate
        odds += added[leaf]
        places.append([place for place, _ in asked])
        bounds.append([float(edges[place][cut]) if len(edges[place]) else float("inf") for place, cut in asked])
        leaves.append(added)
    return BoostedTrees(
        np.asarray(places, np.int16), np.asarray(bounds, np.float32), np.asarray(leaves, np.float32), bias
    )


def _find_bias(start: Numbers, wanted: Numbers, weight: Numbers) -> float:
    """What is to be added to all so that as many are expected as there are."""
    bias = 0.0
    for _ in range(BIAS_STEPS):
        guess = 1 / (1 + np.exp(-(start + bias)))
        bias += float((weight * (wanted - guess)).sum() / (weight * guess * (1 - guess)).sum())
    return bias


def _edges(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The bin boundaries, with about equal numbers per bin."""
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]).astype(np.float32))
    alone = np.unique(values)
    if len(alone) <= BINS:
        cuts = ((alone[1:] + alone[:-1]) / 2).astype(np.float32)
    return cuts


def _grow(
    bins: NDArray[np.int64], slope: Numbers, curve: Numbers, chosen: NDArray[np.intp], how: Boosting
) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
    """For each level the sign and boundary that best separate the rows of all leaves, and the leaf of each row."""
    leaf = np.zeros(len(bins), np.int64)
    asked: list[tuple[int, int]] = []
    count = BINS + 1
    for level in range(how.depth):
        best, found = -1.0, (int(chosen[0]), 0)
        size = 1 << level
        for place in chosen.tolist():
            cell = leaf * count + bins[:, place]
            slopes = np.bincount(cell, slope, size * count).reshape(size, count)
            curves = np.bincount(cell, curve, size * count).reshape(size, count)
            low, high = np.cumsum(slopes, axis=1), np.cumsum(curves, axis=1)
            rest, left = low[:, -1:] - low, high[:, -1:] - high
            gain = (low * low / (high + how.penalty) + rest * rest / (left + how.penalty)).sum(axis=0)
            at = int(gain[:-1].argmax())
            if gain[at] > best + 1e-9:
                best, found = float(gain[at]), (place, at)
        asked.append(found)
        leaf += (bins[:, found[0]] > found[1]).astype(np.int64) << level
    return asked, leaf


def write(trees: BoostedTrees, path: Path, beside: Mapping[str, NDArray[Any]] = NOTHING) -> int:
    """The bytes of the file, with what else stands in it."""
    parts = {"places": trees.places, "bounds": trees.bounds, "leaves": trees.leaves.astype(np.float16)}
    np.savez_compressed(path, **parts, **beside, bias=np.float32(trees.bias))  # type: ignore[arg-type]
    return path.stat().st_size
