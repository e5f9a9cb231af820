"""`python -m tests.training.remaining`: fits which parts of a memory a statement ends.

The parts come from the labelled conversations for fitting: a part with words that a label calls gone has ended; one
with only words that a label calls kept remains.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from shared.resolution.parts import split_parts
from shared.resolution.remaining import ENDED, count_part_signs
from tests.training import corpus
from tests.training.superseding import conversations, judge_pairs, says
from tests.training.trees import Boosting, Sample, fit, write

OUT = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights" / "remaining.npz"
BOOSTING = Boosting(trees=160, depth=3, rate=0.06, penalty=8.0)


def samples(folder: Path) -> Iterator[Sample]:
    """Every part with a known result."""
    for number, label in enumerate(conversations(folder)):
        told: set[tuple[str, str]] = set()
        for pair, ends in judge_pairs(label):
            said = pair.new.quote or pair.new.text
            parts = split_parts(pair.old.words_said)
            if not ends or len(parts) < 2 or (pair.old.text, said) in told:
                continue
            told.add((pair.old.text, said))
            for part, signs in zip(parts, count_part_signs(parts, said), strict=True):
                gone = any(says(part, each) for each in label.gone)
                if gone != any(says(part, each) for each in label.beside):
                    yield Sample(signs, gone, 1.0, number)


def check(every: Sequence[Sample]) -> None:
    """Prints the share of correctly judged parts, each half by a fit on the other."""
    right = 0
    for half in (0, 1):
        fitted = fit([each for each in every if each.message % 2 != half], BOOSTING)
        unseen = [each for each in every if each.message % 2 == half]
        shares = fitted.estimate([each.signs for each in unseen])
        right += sum((share >= ENDED) == each.kept for share, each in zip(shares, unseen, strict=True))
    print(f"{right / len(every):.3f} of {len(every)} parts right, {sum(each.kept for each in every)} ended")


def main() -> None:
    """Fits and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    every = list(samples(corpus.SETS))
    if given.check:
        check(every)
        return
    print(f"{len(every)} parts; {write(fit(every, BOOSTING), OUT)} bytes")


if __name__ == "__main__":
    main()
