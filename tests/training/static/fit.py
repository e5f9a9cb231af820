"""Token vectors whose sum approximates a sentence encoder on natural sentences (the recipe of
Model2Vec, then a fit).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Floats = NDArray[np.float32]
RARE = 1e-4
"""A token of this probability has half the weight of a very rare one (smooth inverse frequency)."""
ROUNDS = 60
CLOSE = 1e-5
CHUNK = 4096
EVERY = 20
"""Every twentieth sentence is excluded from the fit for evaluation."""


@dataclass(frozen=True)
class Fitted:
    """A row for each token of the tokenizer, zeros for those of the other language; cosines to the encoder."""

    rows: Floats
    seen: float
    unseen: float


class Counts:
    """The tokens of each sentence, each weighted by one over the root of their number: a sparse matrix."""

    def __init__(self, tokenizer: Tokenizer, sentences: Sequence[str]) -> None:
        cut = tokenizer.encode_batch(list(sentences), add_special_tokens=False)
        kept = [[n for n in each.ids if n] or [0] for each in cut]
        self.sentences, self.tokens = len(kept), tokenizer.get_vocab_size()
        self._starts = np.concatenate([[0], np.cumsum([len(each) for each in kept])])
        self._columns = np.concatenate([np.asarray(each) for each in kept])
        self._rows = np.repeat(np.arange(len(kept)), [len(each) for each in kept])
        self._worth = np.repeat([1 / math.sqrt(len(each)) for each in kept], [len(each) for each in kept]).astype(
            np.float32
        )
        self._order = np.argsort(self._columns, kind="stable")
        self._met, self._first = np.unique(self._columns[self._order], return_index=True)

    def times(self, of_tokens: Floats) -> Floats:
        """The sum of the tokens' rows for each sentence."""
        out = np.empty((self.sentences, of_tokens.shape[1]), np.float32)
        for at in range(0, self.sentences, CHUNK):
            end = min(at + CHUNK, self.sentences)
            first, last = self._starts[at], self._starts[end]
            parts = of_tokens[self._columns[first:last]] * self._worth[first:last, None]
            out[at:end] = np.add.reduceat(parts, self._starts[at:end] - first)
        return out

    def back(self, of_sentences: Floats) -> Floats:
        """For each token the sum of its sentences' rows."""
        out = np.zeros((self.tokens, of_sentences.shape[1]), np.float32)
        ends = np.append(self._first[1:], len(self._order))
        for at in range(0, len(self._met), CHUNK):
            end = min(at + CHUNK, len(self._met))
            first, last = self._first[at], ends[end - 1]
            order = self._order[first:last]
            parts = of_sentences[self._rows[order]] * self._worth[order, None]
            out[self._met[at:end]] = np.add.reduceat(parts, self._first[at:end] - first)
        return out


def fit_tokens(
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    vectors: Floats,
    tokens: Sequence[str],
    alone: Floats,
    likely: Mapping[str, float],
    dimension: int,
    ridge: float,
) -> Fitted:
    """`vectors` are the encoder's of the sentences, `alone` those of single tokens.

    Both are reduced to their `dimension` principal components. A token without a sentence keeps its own vector.
    """
    mean = vectors.mean(axis=0)
    directions = _principal(vectors - mean, dimension)
    wanted = _unit((vectors - mean) @ directions)
    at = np.array([tokenizer.token_to_id(token) for token in tokens])
    start = np.zeros((tokenizer.get_vocab_size(), dimension), np.float32)
    weights = np.array([RARE / (RARE + likely[token]) for token in tokens], dtype=np.float32)
    start[at] = _unit((alone - alone.mean(axis=0)) @ directions) * weights[:, None]
    seen = np.arange(len(sentences)) % EVERY != 0
    train, test = (
        Counts(tokenizer, [each for each, kept in zip(sentences, seen == part, strict=True) if kept])
        for part in (True, False)
    )
    first = train.times(start)
    start *= float((first * wanted[seen]).sum() / (first * first).sum())
    rows = start + _solve(train, wanted[seen] - train.times(start), ridge)
    return Fitted(rows, _cosine(train.times(rows), wanted[seen]), _cosine(test.times(rows), wanted[~seen]))


def _solve(counts: Counts, left: Floats, ridge: float) -> Floats:
    """The change of the tokens' rows that minimises the residual, by conjugate gradients, each column separately."""
    residual = counts.back(left)
    made, direction = np.zeros_like(residual), residual.copy()
    whole = size = (residual * residual).sum(axis=0)
    for _ in range(ROUNDS):
        applied = counts.back(counts.times(direction)) + ridge * direction
        step = size / np.maximum((direction * applied).sum(axis=0), 1e-12)
        made += step * direction
        residual -= step * applied
        after = (residual * residual).sum(axis=0)
        if float((after / np.maximum(whole, 1e-12)).max()) < CLOSE:
            break
        direction = residual + after / np.maximum(size, 1e-12) * direction
        size = after
    return made


def turn_into(rows: Floats, others: Floats, tokenizer: Tokenizer, pairs: Sequence[Sequence[str]]) -> Floats:
    """`rows` rotated (lengths and angles stay) so that the words of each pair, `others`' first, become similar."""
    theirs = np.array([_of(others, tokenizer, other) for other, _ in pairs])
    ours = np.array([_of(rows, tokenizer, own) for _, own in pairs])
    left, _, right = np.linalg.svd(ours.T @ theirs)
    return (rows @ (left @ right)).astype(np.float32)


def _of(rows: Floats, tokenizer: Tokenizer, text: str) -> Floats:
    return _unit(rows[tokenizer.encode(text, add_special_tokens=False).ids].sum(axis=0)[None])[0]


def _principal(centred: Floats, dimension: int) -> Floats:
    """The directions of highest variance, as columns."""
    _, directions = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return directions[:, ::-1][:, :dimension].astype(np.float32)


def _unit(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _cosine(made: Floats, wanted: Floats) -> float:
    return float((_unit(made) * wanted).sum(axis=1).mean())
