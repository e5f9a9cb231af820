"""Scores a chunk and the conversation around it by BM25, from postings and ids alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.domain.chunk_ids import ORDINAL_BITS
from shared.language.segment import ALIKE

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.uint64]
"""Two columns: the first and the last 64 bits of each id."""

_HEADER = 20
_ID = np.dtype([("size", ">i4"), ("first", ">u8"), ("last", ">u8")])
_COUNT = np.dtype([("size", ">i4"), ("value", ">i4")])
_MIX = np.uint64(0x9E3779B97F4A7C15)
SEQ = np.uint64((1 << 62) - 1)
SHIFT = np.uint64(ORDINAL_BITS)
KIND = np.uint64(0xF000)
TURN = np.uint64(0x8000)
PRIOR_CHUNKS = 50
"""How many unseen chunks are assumed, because a small memory says little about word frequencies."""
WINDOW: tuple[tuple[int, float], ...] = ((-2, 1.0), (-1, 1.0), (0, 1.0), (1, 1.0), (2, 1.0))


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """The parameters of BM25: saturation, length, and the share of neighbouring messages.

    Of a word in more than `common` chunks only the latest are read, and none if the query has rarer words.
    """

    k1: float = 1.2
    b: float = 0.3
    before: float = 0.35
    after: float = 0.15
    window_k1: float = 0.7
    common: int = 2000
    common_inside: int = 10_000
    inside: int = 10_000
    alike: float = 0.3
    rough: int = 300
    turns: int = 140
    memories: int = 40


DEFAULT_CONTEXT = ContextPolicy()
NO_IDS: Ids = np.zeros((0, 2), dtype=np.uint64)


def read_ids(packed: bytes) -> Ids:
    """The ids of an array in PostgreSQL's format."""
    raw = np.frombuffer(packed, dtype=_ID, offset=_HEADER)
    return np.stack([raw["first"].astype(np.uint64), raw["last"].astype(np.uint64)], axis=1)


def read_counts(packed: bytes) -> tuple[Floats, Floats]:
    """Term frequencies and lengths."""
    raw = np.frombuffer(packed, dtype=_COUNT, offset=_HEADER)["value"].astype(np.int64)
    return (raw >> 16).astype(np.float64), (raw & 0xFFFF).astype(np.float64)


def find_too_common(
    posted: Mapping[str, tuple[bytes, bytes]], query_terms: Collection[str], most: int
) -> frozenset[str]:
    """Terms in so many chunks that not all were read, if the question has rarer terms."""
    common = frozenset(term for term, (packed, _) in posted.items() if len(packed) >= _HEADER + most * _ID.itemsize)
    rarer = any(term in posted and term not in common for term in query_terms)
    return common if rarer else common - frozenset(query_terms)


def _to_keys(of: Ids) -> Ids:
    return of[:, 0] * _MIX ^ (of[:, 1] + (of[:, 1] << np.uint64(7)))


class TurnIndex:
    """The position of chunks: each has its turn and session as numbers; memories have none."""

    def __init__(self, known: Ids) -> None:
        turns = (known[:, 0] & KIND) == TURN
        self.sessions = np.unique(known[turns, 0])

    def turns(self, of: Ids) -> Ints:
        """The turn number of each chunk; -1 for a memory or an unknown session."""
        return number_turns(self.sessions, of[:, 0], (of[:, 1] & SEQ) >> SHIFT)

    def first_half(self, turns: Ints) -> Ids:
        """The first 64 bits of the chunk ids of these turns."""
        return self.sessions[turns >> 32]


def find_preceding(of: Ids) -> Ints:
    """The index of the message before each chunk, in its turn or the one before; -1 if none."""
    turns = TurnIndex(of).turns(of)
    order = np.lexsort((of[:, 1], turns))
    turns = turns[order]
    follows = np.flatnonzero((turns[:-1] >= 0) & (turns[1:] - turns[:-1] <= 1))
    before = np.full(len(of), -1, dtype=np.int64)
    before[order[follows + 1]] = order[follows]
    return before


def number_turns(sessions: NDArray[np.uint64], first: NDArray[np.uint64], seq: NDArray[np.uint64]) -> Ints:
    """A number for each turn, by its session's index; -1 if the session is not among these."""
    at = find_places(sessions, first).astype(np.int64)
    return np.where(at < len(sessions), (at << 32) | seq.astype(np.int64), -1)


def find_places(sorted_keys: NDArray[np.generic], wanted: NDArray[np.generic]) -> NDArray[np.intp]:
    """The index of each key; missing ones point behind the end."""
    if not len(sorted_keys):
        return np.zeros(len(wanted), dtype=np.intp)
    at = np.searchsorted(sorted_keys, wanted)
    inside = np.minimum(at, len(sorted_keys) - 1)
    return np.where(sorted_keys[inside] == wanted, inside, len(sorted_keys))


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """Lexical signals of each candidate, as shares of what all words of the question give together."""

    own: Floats
    window: Floats
    coverage: Floats
    inside: Floats
    """The share of the question's words in the candidate itself."""


def list_newest(inside: Ids, policy: ContextPolicy) -> tuple[Ids, Ids]:
    """The newest of these ids in the form of `LexicalIndex.list_best`: for a question that gives only a time."""
    of_turn = (inside[:, 0] & KIND) == TURN
    turns = inside[of_turn][: policy.turns]
    seqs = (turns[:, 1] & SEQ) >> SHIFT
    return inside[~of_turn][: policy.memories], np.stack([turns[:, 0], seqs], axis=1)


class LexicalIndex:
    """The postings of some terms by chunk, turn and session; `inside` restricts the chunks."""

    def __init__(
        self,
        posted: Mapping[str, tuple[bytes, bytes]],
        chunks: int,
        total: int,
        policy: ContextPolicy,
        inside: Ids | None = None,
    ) -> None:
        self.policy = policy
        self.rows = {term: row for row, term in enumerate(posted)}
        self.average = max(total / max(chunks, 1), 1.0)
        parts = [(read_ids(packed), *read_counts(sizes)) for packed, sizes in posted.values()]
        count = len(parts)
        every = np.concatenate([part[0] for part in parts]) if parts else np.zeros((0, 2), dtype=np.uint64)
        tf = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0)
        length = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0)
        row = np.repeat(np.arange(count), [len(part[0]) for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        df = np.array([len(part[0]) for part in parts], dtype=np.float64)
        if inside is not None:
            kept = np.isin(_to_keys(every), _to_keys(inside))
            every, tf, length, row = every[kept], tf[kept], length[kept], row[kept]
        self.n = max(float(chunks), float(df.max(initial=1.0))) + PRIOR_CHUNKS
        self.idf = np.log(1 + (self.n - df + 0.5) / (df + 0.5))
        self.unseen = float(np.log(1 + (self.n + 0.5) / 0.5))
        self.chunks, first, at = np.unique(_to_keys(every), return_index=True, return_inverse=True)
        self.ids = every[first]
        self.lengths = length[first]
        self.tf = np.zeros((count, len(self.chunks) + 1))
        self.tf[row, at] = tf
        self.places = TurnIndex(every)
        turn = self.places.turns(every)
        said = turn >= 0
        self.turns, at = np.unique(turn[said], return_inverse=True)
        self.turn_tf = np.zeros((count, len(self.turns) + 1))
        np.add.at(self.turn_tf, (row[said], at), tf[said])

    def weigh_terms(self, terms: Sequence[str]) -> tuple[Floats, Floats, float]:
        """The weight of each posting by the term that it matches; the terms' weights, and their sum."""
        shares = np.zeros((len(terms), len(self.rows)))
        for n, term in enumerate(terms):
            for other in ALIKE.get(term, ()):
                if other in self.rows and other not in terms:
                    shares[n, self.rows[other]] = self.policy.alike
            if term in self.rows:
                shares[n, self.rows[term]] = 1.0
        known = shares.any(axis=1)
        own = np.array([self.idf[self.rows[t]] if t in self.rows else self.unseen for t in terms])
        return shares[known], own[known], max(float(own.sum()), 1e-9)

    def _around(self, mixed: Floats, turns: Ints, step: int) -> Floats:
        return mixed[:, find_places(self.turns, np.where(turns >= 0, turns + step, -1))]

    def score(self, terms: Sequence[str], of: Ids, lengths: Floats) -> LexicalScores:
        """The signals of these chunks for these terms."""
        shares, idf, whole = self.weigh_terms(terms)
        own = shares @ self.tf[:, find_places(self.chunks, _to_keys(of))]
        return self.to_scores(shares, idf, whole, own, self.places.turns(of), lengths)

    def score_turns(self, terms: Sequence[str], turns: Ids) -> LexicalScores:
        """The signals of whole turns (first half, number), as if each were one chunk."""
        shares, idf, whole = self.weigh_terms(terms)
        numbers = number_turns(self.places.sessions, turns[:, 0], turns[:, 1])
        own = self._around(shares @ self.turn_tf, numbers, 0)
        return self.to_scores(shares, idf, whole, own, numbers, np.full(len(turns), self.average))

    def score_known(self, terms: Sequence[str], of: Ids) -> LexicalScores:
        """As `score`, with the lengths in the postings; the average for other chunks."""
        lengths = np.append(self.lengths, self.average)[find_places(self.chunks, _to_keys(of))]
        return self.score(terms, of, lengths)

    def to_scores(
        self, shares: Floats, idf: Floats, whole: float, own: Floats, turns: Ints, lengths: Floats
    ) -> LexicalScores:
        p = self.policy
        by_turn = shares @ self.turn_tf
        around = {step: self._around(by_turn, turns, step) for step, _ in WINDOW}
        same, before, after = around[0], around[-1], around[1]
        beside = np.where(turns >= 0, np.maximum(same - own, 0.0), 0.0)
        mixed = own + p.before * (beside + before) + p.after * after
        norm = p.k1 * (1 - p.b + p.b * lengths / self.average)
        score = idf @ (mixed * (p.k1 + 1) / (mixed + norm))
        window = sum((weight * around[step] for step, weight in WINDOW), np.zeros_like(own))
        alone = turns < 0
        window[:, alone] = own[:, alone]
        return LexicalScores(
            own=score / whole,
            window=(idf @ (window * (p.window_k1 + 1) / (window + p.window_k1))) / whole,
            coverage=(idf @ np.minimum(own + beside + before, 1.0)) / whole,
            inside=(idf @ np.minimum(own, 1.0)) / whole,
        )

    def list_best(self, terms: Sequence[str]) -> tuple[Ids, Ids]:
        """The memories (ids) and turns (first half, number) worth reading: with words in them or around them."""
        shares, idf, _ = self.weigh_terms(terms)
        none = np.zeros((0, 2), dtype=np.uint64)
        if not len(shares):
            return none, none
        p = self.policy
        tf = shares @ self.tf[:, :-1]
        norm = p.k1 * (1 - p.b + p.b * self.lengths / self.average)
        rough = idf @ (tf * (p.k1 + 1) / (tf + norm))
        turn = self.places.turns(self.ids)
        memories = list_top(np.where(turn < 0, rough, 0.0), p.memories)
        at = list_top(np.where(turn >= 0, rough, 0.0), p.rough)
        if not len(at):
            return self.ids[memories], none
        by_turn = shares @ self.turn_tf
        seeds = np.unique(turn[at])
        near = np.unique(np.concatenate([seeds + step for step, _ in WINDOW]))
        near = near[(near & 0xFFFFFFFF) > 0]
        around = {step: self._around(by_turn, near, step) for step, _ in WINDOW}
        tf = sum((weight * around[step] for step, weight in WINDOW), np.zeros((len(idf), len(near))))
        mixed = around[0] + p.before * around[-1] + p.after * around[1]
        value = idf @ (tf * (p.window_k1 + 1) / (tf + p.window_k1)) + 2 * (idf @ (mixed * (p.k1 + 1) / (mixed + p.k1)))
        chosen = near[list_top(value, p.turns)]
        return self.ids[memories], _turn_ids(self.places, chosen)


def _turn_ids(places: TurnIndex, turns: Ints) -> Ids:
    if not len(turns):
        return np.zeros((0, 2), dtype=np.uint64)
    return np.stack([places.first_half(turns), (turns & 0xFFFFFFFF).astype(np.uint64)], axis=1)


def list_top(values: Floats, most: int) -> NDArray[np.intp]:
    """The indexes of the greatest positive values, best first."""
    positive = np.flatnonzero(values > 0)
    if len(positive) > most:
        least = np.partition(values[positive], len(positive) - most)[len(positive) - most]
        positive = positive[values[positive] >= least]
    return positive[np.argsort(-values[positive], kind="stable")][:most]
