"""`python -m tests.training.lasting`: fits the likelihood that a sentence states something worth storing.

The labelled sentences are those of natural and written messages (`corpus/lasting_*.jsonl`) and of the labelled sets
(`dev`); the first messages of pairs (`corpus/changes_*.jsonl`) are worth storing. `--check` evaluates each half of the
messages with a fit on the other, and `held`.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.extraction import lasting
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.learned import read
from tests.training import corpus
from tests.training.tagging import load_unseen_tags
from tests.training.text_fit import Fitted, Numbers, Texts, estimate, fit, read_texts, write

WEAK = 0.5
"""The weight of a sentence that a person might or might not store."""
NATURAL, WRITTEN = 3.0, 1.0
"""The weights of a natural sentence and of one written for its label."""
WEIGHTS = {"records": 0.3, "people": 3.0, "plain": 1.0}
"""The weights of sentences in these files: the first have many similar ones, the second few."""
SURE = 0.9
"""The label values in a conversation of spans that are certainly worth storing."""
ROOT = corpus.HERE.parents[1]
OUT = ROOT / "shared" / "classifiers" / "weights" / "lasting.npz"
LABELS = ROOT / "tests" / "eval" / "conversations.jsonl"
HELD = "held"
Stretch = tuple[int, int, bool]
"""The start and end in its message of a span worth storing, and whether that is certain."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, its signs, its label, its weight, its message, and its source."""

    text: str
    signs: list[float]
    kept: bool
    weight: float
    message: int
    source: str


def read_sentences(folder: Path, conversations: Path) -> Iterator[Sentence]:
    """Every labelled sentence; those of conversations only for evaluation have the source `held`."""
    number = 0
    for path in sorted(folder.glob("lasting_*.jsonl")):
        for label in _lines(path):
            number += 1
            keep = _places(label["text"], [(said, sure) for said, _, sure in label["keep"]])
            counts = WEIGHTS.get(path.stem.rpartition("_")[2], WRITTEN if label["source"] == "written" else NATURAL)
            yield from _sentences(label["text"], keep, number, label["source"], counts)
    for path in sorted(folder.glob("changes_*.jsonl")):
        for label in _lines(path):
            number += 1
            yield from _sentences(label["old"], [(0, len(label["old"]), True)], number, "changes")
    for message in corpus.messages():
        number += 1
        if message.part == "extraction":
            keep = [(span.start, span.end, not span.maybe) for span in message.spans]
            yield from _sentences(message.text, keep, number, message.part)
    for label in _lines(conversations):
        number += 1
        source = "conversations" if label["part"] == "dev" else HELD
        for turn in label["turns"]:
            if "keep" in turn:
                said = [(each["quote"], each.get("sure", 1.0) >= SURE) for each in turn["keep"]]
                yield from _sentences(turn["user"], _places(turn["user"], said), number, source)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def _places(text: str, said: Sequence[tuple[str, bool]]) -> list[Stretch]:
    found = [(text.find(words), len(words), sure) for words, sure in said]
    return [(start, start + length, sure) for start, length, sure in found if start >= 0]


def _sentences(
    text: str, keep: Sequence[Stretch], message: int, source: str, counts: float = WRITTEN
) -> Iterator[Sentence]:
    clauses = split(text)
    verdicts, standing = read(clauses), stances(clauses)
    describe = load_unseen_tags().describe
    for _, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        at = list(places)
        own = slice(at[0], at[-1] + 1)
        begin, end = clauses[at[0]].start, clauses[at[-1]].end
        tagged = describe(text, begin, end)
        found = [sure for start, stop, sure in keep if start < end and begin < stop]
        signs = lasting.count_signs(text[begin:end], clauses[own], standing[own], verdicts[own], tagged)
        weight = counts if not found or any(found) else counts * WEAK
        yield Sentence(text[begin:end], signs, bool(found), weight, message, source)


def check(sentences: Sequence[Sentence], texts: Texts) -> None:
    """Precision and recall of sentences by threshold and source, each half judged by a fit on the other."""
    message = np.asarray([each.message for each in sentences])
    held = np.asarray([each.source == HELD for each in sentences])
    told = np.zeros(len(sentences))
    for half in (0, 1):
        unseen = message % 2 == half
        fitted = _fit_chosen(sentences, texts, ~unseen & ~held)
        told[unseen] = estimate(texts, fitted)[unseen]
    for source in sorted({each.source for each in sentences}):
        _report(source, sentences, told, np.asarray([each.source == source for each in sentences]))
    _report("all but held", sentences, told, ~held)
    for low in np.arange(0, 1, 0.1):
        inside = (low <= told) & (told < low + 0.1) & ~held
        kept = [each.kept for each, mine in zip(sentences, inside, strict=True) if mine]
        print(f"  {low:.1f} to {low + 0.1:.1f}: {len(kept)} sentences, {sum(kept) / max(1, len(kept)):.2f} kept")


def _fit_chosen(sentences: Sequence[Sentence], texts: Texts, chosen: NDArray[np.bool_]) -> Fitted:
    return fit(texts, [each.kept for each in sentences], [each.weight for each in sentences], chosen)


def _report(name: str, sentences: Sequence[Sentence], told: Numbers, chosen: NDArray[np.bool_]) -> None:
    pairs = [(share, each.kept) for each, share, mine in zip(sentences, told, chosen, strict=True) if mine]
    there = sum(kept for _, kept in pairs)
    print(f"{name}: {len(pairs)} sentences, {there} worth keeping")
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        found = [kept for share, kept in pairs if share >= least]
        print(f"  at {least}: precision {sum(found) / max(1, len(found)):.3f} recall {sum(found) / max(1, there):.3f}")


def main() -> None:
    """Fits and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, default=corpus.HERE / "corpus")
    given = parser.parse_args()
    sentences = list(read_sentences(given.folder, LABELS))
    texts = read_texts([each.text for each in sentences], [each.signs for each in sentences])
    if given.check:
        check(sentences, texts)
        return
    fitted = _fit_chosen(sentences, texts, np.asarray([each.source != HELD for each in sentences]))
    print(f"{OUT.name}: {write(fitted, OUT)} bytes of {len(sentences)} sentences")
    print(dict(zip(lasting.SIGNS, fitted.signs.round(3).tolist(), strict=True)), round(fitted.bias, 3))


if __name__ == "__main__":
    main()
