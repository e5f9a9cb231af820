"""The fit of what ends a memory: first what both texts say when read together, then what the signs of the pair add.

The network that reads the texts is fitted to all pairs, and to labelled pairs of texts that have no signs. The trees
begin with what it says of pairs that it was not fitted to.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import BoostedTrees, to_share
from shared.classifiers.pair_reader import ENDS, UNREAD, PairReader, read_pairs, read_units, to_odds
from shared.resolution.superseding import WORTH_OF_READING
from tests.training import pair_fit, trees
from tests.training.pair_fit import NOT_ENDS, LabelledPair

Numbers = NDArray[np.float64]
FOLDS = 4
AT_ONCE = 64
PROCESSES = 2


@dataclass(frozen=True)
class PairSample(trees.Sample):
    """A memory and a sentence with their signs; `plain` pairs are of texts that were not written for this."""

    earlier: str
    quote: str
    plain: bool = False


@dataclass(frozen=True)
class PairOfTexts:
    """Two texts with their class (`pair_reader.CLASSES` or NOT_ENDS), without signs."""

    earlier: str
    later: str
    label: int


@dataclass(frozen=True)
class EndingJudge:
    """The network that reads the texts, and the trees that read the signs."""

    reader: PairReader
    trees: BoostedTrees


def fit(samples: Sequence[PairSample], more: Sequence[PairOfTexts]) -> EndingJudge:
    """The judge of these pairs."""
    pairs = _label(samples, more)
    with ProcessPoolExecutor(PROCESSES) as pool:
        every = pool.submit(pair_fit.fit, [pair for pair in pairs if pair])
        start = _score_unseen(samples, pairs, pool)
        return EndingJudge(every.result(), trees.fit(samples, start=start))


def judge_unseen(samples: Sequence[PairSample], more: Sequence[PairOfTexts]) -> list[float]:
    """How likely each pair is to end, by a judge that was fitted to other conversations."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        start = _score_unseen(samples, _label(samples, more), pool)
    found = np.zeros(len(samples))
    for fold in range(FOLDS):
        others = [at for at, each in enumerate(samples) if each.message % FOLDS != fold]
        unseen = [at for at, each in enumerate(samples) if each.message % FOLDS == fold]
        grown = trees.fit([samples[at] for at in others], start=start[others])
        found[unseen] = start[unseen] + grown.score([samples[at].signs for at in unseen])
    return [to_share(float(odds)) for odds in found]


def _label(samples: Sequence[PairSample], more: Sequence[PairOfTexts]) -> list[LabelledPair | None]:
    """The pairs as units, first those of the samples; None where one of a pair has none."""
    texts = {text for each in samples for text in (each.earlier, each.quote)}
    texts |= {text for each in more for text in (each.earlier, each.later)}
    units = {text: read_units(text) for text in sorted(texts)}
    told = [(s.earlier, s.quote, ENDS if s.kept else NOT_ENDS, s.weight, s.plain) for s in samples]
    told += [(each.earlier, each.later, each.label, 1.0, False) for each in more]
    found: list[LabelledPair | None] = []
    for earlier, later, label, weight, plain in told:
        before, after = units[earlier], units[later]
        found.append(LabelledPair(before, after, label, weight, plain) if before and after else None)
    return found


def _score_unseen(samples: Sequence[PairSample], pairs: Sequence[LabelledPair | None], pool: Executor) -> Numbers:
    """What the texts of each sample are worth, by a network that was fitted to other conversations."""
    folds = [each.message % FOLDS for each in samples]
    folds += [at % FOLDS for at in range(len(pairs) - len(samples))]
    known = [(fold, pair) for fold, pair in zip(folds, pairs, strict=True) if pair]
    fitted = [pool.submit(pair_fit.fit, [pair for other, pair in known if other != fold]) for fold in range(FOLDS)]
    found = np.full(len(samples), WORTH_OF_READING * UNREAD)
    for fold, each in enumerate(fitted):
        own = [at for at in range(len(samples)) if folds[at] == fold and pairs[at]]
        own.sort(key=lambda at: len(samples[at].earlier) + len(samples[at].quote))
        reader = each.result()
        for begin in range(0, len(own), AT_ONCE):
            some = own[begin : begin + AT_ONCE]
            read = [(pair.earlier, pair.later) for at in some if (pair := pairs[at])]
            shares = reader.estimate(read_pairs(read, reader.usual))[:, ENDS]
            found[some] = [WORTH_OF_READING * to_odds(share) for share in shares.tolist()]
    return found


def write(judge: EndingJudge, reader: Path, grown: Path) -> int:
    """The bytes of both files."""
    return pair_fit.write(judge.reader, reader) + trees.write(judge.trees, grown)
