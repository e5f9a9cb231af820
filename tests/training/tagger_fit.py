"""The fit of `shared.classifiers.tagger`: cross entropy of each unit's part, Adam, dropout; deterministic."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.tagger import (
    LAYERS,
    PARTS,
    REACHES,
    SIDE,
    VECTOR_SCALE,
    Inputs,
    Layer,
    Tagger,
    read_inputs,
    softmax,
)
from shared.classifiers.units import SHAPES, SIGNS, Units
from tests.training.adam import Weights

Numbers = NDArray[np.float32]
WIDTH, NARROW, ROW = 48, 32, 12
"""Numbers of each layer, of a unit's vector as the network reads it, and of a usual word."""
USUAL = 500
"""Words that have numbers of their own."""
CLASSES = 4
PASSES, AT_ONCE, RATE, DROPPED = 20, 48, 2e-3, 0.25
"""Passes over the examples, examples at a step, the first rate, and the share of numbers left out."""
TWICE, NATURAL = 2, 9000
"""How often each marked example is read in a pass, and how many others are."""
PENALTY, LONGEST = 1e-4, 1.0
"""The penalty of large weights, and the longest slope."""
STEP = 0.5
"""What stored weights are rounded to, in standard deviations of their column; finer steps mend no more slips."""
SEED = 7


@dataclass(frozen=True)
class Example:
    """A text, the part of each of its units, and its weight."""

    units: Units
    parts: NDArray[np.intp]
    weight: float


@dataclass(frozen=True)
class _Batch:
    vectors: Numbers
    words: NDArray[np.intp]
    signs: Numbers
    parts: NDArray[np.intp]
    weights: Numbers
    seen: tuple[NDArray[np.intp], ...]
    """For each layer and unit the units that it looks at; the number of all units stands for none."""


def fit(marked: Sequence[Example], others: Sequence[Example]) -> Tagger:
    """The network that tells the parts of the marked examples and finds none in the others."""
    counted = Counter(word for each in marked for word in set(each.units.words))
    usual = {word: place for place, (word, _) in enumerate(counted.most_common(USUAL), 1)}
    random = np.random.default_rng(SEED)
    weights = {name: Weights(each) for name, each in _start(len(usual), random).items()}
    inputs = {id(each): read_inputs(each.units, usual) for each in (*marked, *others)}
    for number in range(PASSES):
        chosen = random.choice(len(others), min(NATURAL, len(others)), replace=False)
        examples = [*marked] * TWICE + [others[place] for place in chosen]
        order = random.permutation(len(examples))
        for at in range(0, len(order), AT_ONCE):
            own = [examples[place] for place in order[at : at + AT_ONCE]]
            batch = _pack(own, [inputs[id(each)] for each in own])
            slopes = _find_slopes({name: each.now for name, each in weights.items()}, batch, random)
            length = float(np.sqrt(sum(float((each * each).sum()) for each in slopes.values())))
            shorter = min(1.0, LONGEST / (length + 1e-9))
            for name, each in weights.items():
                each.move(slopes[name] * shorter + PENALTY * each.now, RATE * (1 - number / PASSES) + RATE / 20)
    layers = [Layer(weights[name].now, weights[f"{name}_bias"].now) for name in (*LAYERS, "out")]
    return Tagger(usual, weights["rows"].now, weights["narrow"].now, tuple(layers[:-1]), layers[-1])


def _start(usual: int, random: np.random.Generator) -> dict[str, Numbers]:
    def draw(rows: int, columns: int, size: float) -> Numbers:
        return (random.normal(size=(rows, columns)) * size).astype(np.float32)

    weights = {"narrow": draw(256, NARROW, 1 / 16), "rows": draw(usual + 1, ROW, 0.3), "out": draw(WIDTH, CLASSES, 0.1)}
    width = NARROW + ROW + len(SHAPES) + SIGNS
    for name in LAYERS:
        rows = (2 * SIDE + 1) * width
        weights[name] = draw(rows, WIDTH, float(np.sqrt(1.5 / rows)))
        weights[f"{name}_bias"] = np.zeros(WIDTH, np.float32)
        width = WIDTH
    weights["out_bias"] = np.zeros(CLASSES, np.float32)
    return weights


def _pack(examples: Sequence[Example], inputs: Sequence[Inputs]) -> _Batch:
    counts = [len(each.units) for each in examples]
    owner = np.repeat(np.arange(len(examples)), counts)
    count = len(owner)
    seen: list[NDArray[np.intp]] = []
    for reach in REACHES:
        places = np.arange(count)[:, None] + reach * np.arange(-SIDE, SIDE + 1)[None, :]
        inside = np.clip(places, 0, count - 1)
        same = (places == inside) & (owner[inside] == owner[:, None])
        seen.append(np.where(same, inside, count))
    return _Batch(
        np.concatenate([each.units.vectors for each in examples]),
        np.concatenate([each.words for each in inputs]),
        np.concatenate([each.signs for each in inputs]),
        np.concatenate([each.parts for each in examples]),
        np.repeat(np.asarray([each.weight for each in examples], np.float32), counts),
        tuple(seen),
    )


def _find_slopes(weights: dict[str, Numbers], batch: _Batch, random: np.random.Generator) -> dict[str, Numbers]:
    """The slope of the loss by each weight."""
    numbers = np.concatenate(
        [VECTOR_SCALE * batch.vectors @ weights["narrow"], weights["rows"][batch.words], batch.signs], axis=1
    )
    count = len(numbers)
    made: list[tuple[Numbers, Numbers, Numbers]] = []
    for name, seen in zip(LAYERS, batch.seen, strict=True):
        left = ((random.random(numbers.shape) > DROPPED) / (1 - DROPPED)).astype(np.float32)
        padded = np.concatenate([numbers * left, np.zeros((1, numbers.shape[1]), np.float32)])
        read = padded[seen].reshape(count, -1)
        sums = read @ weights[name] + weights[f"{name}_bias"]
        made.append((read, sums, left))
        passed = np.maximum(sums, 0.0)
        numbers = passed + numbers if numbers.shape == passed.shape else passed
    shares = softmax(numbers @ weights["out"] + weights["out_bias"])
    shares[np.arange(count), batch.parts] -= 1
    error = shares * (batch.weights / batch.weights.sum())[:, None]
    slopes = {"out": numbers.T @ error, "out_bias": error.sum(axis=0)}
    back = error @ weights["out"].T
    for name, seen, (read, sums, left) in reversed(list(zip(LAYERS, batch.seen, made, strict=True))):
        own = back * (sums > 0)
        slopes[name], slopes[f"{name}_bias"] = read.T @ own, own.sum(axis=0)
        spread = (own @ weights[name].T).reshape(count, 2 * SIDE + 1, -1)
        below = np.zeros((count + 1, spread.shape[2]), np.float32)
        for place in range(2 * SIDE + 1):
            below[seen[:, place]] += np.where((seen[:, place] < count)[:, None], spread[:, place], 0.0)
        below = below[:count] * left
        back = below + back if below.shape == back.shape else below
    slopes["narrow"] = VECTOR_SCALE * batch.vectors.T @ back[:, :NARROW]
    slopes["rows"] = np.zeros_like(weights["rows"])
    np.add.at(slopes["rows"], batch.words, back[:, NARROW : NARROW + ROW])
    return slopes


def write(fitted: Tagger, path: Path) -> int:
    """The bytes of the file: the weights as small whole numbers, each column with its scale."""
    named = {"rows": fitted.rows, "narrow": fitted.narrow, "out": fitted.out.weights}
    named |= {name: layer.weights for name, layer in zip(LAYERS, fitted.layers, strict=True)}
    stored: dict[str, NDArray[Any]] = {"usual": np.asarray("\n".join(fitted.usual))}
    for name in PARTS:
        scale = (STEP * named[name].std(axis=0) + 1e-6).astype(np.float16)
        stored[name] = np.clip(np.rint(named[name] / scale.astype(np.float32)), -127, 127).astype(np.int8)
        stored[f"{name}_scale"] = scale
    for name, layer in zip((*LAYERS, "out"), (*fitted.layers, fitted.out), strict=True):
        stored[f"{name}_bias"] = layer.bias.astype(np.float16)
    np.savez_compressed(path, **stored)
    return path.stat().st_size
