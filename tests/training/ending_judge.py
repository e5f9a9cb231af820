"""The fit of what ends a memory: first what a sentence says by itself, then what it adds that it meets this memory.

The words of a sentence tell whether it speaks of a change, whatever the memory: they are fitted to all sentences, and
the trees begin with what they say of a sentence that they were not fitted to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import TextAndTrees, TextSum, to_share
from tests.training import text_fit, trees

Numbers = NDArray[np.float64]
FOLDS = 4
WORTH = 0.4
"""What the words alone count: so much that they do not end what the signs leave alone."""
LEAST_SURE = 1e-3
"""The words are never surer than this either way."""


@dataclass(frozen=True)
class PairSample(trees.Sample):
    """A pair with the sentence of the statement, in which it was read."""

    quote: str


@dataclass(frozen=True)
class _Sentences:
    """Each sentence once, whether it ended anything and where it is from; and which of them each pair has."""

    texts: text_fit.Texts
    ends: NDArray[np.bool_]
    weight: Numbers
    message: NDArray[np.int64]
    of_pair: NDArray[np.int64]


def _read_sentences(samples: Sequence[PairSample]) -> _Sentences:
    place: dict[str, int] = {}
    of_pair = np.asarray([place.setdefault(each.quote, len(place)) for each in samples], np.int64)
    ends = np.zeros(len(place), np.bool_)
    weight, message = np.zeros(len(place)), np.zeros(len(place), np.int64)
    for at, each in zip(of_pair, samples, strict=True):
        ends[at] |= each.kept
        weight[at] = max(weight[at], each.weight)
        message[at] = each.message
    return _Sentences(text_fit.read_texts(list(place), [[0.0]] * len(place)), ends, weight, message, of_pair)


def _fit_text(sentences: _Sentences, chosen: NDArray[np.bool_]) -> text_fit.Fitted:
    return text_fit.fit(sentences.texts, sentences.ends.tolist(), sentences.weight.tolist(), chosen)


def _score_text(sentences: _Sentences, fitted: text_fit.Fitted) -> Numbers:
    """What the words of the sentence of each pair are worth."""
    share = np.clip(text_fit.estimate(sentences.texts, fitted), LEAST_SURE, 1 - LEAST_SURE)
    return WORTH * np.log(share / (1 - share))[sentences.of_pair]


def _score_unseen(sentences: _Sentences, samples: Sequence[PairSample]) -> Numbers:
    """The same, of each sentence by a fit to the others."""
    found = np.zeros(len(samples))
    for fold in range(FOLDS):
        unseen = sentences.message % FOLDS == fold
        scored = _score_text(sentences, _fit_text(sentences, ~unseen))
        found = np.where(unseen[sentences.of_pair], scored, found)
    return found


def fit(samples: Sequence[PairSample]) -> TextAndTrees:
    """The judge of these pairs."""
    sentences = _read_sentences(samples)
    grown = trees.fit(samples, start=_score_unseen(sentences, samples))
    alone = _fit_text(sentences, np.ones(len(sentences.ends), np.bool_))
    vector, words = (np.asarray(each * WORTH, np.float32) for each in (alone.vector, alone.words))
    return TextAndTrees(TextSum(np.zeros(0, np.float32), vector, words, alone.bias * WORTH), grown)


def judge_unseen(samples: Sequence[PairSample]) -> list[float]:
    """How likely each pair is to end, by trees that were fitted to other conversations."""
    start = _score_unseen(_read_sentences(samples), samples)
    found = np.zeros(len(samples))
    for fold in range(FOLDS):
        others = [at for at, each in enumerate(samples) if each.message % FOLDS != fold]
        unseen = [at for at, each in enumerate(samples) if each.message % FOLDS == fold]
        grown = trees.fit([samples[at] for at in others], start=start[others])
        found[unseen] = start[unseen] + grown.score([samples[at].signs for at in unseen])
    return [to_share(float(odds)) for odds in found]


def write(judge: TextAndTrees, path: Path) -> int:
    """The bytes of the file."""
    text = judge.text.parts
    halves = {name: text_fit.shorten(text[name]) for name in ("vector", "words")}
    return trees.write(judge.trees, path, {"text_bias": text["bias"], **halves})
