"""`python -m tests.learning.lasting`: what signs count for when a sentence is judged to state something lasting.

A logistic regression on labelled sentences of natural conversation (`corpus/lasting_*.jsonl`), fitted by Newton's
method; `--check` fits on one half of the messages and prints what thresholds keep of the other.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.reading import lasting
from shared.reading.clauses import split
from shared.reading.guards import stances
from shared.reading.learned import read
from tests.learning import corpus

Numbers = NDArray[np.float64]
PENALTY = 0.02
STEPS = 12
WEAK = 0.5
"""What a sentence counts that a person would keep or not."""
OUT = corpus.HERE.parents[1] / "shared" / "text" / "weights" / "lasting.json"


@dataclass(frozen=True)
class Sample:
    """A sentence by its signs, whether it is worth keeping, what it counts, and the message that it stands in."""

    signs: list[float]
    kept: bool
    weight: float
    message: int


def samples_of(text: str, keep: Sequence[tuple[int, int, bool]], number: int, weight: float) -> Iterator[Sample]:
    """The sentences of a message; `keep` has the stretches that are worth keeping, and whether that is sure."""
    clauses = split(text)
    verdicts, standing = read(clauses), stances(clauses)
    for _, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        at = list(places)
        own = slice(at[0], at[-1] + 1)
        begin, end = clauses[at[0]].start, clauses[at[-1]].end
        found = [sure for start, stop, sure in keep if start < end and begin < stop]
        signs = lasting.count_signs(text[begin:end], clauses[own], standing[own], verdicts[own])
        yield Sample(signs, bool(found), weight * (1.0 if not found or any(found) else WEAK), number)


def natural_samples(folder: Path) -> Iterator[Sample]:
    """The labelled messages."""
    number = 0
    for path in sorted(folder.glob("lasting_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            label = json.loads(line)
            number += 1
            places = [(label["text"].find(said), len(said), sure) for said, _, sure in label["keep"]]
            keep = [(start, start + length, sure) for start, length, sure in places if start >= 0]
            yield from samples_of(label["text"], keep, number, 1.0)


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


def check(samples: Sequence[Sample]) -> None:
    """Precision and recall of sentences by threshold, each half judged by a fit on the other."""
    halves = [[each for each in samples if each.message % 2 == half] for half in (0, 1)]
    told: list[tuple[float, bool]] = []
    for half in (0, 1):
        fitted = fit(halves[1 - half])
        unseen = [each for each in halves[half] if each.message % 2 == half]
        told += zip(shares(unseen, fitted).tolist(), (each.kept for each in unseen), strict=True)
    there = sum(kept for _, kept in told)
    print(f"{len(told)} sentences, {there} worth keeping")
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        found = [kept for share, kept in told if share >= least]
        print(f"  at {least}: precision {sum(found) / max(1, len(found)):.3f} recall {sum(found) / there:.3f}")
    for low in np.arange(0, 1, 0.1):
        inside = [kept for share, kept in told if low <= share < low + 0.1]
        print(f"  {low:.1f} to {low + 0.1:.1f}: {len(inside)} sentences, {sum(inside) / max(1, len(inside)):.2f} kept")


def main() -> None:
    """Fit and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, default=corpus.HERE / "corpus")
    given = parser.parse_args()
    samples = list(natural_samples(given.folder))
    if given.check:
        check(samples)
        return
    signs, bias = fit(samples)
    written = {"signs": [round(float(each), 4) for each in signs], "bias": round(bias, 4)}
    OUT.write_text(json.dumps(written) + "\n", "utf-8")
    print(dict(zip(lasting.SIGNS, written["signs"], strict=True)), written["bias"])


if __name__ == "__main__":
    main()
