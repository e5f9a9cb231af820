"""The fit of `shared.classifiers.tagger`: cross entropy of each unit's classes, Adam, dropout; deterministic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.tagger import (
    LAYERS,
    REACHES,
    SIDE,
    SLIP,
    TYPE,
    VECTOR_SCALE,
    WORTH,
    Inputs,
    Layer,
    Tagger,
    read_inputs,
    softmax,
)
from shared.classifiers.units import SHAPES, SIGNS, Units
from shared.extraction.word_tags import TYPES
from tests.training.adam import Weights

Numbers = NDArray[np.float32]
WIDTH, NARROW, ROW = 56, 32, 12
"""Numbers of each layer, of a unit's vector as the network reads it, and of a usual word."""
USUAL = 1000
"""Words that have numbers of their own."""
CLASSES = {SLIP: 4, WORTH: 2, TYPE: len(TYPES)}
PASSES, AT_ONCE, RATE, DROPPED = 14, 48, 2e-3, 0.25
"""Passes over the examples, examples at a step, the first rate, and the share of numbers left out."""
FADES = 0.998
"""What is fitted is the mean of the weights of the last steps: how much an earlier step counts beside the next."""
PENALTY, LONGEST = 1e-4, 1.0
"""The penalty of large weights, and the longest slope."""
STEP = 0.5
"""What stored weights are rounded to, in standard deviations of their column; finer steps mend no more slips."""
SEED = 7


@dataclass(frozen=True)
class Answer:
    """The class of each unit, and what each counts."""

    classes: NDArray[np.intp]
    weights: Numbers


@dataclass(frozen=True)
class Example:
    """A text, and the answer of each head that is known."""

    units: Units
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Group:
    """Examples of which so many are read in a pass, each so many times."""

    examples: Sequence[Example]
    times: int = 1
    most: int | None = None


@dataclass(frozen=True)
class _Batch:
    vectors: Numbers
    words: NDArray[np.intp]
    signs: Numbers
    answers: Mapping[str, Answer]
    seen: tuple[NDArray[np.intp], ...]
    """For each layer and unit the units that it looks at; the number of all units stands for none."""


def fit(groups: Sequence[Group], heads: Sequence[str]) -> Tagger:
    """The network with these heads that gives the answers of the examples."""
    every = [each for group in groups for each in group.examples]
    counted = Counter(word for each in every for word in set(each.units.words))
    usual = {word: place for place, (word, _) in enumerate(counted.most_common(USUAL), 1)}
    random = np.random.default_rng(SEED)
    weights = {name: Weights(each) for name, each in _start(len(usual), heads, random).items()}
    means = {name: each.now.copy() for name, each in weights.items()}
    inputs = {id(each): read_inputs(each.units, usual) for each in every}
    steps = 0
    for number in range(PASSES):
        examples = [each for group in groups for each in _choose(group, random)]
        order = random.permutation(len(examples))
        for at in range(0, len(order), AT_ONCE):
            own = [examples[place] for place in order[at : at + AT_ONCE]]
            batch = _pack(own, [inputs[id(each)] for each in own], heads)
            slopes = _find_slopes({name: each.now for name, each in weights.items()}, batch, random)
            length = float(np.sqrt(sum(float((each * each).sum()) for each in slopes.values())))
            shorter = min(1.0, LONGEST / (length + 1e-9))
            steps += 1
            new = 1 - min(FADES, (1 + steps) / (10 + steps))
            for name, each in weights.items():
                each.move(slopes[name] * shorter + PENALTY * each.now, RATE * (1 - number / PASSES) + RATE / 20)
                means[name] += new * (each.now - means[name])
    made = {name: Layer(means[name], means[f"{name}_bias"]) for name in (*LAYERS, *heads)}
    layers = tuple(made[name] for name in LAYERS)
    return Tagger(usual, means["rows"], means["narrow"], layers, {name: made[name] for name in heads})


def _choose(group: Group, random: np.random.Generator) -> list[Example]:
    """The examples of one pass."""
    every = len(group.examples)
    if group.most is None or group.most >= every:
        return [*group.examples] * group.times
    return [group.examples[place] for place in random.choice(every, group.most, replace=False)] * group.times


def _start(usual: int, heads: Sequence[str], random: np.random.Generator) -> dict[str, Numbers]:
    def draw(rows: int, columns: int, size: float) -> Numbers:
        return (random.normal(size=(rows, columns)) * size).astype(np.float32)

    weights = {"narrow": draw(256, NARROW, 1 / 16), "rows": draw(usual + 1, ROW, 0.3)}
    width = NARROW + ROW + len(SHAPES) + SIGNS
    for name in LAYERS:
        rows = (2 * SIDE + 1) * width
        weights[name] = draw(rows, WIDTH, float(np.sqrt(1.5 / rows)))
        weights[f"{name}_bias"] = np.zeros(WIDTH, np.float32)
        width = WIDTH
    for name in heads:
        weights[name] = draw(WIDTH, CLASSES[name], 0.1)
        weights[f"{name}_bias"] = np.zeros(CLASSES[name], np.float32)
    return weights


def _pack(examples: Sequence[Example], inputs: Sequence[Inputs], heads: Sequence[str]) -> _Batch:
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
        {name: _join([_find_answer(each, name) for each in examples]) for name in heads},
        tuple(seen),
    )


def _find_answer(example: Example, head: str) -> Answer:
    """The answer of the head; where it is not known, one that counts nothing."""
    size = len(example.units)
    return example.answers.get(head) or Answer(np.zeros(size, np.intp), np.zeros(size, np.float32))


def _join(answers: Sequence[Answer]) -> Answer:
    return Answer(np.concatenate([a.classes for a in answers]), np.concatenate([a.weights for a in answers]))


def _find_slopes(weights: dict[str, Numbers], batch: _Batch, random: np.random.Generator) -> dict[str, Numbers]:
    """The slope of the loss by each weight."""
    numbers = np.concatenate(
        [VECTOR_SCALE * batch.vectors @ weights["narrow"], weights["rows"][batch.words], batch.signs], axis=1
    )
    count = len(numbers)
    made: list[tuple[Numbers, Numbers, Numbers]] = []
    for name, seen in zip(LAYERS, batch.seen, strict=True):
        left = ((random.random(numbers.shape, dtype=np.float32) > DROPPED) / (1 - DROPPED)).astype(np.float32)
        padded = np.concatenate([numbers * left, np.zeros((1, numbers.shape[1]), np.float32)])
        read = padded[seen].reshape(count, -1)
        sums = read @ weights[name] + weights[f"{name}_bias"]
        made.append((read, sums, left))
        passed = np.maximum(sums, 0.0)
        numbers = passed + numbers if numbers.shape == passed.shape else passed
    slopes, back = _find_slopes_of_heads(weights, batch, numbers)
    for name, seen, (read, sums, left) in reversed(list(zip(LAYERS, batch.seen, made, strict=True))):
        own = back * (sums > 0)
        slopes[name], slopes[f"{name}_bias"] = read.T @ own, own.sum(axis=0)
        spread = (own @ weights[name].T).reshape(count, 2 * SIDE + 1, -1)
        below = np.zeros((count + 1, spread.shape[2]), np.float32)
        for place in range(2 * SIDE + 1):
            there = seen[:, place] < count
            below[seen[there, place]] += spread[there, place]
        below = below[:count] * left
        back = below + back if below.shape == back.shape else below
    slopes["narrow"] = VECTOR_SCALE * batch.vectors.T @ back[:, :NARROW]
    slopes["rows"] = np.zeros_like(weights["rows"])
    np.add.at(slopes["rows"], batch.words, back[:, NARROW : NARROW + ROW])
    return slopes


def _find_slopes_of_heads(
    weights: dict[str, Numbers], batch: _Batch, numbers: Numbers
) -> tuple[dict[str, Numbers], Numbers]:
    """The slope of the loss by the weights of the heads, and by the numbers that they read."""
    slopes: dict[str, Numbers] = {}
    back = np.zeros_like(numbers)
    total = sum(float(answer.weights.sum()) for answer in batch.answers.values())
    for name, answer in batch.answers.items():
        asked = np.flatnonzero(answer.weights)
        error = softmax(numbers[asked] @ weights[name] + weights[f"{name}_bias"])
        error[np.arange(len(asked)), answer.classes[asked]] -= 1
        error *= (answer.weights[asked] / total)[:, None]
        slopes[name], slopes[f"{name}_bias"] = numbers[asked].T @ error, error.sum(axis=0)
        back[asked] += error @ weights[name].T
    return slopes, back


def write(fitted: Tagger, path: Path) -> int:
    """The bytes of the file: the weights as small whole numbers, each column with its scale."""
    layers = dict(zip(LAYERS, fitted.layers, strict=True)) | dict(fitted.heads)
    named = {"rows": fitted.rows, "narrow": fitted.narrow} | {name: each.weights for name, each in layers.items()}
    stored: dict[str, NDArray[Any]] = {"usual": np.asarray("\n".join(fitted.usual))}
    for name in named:
        scale = (STEP * named[name].std(axis=0) + 1e-6).astype(np.float16)
        stored[name] = np.clip(np.rint(named[name] / scale.astype(np.float32)), -127, 127).astype(np.int8)
        stored[f"{name}_scale"] = scale
    for name, layer in layers.items():
        stored[f"{name}_bias"] = layer.bias.astype(np.float16)
    np.savez_compressed(path, **stored)
    return path.stat().st_size
