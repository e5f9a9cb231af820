"""`python -m tests.training.sentence_types`: fits the memory type of a sentence.

The labelled sentences are those of natural and written messages (`corpus/lasting_*.jsonl`), of conversations (`dev`)
and of the tagged corpus. `--check` evaluates each half of the messages with a fit on the other, and `held`.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import VECTOR_SCALE
from shared.classifiers.static_encoder import load_static_encoder
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.lasting import count_type_signs
from shared.extraction.learned import NAMES_ALONE, read
from tests.training import corpus
from tests.training.adam import Weights
from tests.training.tagging import load_unseen_tags

Numbers = NDArray[np.float64]
SAID, TAGGED = 2.0, 1.0
"""The weights of a natural sentence, and of one of the tagged corpus."""
DOUBTFUL = 0.5
"""The weight of a sentence with an uncertain type, or two."""
SURE = 0.6
"""The label values of conversations whose type is certain."""
PENALTY, STEPS, RATE = 8.0, 300, 0.03
BALANCE = 0.6
"""The exponent of the additional weight of a rare type."""
OTHER = "note"
"""The type of a sentence about a thing."""
UNTYPED = frozenset({corpus.SOME, corpus.NONE, corpus.CHANGED})
ROOT = corpus.HERE.parents[1]
OUT = ROOT / "shared" / "classifiers" / "weights" / "sentence_types.npz"
LABELS = ROOT / "tests" / "eval" / "conversations.jsonl"
HELD = "held"
Quote = tuple[str, str, bool]
"""Words, their type, and whether it is certain."""


@dataclass(frozen=True)
class TypedSentence:
    """A sentence, its signs, its possible types, its weight, its message, and its source."""

    text: str
    signs: list[float]
    types: frozenset[str]
    weight: float
    message: int
    source: str


@dataclass(frozen=True)
class FittedClasses:
    """The weights of each sign and vector component for each class, and the bias."""

    classes: tuple[str, ...]
    signs: Numbers
    vector: Numbers
    bias: Numbers


def read_typed_sentences(folder: Path, conversations: Path) -> Iterator[TypedSentence]:
    """Every sentence labelled with a type; those of evaluation conversations have the source `held`."""
    number = 0
    for path in sorted(folder.glob("lasting_*.jsonl")):
        for label in map(json.loads, path.read_text("utf-8").splitlines()):
            number += 1
            source = "written" if label["source"] == "written" else "natural"
            yield from _sentences(label["text"], [(*each,) for each in label["keep"]], SAID, number, source)
    for label in map(json.loads, conversations.read_text("utf-8").splitlines()):
        number += 1
        source = HELD if label["part"] == "held" else "conversations"
        for turn in label["turns"]:
            quotes = [(each["quote"], each["type"], each.get("sure", 1.0) >= SURE) for each in turn.get("keep", ())]
            yield from _sentences(turn["user"], quotes, SAID, number, source)
    for message in corpus.messages():
        number += 1
        quotes = [(message.text[s.start : s.end], s.label, True) for s in message.spans if s.label not in UNTYPED]
        if message.part in ("corpus", "extraction"):
            yield from _sentences(message.text, quotes, TAGGED, number, message.part)


def _sentences(text: str, quotes: Sequence[Quote], counts: float, message: int, source: str) -> Iterator[TypedSentence]:
    if not quotes:
        return
    clauses = split(text)
    verdicts, standing = read(clauses), stances(clauses)
    describe = load_unseen_tags().describe
    for _, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        at = list(places)
        own = slice(at[0], at[-1] + 1)
        begin, end = clauses[at[0]].start, clauses[at[-1]].end
        inside = [
            (kind, sure)
            for words, kind, sure in quotes
            if (start := text.find(words)) >= 0 and start < end and begin < start + len(words)
        ]
        types = frozenset(_to_type(each) for kind, _ in inside for each in kind.split("|") if each)
        if not types:
            continue
        weight = counts * (DOUBTFUL if len(types) > 1 else 1.0) * (1.0 if inside[0][1] else DOUBTFUL)
        signs = count_type_signs(
            text[begin:end], clauses[own], standing[own], verdicts[own], describe(text, begin, end)
        )
        yield TypedSentence(text[begin:end], signs, types, weight, message, source)


def _to_type(kind: str) -> str:
    return OTHER if kind == NAMES_ALONE else kind


def fit(sentences: Sequence[TypedSentence], classes: Sequence[str], chosen: NDArray[np.bool_]) -> FittedClasses:
    """The weights for the types of the chosen sentences: softmax with a penalty, Adam; deterministic."""
    rows, mean, scale = _rows(sentences)
    wanted = np.asarray([[(name in each.types) / len(each.types) for name in classes] for each in sentences])
    weight = (np.asarray([each.weight for each in sentences]) * chosen)[:, None]
    often = (weight * wanted).sum(axis=0)
    weight = weight * (wanted * (often.max() / (often + 1e-9)) ** BALANCE).sum(axis=1, keepdims=True)
    total, moved = float(weight.sum()), Weights(np.zeros((rows.shape[1], len(classes))))
    for step in range(1, STEPS + 1):
        odds = rows @ moved.now
        shares = np.exp(odds - odds.max(axis=1, keepdims=True))
        error = weight * (shares / shares.sum(axis=1, keepdims=True) - wanted)
        slope = rows.T @ error + PENALTY * moved.now
        slope[-1] -= PENALTY * moved.now[-1]
        moved.move(slope / total, RATE * min(1.0, 2 * (1 - step / STEPS) + 0.02))
    signs = moved.now[: len(mean)] / scale[:, None]
    return FittedClasses(tuple(classes), signs, moved.now[len(mean) : -1], moved.now[-1] - mean @ signs)


def _rows(sentences: Sequence[TypedSentence]) -> tuple[Numbers, Numbers, Numbers]:
    counted: Numbers = np.asarray([each.signs for each in sentences], np.float64)
    mean: Numbers = counted.mean(axis=0)
    scale: Numbers = counted.std(axis=0) + 1e-6
    encode = load_static_encoder().encode
    vectors = np.stack([encode(each.text) for each in sentences]) * VECTOR_SCALE
    rows: Numbers = np.column_stack([(counted - mean) / scale, vectors, np.ones(len(counted))]).astype(np.float64)
    return rows, mean, scale


def check(sentences: Sequence[TypedSentence], classes: Sequence[str]) -> None:
    """The share of right types by source, each half judged by a fit on the other."""
    message = np.asarray([each.message for each in sentences])
    source = np.asarray([each.source for each in sentences])
    signs = np.asarray([each.signs for each in sentences])
    vectors = np.stack([load_static_encoder().encode(each.text) for each in sentences]) * VECTOR_SCALE
    right = np.zeros(len(sentences), bool)
    for half in (0, 1):
        unseen = message % 2 == half
        fitted = fit(sentences, classes, ~unseen & (source != HELD))
        got = (signs @ fitted.signs + vectors @ fitted.vector + fitted.bias).argmax(axis=1)
        for place in np.flatnonzero(unseen).tolist():
            right[place] = classes[got[place]] in sentences[place].types
    for name in sorted({each.source for each in sentences}):
        print(f"{name}: {right[source == name].mean():.3f} of {(source == name).sum()}")


def write(fitted: FittedClasses, path: Path) -> int:
    """The bytes of the file."""
    parts = {name: getattr(fitted, name).astype(np.float16) for name in ("vector", "bias")}
    np.savez_compressed(path, classes=np.asarray(fitted.classes), signs=fitted.signs.astype(np.float32), **parts)
    return path.stat().st_size


def main() -> None:
    """Fits and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    sentences = list(read_typed_sentences(corpus.HERE / "corpus", LABELS))
    classes = sorted({kind for each in sentences for kind in each.types})
    if given.check:
        check(sentences, classes)
        return
    fitted = fit(sentences, classes, np.asarray([each.source != HELD for each in sentences]))
    print(f"{OUT.name}: {write(fitted, OUT)} bytes of {len(sentences)} sentences, {', '.join(classes)}")


if __name__ == "__main__":
    main()
