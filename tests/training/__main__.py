"""`python -m tests.training`: fits the weights and writes them; `--check` evaluates on folds instead.

`--pack` fits nothing: it packs the weights that are there again, by the rounding of `fit.HOW`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from shared.classifiers import network
from tests.training import corpus, fit, shrink, vector_fit
from tests.training.adam import write_hidden_layer
from tests.training.corpus import Row
from tests.training.hostile import rows as hostile

FOLDS = 4
SOURCES: dict[str, Callable[[], list[list[Row]]]] = {
    "statements": lambda: [corpus.statement_rows(message) for message in corpus.messages()],
    "feedback": corpus.feedback_rows,
    "intents": corpus.intent_rows,
    "relations": corpus.relation_rows,
    "hostile": hostile.rows,
}

MORE: dict[str, Callable[[], list[list[Row]]]] = {"statements": corpus.natural_statement_rows}
"""Messages by which weights are only rounded."""


def check(messages: Sequence[Sequence[Row]], group: int, lexicon: dict[str, set[str]], how: fit.How) -> None:
    """Precision and recall of the group's classes on messages outside the fit."""
    folds = np.random.default_rng(7).integers(0, FOLDS, len(messages))
    told: list[tuple[str, dict[str, float]]] = []
    for fold in range(FOLDS):
        model = fit.fit([m for m, f in zip(messages, folds, strict=True) if f != fold], lexicon, how)
        start = sum(len(each) for each in model.groups[:group])
        for message in (m for m, f in zip(messages, folds, strict=True) if f == fold and m):
            shares = model.shares([model.find_rows(row.grams) for row in message])
            for row, share in zip(message, shares.tolist(), strict=True):
                if (label := row.labels[group]) is not None:
                    told.append((label, dict(zip(model.groups[group], share[start:], strict=False))))
    none = "none"
    likeliest = sum(max(shares, key=shares.__getitem__) == label for label, shares in told) / len(told)
    print(f"  likeliest class right: {likeliest:.3f} of {len(told)}")
    for least in (0.4, 0.5, 0.6, 0.7, 0.8) if none in told[0][1] else ():
        right = wrong = missed = kept = 0
        for label, shares in told:
            got = max((n for n in shares if n != none), key=shares.__getitem__) if 1 - shares[none] >= least else none
            right += label != none and got == label
            wrong += got not in (none, label)
            missed += label not in (none, got)
            kept += label != none and got != none
        found, there = right + wrong, right + missed
        print(
            f"  at {least}: precision {right / max(found, 1):.3f} recall {right / max(there, 1):.3f}"
            f" | kept at all: {kept / max(found, 1):.3f} {kept / max(there, 1):.3f}"
        )


def main() -> None:
    """Fits or checks, and prints the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="statements, feedback, intents, relations, hostile; all unless told")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--pack", action="store_true")
    given = parser.parse_args()
    words = corpus.lexicon()
    for name, read in SOURCES.items():
        if given.names and name not in given.names:
            continue
        began = time.monotonic()
        messages, how = read(), fit.HOW.get(name, fit.How())
        lexicon = hostile.lexicon() if name == "hostile" else words
        print(f"{name}: {len(messages)} messages, {sum(map(len, messages))} texts")
        if given.check:
            for group in range(len(messages[0][0].labels)):
                check(messages, group, lexicon, how)
        elif given.pack:
            both = [message for message in messages if message], MORE.get(name, list)()
            _write(name, fit.pack_again(network.load(name), how, both))
        else:
            _write(name, fit.fit_parts(messages, lexicon, how, MORE.get(name, list)()))
            if name == "hostile":
                size = write_hidden_layer(vector_fit.fit(*hostile.examples()), _path(f"{name}_vectors"))
                print(f"{name}_vectors: {size} bytes")
        print(f"{time.monotonic() - began:.0f} s")


def _path(name: str) -> Path:
    return corpus.HERE.parents[1] / "shared" / "classifiers" / "weights" / f"{name}.npz"


def _write(name: str, parts: shrink.Parts) -> None:
    path = _path(name)
    shrink.write(parts, path)
    print(f"{name}: {len(parts['halvings'])} grams, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
