"""The fit of `shared.classifiers.pair_reader`: cross entropy of the class of a pair, Adam, dropout; deterministic."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.pair_reader import (
    BARRED,
    CLASSES,
    ENDS,
    OTHER_SIGNS,
    REACHES,
    SIDE,
    VECTOR_SCALE,
    Pair,
    PairReader,
    TextInputs,
    find_largest,
    find_mean,
    find_neighbours,
    meet,
    open_units,
    read_pairs,
)
from shared.classifiers.tagger import softmax
from shared.classifiers.units import SHAPES, Units
from tests.training.adam import Weights

Numbers = NDArray[np.float32]
Slopes = dict[str, Numbers]
WIDTH, NARROW, ROW, LOOK, HIDDEN = 40, 24, 8, 24, 40
"""Numbers of a layer, of a unit's vector as it is read, of a usual word, of a look at the other text, and of the last
layer."""
USUAL = 700
"""Words that have numbers of their own."""
PASSES, AT_ONCE, RATE = 10, 48, 2e-3
"""Passes over the pairs, pairs at a step, and the first rate."""
DROPPED_INPUT, DROPPED = 0.15, 0.25
FADES = 0.998
"""What is fitted is the mean of the weights of the last steps: how much an earlier step counts beside the next."""
PENALTY, LONGEST = 1e-2, 1.0
"""The penalty of large weights, and the longest slope."""
STEP = 0.4
"""What stored weights are rounded to, in standard deviations of their column."""
NOT_ENDS = len(CLASSES)
"""The label of a pair of which only so much is known."""
LEAST_READ, HARDER = 0.12, 6.0
"""The share of the plain pairs read in each pass, and how much likelier a pair is read the more it seems to end."""
SEED = 3


@dataclass(frozen=True)
class LabelledPair:
    """Two texts as units, their class or NOT_ENDS, and what they count; of `plain` pairs only some are read."""

    earlier: Units
    later: Units
    label: int
    weight: float
    plain: bool


def fit(pairs: Sequence[LabelledPair], passes: int = PASSES) -> PairReader:
    """The network that gives the classes of the pairs."""
    counted = Counter(word for each in pairs for word in {*each.earlier.words, *each.later.words})
    usual = {word: place for place, (word, _) in enumerate(counted.most_common(USUAL), 1)}
    random = np.random.default_rng(SEED)
    weights = {name: Weights(each) for name, each in start(len(usual), random).items()}
    means = {name: each.now.copy() for name, each in weights.items()}
    seems = np.full(len(pairs), 0.5)
    plain = np.asarray([each.plain for each in pairs])
    steps = 0
    for number in range(passes):
        read = np.flatnonzero(~plain | (random.random(len(pairs)) < np.clip(HARDER * seems, LEAST_READ, 1.0)))
        groups = list(_group(pairs, read, random))
        for at, group in enumerate(groups):
            own = [pairs[place] for place in group]
            batch = read_pairs([(each.earlier, each.later) for each in own], usual)
            labels, counts = np.asarray([each.label for each in own]), np.asarray([each.weight for each in own])
            slopes, shares = find_slopes(
                {name: each.now for name, each in weights.items()}, batch, labels, counts, random
            )
            seems[group] = shares[:, ENDS]
            length = float(np.sqrt(sum(float((each * each).sum()) for each in slopes.values())))
            shorter = min(1.0, LONGEST / (length + 1e-9))
            rate = RATE * max(0.05, 1 - (number + at / len(groups)) / passes)
            steps += 1
            new = 1 - min(FADES, (1 + steps) / (10 + steps))
            for name, each in weights.items():
                each.now *= np.float32(1 - rate * PENALTY)
                each.move(slopes[name] * shorter, rate)
                means[name] += new * (each.now - means[name])
    return PairReader(usual, means)


def _group(pairs: Sequence[LabelledPair], read: NDArray[np.intp], random: np.random.Generator) -> Iterator[list[int]]:
    """The pairs of one pass in groups of about one length, in no order."""
    lengths = np.asarray([len(pairs[place].earlier) + len(pairs[place].later) for place in read])
    order = read[np.argsort(lengths + 6 * random.random(len(read)))]
    starts = np.arange(0, len(order), AT_ONCE)
    for begin in random.permutation(starts).tolist():
        yield order[begin : begin + AT_ONCE].tolist()


def start(usual: int, random: np.random.Generator) -> Slopes:
    """The weights that the fit begins with."""

    def draw(rows: int, columns: int, size: float) -> Numbers:
        return (random.normal(size=(rows, columns)) * size).astype(np.float32)

    def layer(name: str, rows: int, columns: int) -> Slopes:
        return {name: draw(rows, columns, rows**-0.5), f"{name}_bias": np.zeros(columns, np.float32)}

    wide, inputs = 2 * SIDE + 1, 2 * NARROW + ROW + len(SHAPES) + OTHER_SIGNS + 1
    return {
        "narrow": draw(256, NARROW, 1 / 16),
        "rows": draw(usual + 1, ROW, 0.1),
        **layer("near", wide * inputs, WIDTH),
        **layer("far", wide * WIDTH, WIDTH),
        "look": draw(WIDTH, LOOK, WIDTH**-0.5),
        **layer("meet", 4 * WIDTH, WIDTH),
        **layer("met", wide * WIDTH, WIDTH),
        **layer("hidden", 4 * WIDTH, HIDDEN),
        **layer("out", HIDDEN, len(CLASSES)),
    }


@dataclass(frozen=True)
class _Layer:
    """What a convolution read, what it made, and what of that was left."""

    read: Numbers
    made: Numbers


@dataclass
class _Side:
    """What the network makes of one text of each pair, step by step."""

    text: TextInputs
    inside: Numbers
    narrow: Numbers
    opened: Numbers
    left: dict[str, Numbers]
    layers: dict[str, _Layer]
    first: Numbers
    look: Numbers
    shares: Numbers
    seen: Numbers
    met: Numbers
    merged: Numbers
    found: Numbers


def find_slopes(
    weights: Slopes,
    pair: Pair,
    labels: NDArray[np.intp],
    counts: NDArray[np.float64],
    random: np.random.Generator | None,
) -> tuple[Slopes, Numbers]:
    """The slope of the loss by each weight, and the probability of each class; nothing is left out without `random`."""
    sides = _forward(weights, pair, random)
    pooled = np.concatenate(
        [
            part
            for side in sides
            for part in (find_largest(side.found, side.inside), find_mean(side.found, side.inside))
        ],
        axis=1,
    )
    left = _leave(pooled.shape, DROPPED, random)
    kept = pooled * left
    sums = kept @ weights["hidden"] + weights["hidden_bias"]
    hidden_left = _leave(sums.shape, 0.2 if random else 0.0, random)
    hidden = np.maximum(sums, 0.0) * hidden_left
    shares = softmax(hidden @ weights["out"] + weights["out_bias"])
    error = _find_error(shares, labels) * (counts / counts.sum()).astype(np.float32)[:, None]
    slopes = {name: np.zeros_like(each) for name, each in weights.items()}
    slopes["out"], slopes["out_bias"] = hidden.T @ error, error.sum(axis=0)
    back = (error @ weights["out"].T) * hidden_left * (sums > 0)
    slopes["hidden"], slopes["hidden_bias"] = kept.T @ back, back.sum(axis=0)
    _backward(weights, sides, (back @ weights["hidden"].T) * left, slopes)
    return slopes, shares


def _find_error(shares: Numbers, labels: NDArray[np.intp]) -> Numbers:
    """The slope of the loss by the sums of the classes; of a pair that does not end, any other class is right."""
    wanted = np.zeros_like(shares)
    known = labels < NOT_ENDS
    wanted[np.flatnonzero(known), labels[known]] = 1.0
    others = shares[~known].copy()
    others[:, ENDS] = 0.0
    wanted[~known] = others / np.maximum(others.sum(axis=1, keepdims=True), 1e-9)
    return shares - wanted


def _leave(shape: tuple[int, ...], dropped: float, random: np.random.Generator | None) -> Numbers:
    if random is None or not dropped:
        return np.ones(shape, np.float32)
    return (random.random(shape, dtype=np.float32) > dropped).astype(np.float32) / np.float32(1 - dropped)


def _forward(weights: Slopes, pair: Pair, random: np.random.Generator | None) -> tuple[_Side, _Side]:
    narrow = [VECTOR_SCALE * text.vectors @ weights["narrow"] for text in pair]
    sides = [_read(weights, pair[at], narrow[at], narrow[1 - at], random) for at in (0, 1)]
    odds = sides[0].look @ sides[1].look.transpose(0, 2, 1) / np.float32(LOOK**0.5)
    for own, other, looks in ((sides[0], sides[1], odds), (sides[1], sides[0], odds.transpose(0, 2, 1))):
        own.shares = softmax(np.where(other.text.inside[:, None, :] > 0, looks, BARRED))
        own.seen = own.shares @ other.first
        own.met = meet(own.first, own.seen)
        own.left["merged"] = own.inside * _leave(own.first.shape, DROPPED, random)
        own.merged = own.met @ weights["meet"] + weights["meet_bias"]
        merged = np.maximum(own.merged, 0.0) * own.left["merged"]
        own.layers["met"] = layer = _convolve(weights, merged, "met")
        own.found = merged + layer.made * own.inside
    return sides[0], sides[1]


def _read(
    weights: Slopes, text: TextInputs, narrow: Numbers, other: Numbers, random: np.random.Generator | None
) -> _Side:
    opened = open_units(text, narrow, other, weights["rows"])
    inside = text.inside[:, :, None]
    left = {"opened": _leave(opened.shape, DROPPED_INPUT, random)}
    near = _convolve(weights, opened * left["opened"], "near")
    left["near"] = inside * _leave(near.made.shape, DROPPED, random)
    numbers = near.made * left["near"]
    far = _convolve(weights, numbers, "far")
    first = numbers + far.made * inside
    none = np.zeros(0, np.float32)
    layers = {"near": near, "far": far}
    return _Side(
        text, inside, narrow - text.likeness @ other, opened, left, layers, first, first @ weights["look"],
        none, none, none, none, none,
    )  # fmt: skip


def _convolve(weights: Slopes, numbers: Numbers, name: str) -> _Layer:
    read = find_neighbours(numbers, REACHES[name])
    return _Layer(read, np.maximum(read @ weights[name] + weights[f"{name}_bias"], 0.0))


def _backward(weights: Slopes, sides: tuple[_Side, _Side], back: Numbers, slopes: Slopes) -> None:
    """Adds the slopes by the weights below the pooled numbers, whose own slopes are `back`."""
    below = [np.zeros_like(side.first) for side in sides]
    look = [np.zeros_like(side.look) for side in sides]
    for at, (own, other) in enumerate((sides, sides[::-1])):
        found = _unpool(own, back[:, 2 * at * WIDTH : 2 * (at + 1) * WIDTH])
        merged = found + _pass_back(weights, own.layers["met"], found * own.inside, "met", slopes)
        merged = merged * own.left["merged"] * (own.merged > 0)
        _add(slopes, "meet", own.met, merged)
        met = merged @ weights["meet"].T
        own_part, seen, apart, both = (met[:, :, n * WIDTH : (n + 1) * WIDTH] for n in range(4))
        below[at] += own_part + apart + both * own.seen
        seen = seen - apart + both * own.first
        below[1 - at] += own.shares.transpose(0, 2, 1) @ seen
        shares = seen @ other.first.transpose(0, 2, 1)
        odds = own.shares * (shares - (shares * own.shares).sum(axis=2, keepdims=True))
        odds *= np.float32(LOOK**-0.5)
        look[at] += odds @ other.look
        look[1 - at] += odds.transpose(0, 2, 1) @ own.look
    narrow = [np.zeros((*side.text.words.shape, NARROW), np.float32) for side in sides]
    for at, own in enumerate(sides):
        _add(slopes, "look", own.first, look[at])
        first = below[at] + look[at] @ weights["look"].T
        numbers = first + _pass_back(weights, own.layers["far"], first * own.inside, "far", slopes)
        numbers = numbers * own.left["near"]
        opened = _pass_back(weights, own.layers["near"], numbers, "near", slopes)
        opened *= own.left["opened"] * own.inside
        away = opened[:, :, NARROW : 2 * NARROW] * np.sign(own.narrow)
        narrow[at] += opened[:, :, :NARROW] + away
        narrow[1 - at] -= own.text.likeness.transpose(0, 2, 1) @ away
        np.add.at(slopes["rows"], own.text.words, opened[:, :, 2 * NARROW : 2 * NARROW + ROW])
    for side, each in zip(sides, narrow, strict=True):
        _add(slopes, "narrow", VECTOR_SCALE * side.text.vectors, each)


def _unpool(side: _Side, back: Numbers) -> Numbers:
    """The slopes by the numbers that the largest and the mean were taken of."""
    barred = np.where(side.inside > 0, side.found, BARRED)
    largest = np.zeros_like(side.found)
    np.put_along_axis(largest, barred.argmax(axis=1)[:, None, :], back[:, None, :WIDTH], axis=1)
    counts = np.maximum(side.inside.sum(axis=1), 1.0)
    return largest + (back[:, WIDTH:] / counts)[:, None, :]


def _pass_back(weights: Slopes, layer: _Layer, back: Numbers, name: str, slopes: Slopes) -> Numbers:
    """The slopes by what the layer read; those by its weights are added."""
    own = back * (layer.made > 0)
    _add(slopes, name, layer.read, own)
    spread = own @ weights[name].T
    count, width = back.shape[1], spread.shape[2] // (2 * SIDE + 1)
    pad = SIDE * REACHES[name]
    padded = np.zeros((len(back), count + 2 * pad, width), np.float32)
    for place, at in enumerate(range(0, 2 * pad + 1, REACHES[name])):
        padded[:, at : at + count] += spread[:, :, place * width : (place + 1) * width]
    return padded[:, pad : pad + count]


def _add(slopes: Slopes, name: str, read: Numbers, back: Numbers) -> None:
    flat = back.reshape(-1, back.shape[-1])
    slopes[name] += read.reshape(-1, read.shape[-1]).T @ flat
    if f"{name}_bias" in slopes:
        slopes[f"{name}_bias"] += flat.sum(axis=0)


def write(fitted: PairReader, path: Path) -> int:
    """The bytes of the file: the weights as small whole numbers, each column with its scale."""
    stored: dict[str, NDArray[Any]] = {"usual": np.asarray("\n".join(fitted.usual))}
    for name, each in fitted.weights.items():
        if name.endswith("_bias"):
            stored[name] = each.astype(np.float16)
            continue
        scale = (STEP * each.std(axis=0) + 1e-6).astype(np.float16)
        stored[name] = np.clip(np.rint(each / scale.astype(np.float32)), -127, 127).astype(np.int8)
        stored[f"{name}_scale"] = scale
    np.savez_compressed(path, **stored)
    return path.stat().st_size
