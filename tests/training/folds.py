"""Evaluates the labelled sets with weights fitted to the other folds: `python -m tests.training.folds --misses 40`."""

import argparse
from collections.abc import Sequence
from unittest import mock

import numpy as np

from services.cli.evaluate import judge, report
from services.cli.evaluate import score as scoring
from services.cli.evaluate.score import Score
from services.cli.evaluate.sets import Correction, LabelledExtraction, read
from shared.extraction import ObserveContext, ObservePolicy, learned, observe
from tests.training import corpus, fit
from tests.training.corpus import Message, Row

FOLDS = 3


def measure(
    messages: Sequence[Message], rows: Sequence[Sequence[Row]], lexicon: dict[str, set[str]]
) -> dict[str, Score]:
    """The scores of both sets over all folds."""
    scores = {"extraction": Score(), "corrections": Score(), "correction values": Score()}
    labels = {label.text: label for label in read(corpus.SETS, "extraction", LabelledExtraction)}
    changes = {label.text: label for label in read(corpus.SETS, "corrections", Correction)}
    folds = np.random.default_rng(7).integers(0, FOLDS, len(messages))
    for fold in range(FOLDS):
        model = fit.fit(
            [each for each, f in zip(rows, folds, strict=True) if f != fold], lexicon, fit.HOW["statements"]
        )
        with mock.patch.object(learned, "load", lambda _name, model=model: model):
            for message in (m for m, f in zip(messages, folds, strict=True) if f == fold):
                if message.part == "extraction":
                    label = labels[message.text]
                    scoring.extraction(label, _observe_label(label), scores["extraction"])
                elif message.part == "corrections":
                    change = changes[message.text]
                    scoring.correction(
                        change, _observe_label(change), scores["corrections"], scores["correction values"]
                    )
    return scores


def _observe_label(label: LabelledExtraction | Correction):
    context = ObserveContext(occurred_at=judge.AT)
    return observe(judge.turn(label), context, ObservePolicy()).observations


def main() -> None:
    """Prints the scores."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--misses", type=int, default=0)
    given = parser.parse_args()
    messages = corpus.messages()
    rows = [corpus.statement_rows(message) for message in messages]
    report.show(measure(messages, rows, corpus.lexicon()), [], given.misses)


if __name__ == "__main__":
    main()
