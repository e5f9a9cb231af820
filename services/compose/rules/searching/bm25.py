"""BM25 and nearness in meaning of a chunk and of the conversation around it, from postings, vectors and ids alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.domain.chunk_ids import ORDINAL_BITS
from shared.language.synonyms import ALIKE
from shared.vectors import Reals, Scale, cosines, estimates, from_bytes

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.uint64]
"""Two columns: the first and the last 64 bits of each id."""

_HEADER = 20
_ID = np.dtype([("size", ">i4"), ("first", ">u8"), ("last", ">u8")])
_COUNT = np.dtype([("size", ">i4"), ("value", ">i4")])
_WHOLE_ID = np.dtype("S16")
"""An id as its bytes: they sort as PostgreSQL sorts them."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SEQ = np.uint64((1 << 62) - 1)
_SHIFT = np.uint64(ORDINAL_BITS)
_KIND = np.uint64(0xF000)
_TURN = np.uint64(0x8000)
PRIOR_CHUNKS = 50
"""A memory of three messages says nothing of how rare a word is: so many unseen ones are assumed beside them."""
WINDOW: tuple[tuple[int, float], ...] = ((-2, 1.0), (-1, 1.0), (0, 1.0), (1, 1.0), (2, 1.0))


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """How words count: saturation, length, and how much the messages before and after lend to a message.

    Of a word that is in more than `common` chunks of a user only the latest are read, and nothing where rarer ones do.
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


def ids(packed: bytes) -> Ids:
    """The ids of an array as PostgreSQL sends it."""
    raw = np.frombuffer(packed, dtype=_ID, offset=_HEADER)
    return np.stack([raw["first"].astype(np.uint64), raw["last"].astype(np.uint64)], axis=1)


def counts(packed: bytes) -> tuple[Floats, Floats]:
    """Term frequencies and lengths."""
    raw = np.frombuffer(packed, dtype=_COUNT, offset=_HEADER)["value"].astype(np.int64)
    return (raw >> 16).astype(np.float64), (raw & 0xFFFF).astype(np.float64)


def too_common(posted: Mapping[str, tuple[bytes, bytes]], asked: Collection[str], most: int) -> frozenset[str]:
    """Terms in so many chunks that not all were read, where rarer terms of the question can do without them."""
    common = frozenset(term for term, (packed, _) in posted.items() if len(packed) >= _HEADER + most * _ID.itemsize)
    rarer = any(term in posted and term not in common for term in asked)
    return common if rarer else common - frozenset(asked)


def _keys(of: Ids) -> Ids:
    return of[:, 0] * _MIX ^ (of[:, 1] + (of[:, 1] << np.uint64(7)))


DEVIATIONS = 5.0
"""So many deviations above the user's other chunks count as 1: something is nearest even where nothing fits."""
PRIOR_VECTORS = 20
"""A few vectors have no distribution worth comparing with: so many of unrelated chunks are assumed beside them."""
PRIOR_SPREAD = 0.25
"""How far lifts of unrelated chunks lie apart."""


class TurnIndex:
    """Where chunks stand: each has its turn and its session as whole numbers; memories stand alone."""

    def __init__(self, known: Ids) -> None:
        turns = (known[:, 0] & _KIND) == _TURN
        self.sessions = np.unique(known[turns, 0])

    def turns(self, of: Ids) -> Ints:
        """The number of each chunk's turn; -1 for a memory or a session that is not known."""
        return number_turns(self.sessions, of[:, 0], (of[:, 1] & _SEQ) >> _SHIFT)

    def first_half(self, turns: Ints) -> Ids:
        """The first 64 bits of the chunk ids of these turns."""
        return self.sessions[turns >> 32]


def find_preceding(of: Ids) -> Ints:
    """Where among these chunks the last message before each stands, of its turn or of the one before; -1: nowhere."""
    turns = TurnIndex(of).turns(of)
    order = np.lexsort((of[:, 1], turns))
    turns = turns[order]
    follows = np.flatnonzero((turns[:-1] >= 0) & (turns[1:] - turns[:-1] <= 1))
    before = np.full(len(of), -1, dtype=np.int64)
    before[order[follows + 1]] = order[follows]
    return before


def number_turns(sessions: NDArray[np.uint64], first: NDArray[np.uint64], seq: NDArray[np.uint64]) -> Ints:
    """A number for each turn, by its session's place among these; -1 where its session is none of them."""
    at = _find(sessions, first).astype(np.int64)
    return np.where(at < len(sessions), (at << 32) | seq.astype(np.int64), -1)


def _find(sorted_keys: NDArray[np.generic], wanted: NDArray[np.generic]) -> NDArray[np.intp]:
    """Where each key stands; those that are not there point behind the end."""
    if not len(sorted_keys):
        return np.zeros(len(wanted), dtype=np.intp)
    at = np.searchsorted(sorted_keys, wanted)
    inside = np.minimum(at, len(sorted_keys) - 1)
    return np.where(sorted_keys[inside] == wanted, inside, len(sorted_keys))


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """What the words say of each candidate; each share is of what all words of the question together can give."""

    own: Floats
    window: Floats
    coverage: Floats
    inside: Floats
    """The share of the question's words that stand in the candidate itself."""


def newest(inside: Ids, policy: ContextPolicy) -> tuple[Ids, Ids]:
    """The first of these ids, newest first, as `WordIndex.best` gives them: for a question that names but a time."""
    of_turn = (inside[:, 0] & _KIND) == _TURN
    turns = inside[of_turn][: policy.turns]
    seqs = (turns[:, 1] & _SEQ) >> _SHIFT
    return inside[~of_turn][: policy.memories], np.stack([turns[:, 0], seqs], axis=1)


class LexicalIndex:
    """The postings of some terms, by chunk, by turn and by session; `inside` bounds which chunks count."""

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
        parts = [(ids(packed), *counts(sizes)) for packed, sizes in posted.values()]
        count = len(parts)
        every = np.concatenate([part[0] for part in parts]) if parts else np.zeros((0, 2), dtype=np.uint64)
        tf = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0)
        length = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0)
        row = np.repeat(np.arange(count), [len(part[0]) for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        df = np.array([len(part[0]) for part in parts], dtype=np.float64)
        if inside is not None:
            kept = np.isin(_keys(every), _keys(inside))
            every, tf, length, row = every[kept], tf[kept], length[kept], row[kept]
        self.n = max(float(chunks), float(df.max(initial=1.0))) + PRIOR_CHUNKS
        self.idf = np.log(1 + (self.n - df + 0.5) / (df + 0.5))
        self.unseen = float(np.log(1 + (self.n + 0.5) / 0.5))
        self.chunks, first, at = np.unique(_keys(every), return_index=True, return_inverse=True)
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
        """How much each row counts for each term that is found itself or by another word; their weights, and of all."""
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
        return mixed[:, _find(self.turns, np.where(turns >= 0, turns + step, -1))]

    def score(self, terms: Sequence[str], of: Ids, lengths: Floats) -> LexicalScores:
        """The signals of these chunks for the question with these terms."""
        shares, idf, whole = self.weigh_terms(terms)
        own = shares @ self.tf[:, _find(self.chunks, _keys(of))]
        return self.to_scores(shares, idf, whole, own, self.places.turns(of), lengths)

    def score_turns(self, terms: Sequence[str], turns: Ids) -> LexicalScores:
        """The signals of whole turns (first half, number), as if all words of each were in one chunk."""
        shares, idf, whole = self.weigh_terms(terms)
        numbers = number_turns(self.places.sessions, turns[:, 0], turns[:, 1])
        own = self._around(shares @ self.turn_tf, numbers, 0)
        return self.to_scores(shares, idf, whole, own, numbers, np.full(len(turns), self.average))

    def score_known(self, terms: Sequence[str], of: Ids) -> LexicalScores:
        """As `score`, with the lengths that the postings tell; that of others is taken for the average."""
        lengths = np.append(self.lengths, self.average)[_find(self.chunks, _keys(of))]
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
        """The ids of memories, and the turns (first half, number) worth a closer look: words there or around."""
        shares, idf, _ = self.weigh_terms(terms)
        none = np.zeros((0, 2), dtype=np.uint64)
        if not len(shares):
            return none, none
        p = self.policy
        tf = shares @ self.tf[:, :-1]
        norm = p.k1 * (1 - p.b + p.b * self.lengths / self.average)
        rough = idf @ (tf * (p.k1 + 1) / (tf + norm))
        turn = self.places.turns(self.ids)
        memories = _top(np.where(turn < 0, rough, 0.0), p.memories)
        at = _top(np.where(turn >= 0, rough, 0.0), p.rough)
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
        chosen = near[_top(value, p.turns)]
        return self.ids[memories], _turn_ids(self.places, chosen)


def _turn_ids(places: TurnIndex, turns: Ints) -> Ids:
    if not len(turns):
        return np.zeros((0, 2), dtype=np.uint64)
    return np.stack([places.first_half(turns), (turns & 0xFFFFFFFF).astype(np.uint64)], axis=1)


def _top(values: Floats, most: int) -> NDArray[np.intp]:
    """The places of the greatest positive values, best first."""
    positive = np.flatnonzero(values > 0)
    if len(positive) > most:
        least = np.partition(values[positive], len(positive) - most)[len(positive) - most]
        positive = positive[values[positive] >= least]
    return positive[np.argsort(-values[positive], kind="stable")][:most]


@dataclass(frozen=True, slots=True)
class Semantic:
    """How far each candidate is nearer than the user's others, 1 for `DEVIATIONS`; 0 where there is no vector."""

    own: Floats
    window: Floats
    session: Floats

    @classmethod
    def nothing(cls, count: int) -> Self:
        """No vectors: no signal."""
        return cls(*(np.zeros(count) for _ in range(3)))


class Vectors(Protocol):
    """Chunks and their vectors by one model, as the store reads them: codes of pages, cosines, or static vectors."""

    @property
    def model_id(self) -> str | None:
        """Whose vectors they are."""
        ...

    @property
    def ids(self) -> bytes:
        """The chunks."""
        ...

    @property
    def codes(self) -> bytes | None:
        """Codes of their vectors."""
        ...

    @property
    def cosines(self) -> bytes | None:
        """Their cosines with the question."""
        ...

    @property
    def statics(self) -> bytes | None:
        """Their kept static vectors."""
        ...


@dataclass(frozen=True, slots=True)
class Lifts:
    """How near chunks are to a question: ids in order, and 0 for what is unrelated, about 1 for what says the same."""

    ids: NDArray[np.bytes_]
    lift: Reals

    def pairs(self) -> Ids:
        """The ids as two columns."""
        return self.ids.view(">u8").reshape(-1, 2).astype(np.uint64)


NOTHING_NEAR = Lifts(np.zeros(0, dtype=_WHOLE_ID), np.zeros(0, dtype=np.float32))


def to_lifts(rows: Sequence[Vectors], asked: Mapping[str, Reals], scales: Mapping[str, Scale]) -> Lifts:
    """All of these chunks on one scale; `asked` has the question's vector by each model."""
    parts = [(np.frombuffer(each.ids, dtype=_WHOLE_ID), _lift(each, asked, scales)) for each in rows if each.ids]
    if not parts:
        return NOTHING_NEAR
    return _in_order(np.concatenate([ids for ids, _ in parts]), np.concatenate([lift for _, lift in parts]))


def _lift(of: Vectors, asked: Mapping[str, Reals], scales: Mapping[str, Scale]) -> Reals:
    name = of.model_id or ""
    if of.codes is not None:
        found = estimates(of.codes, asked[name])
    elif of.cosines is not None:
        found = np.frombuffer(of.cosines, dtype=">f4").astype(np.float32)
    else:
        found = cosines(from_bytes(of.statics or b"", len(asked[name])), asked[name])
    return np.where(found == 0, 0.0, scales[name].lift(found)).astype(np.float32)


def _in_order(of: NDArray[np.bytes_], lift: Reals) -> Lifts:
    """Pages come in order, and what is newer is little: a stable sort by halves takes hardly more than a look."""
    halves = of.view(">u8").reshape(-1, 2)
    first = halves[:, 0].astype(np.uint64)
    if (first[1:] < first[:-1]).any():
        order = np.argsort(first, kind="stable")
        of, lift, halves, first = of[order], lift[order], halves[order], first[order]
    last = halves[:, 1]
    if ((first[1:] == first[:-1]) & (last[1:] < last[:-1])).any():
        order = np.lexsort((last, first))
        return Lifts(of[order], lift[order])
    return Lifts(of, lift)


def _stand_out(lift: Floats) -> Floats:
    """How far each chunk is above the user's others; 0 where there is no vector."""
    whole = len(lift) + PRIOR_VECTORS
    mean = float(lift.sum()) / whole
    spread = float(np.sqrt((np.square(lift - mean).sum() + PRIOR_VECTORS * PRIOR_SPREAD**2) / whole))
    return np.where(lift == 0, 0.0, (lift - mean) / (spread * DEVIATIONS))


class VectorIndex:
    """How near one question is to every chunk of the user, and to the conversation around each."""

    def __init__(self, near: Lifts, policy: ContextPolicy) -> None:
        self.policy = policy
        self.near = near
        pairs = near.pairs()
        self.lift = _stand_out(near.lift.astype(np.float64))
        said = (pairs[:, 0] & _KIND) == _TURN
        first, seq = pairs[said, 0], ((pairs[said, 1] & _SEQ) >> _SHIFT).astype(np.int64)
        new_session = np.ones(len(first), dtype=bool)
        new_session[1:] = first[1:] != first[:-1]
        session = np.cumsum(new_session) - 1
        self.sessions = first[new_session]
        turn = (session << 32) | seq
        new_turn = np.ones(len(turn), dtype=bool)
        new_turn[1:] = turn[1:] != turn[:-1]
        self.turns = turn[new_turn]
        mine = self.lift[said]
        if len(mine):
            starts = np.flatnonzero(new_turn)
            many = np.diff(np.append(starts, len(mine)))
            self.turn_mean = np.append(np.add.reduceat(mine, starts) / many, 0.0)
            self.turn_best = np.append(np.maximum.reduceat(mine, starts), 0.0)
            best = np.maximum.reduceat(mine, np.flatnonzero(new_session))
            self.session_best = np.append(np.maximum(best, 0.0), 0.0)
        else:
            self.turn_mean = self.turn_best = self.session_best = np.zeros(1)
        self.known = np.append(np.ones(len(self.turns)), 0.0)

    def _turns_of(self, of: Ids) -> Ints:
        """The number of each chunk's turn; -1 for a memory or a session without vectors."""
        return number_turns(self.sessions, of[:, 0], (of[:, 1] & _SEQ) >> _SHIFT)

    def windows(self) -> Floats:
        """The window of every turn that has vectors: they stand in order, so that no neighbour has to be looked for."""
        reach = WINDOW[-1][0]
        place = np.cumsum(np.minimum(np.diff(self.turns, prepend=self.turns[:1]), reach + 1)) + reach
        spread, there = np.zeros(place[-1] + reach + 1), np.zeros(place[-1] + reach + 1)
        spread[place], there[place] = self.turn_mean[:-1], 1.0
        total = sum((share * spread[place + step] for step, share in WINDOW), np.zeros(len(place)))
        return total / sum((share * there[place + step] for step, share in WINDOW), np.zeros(len(place)))

    def _window(self, turns: Ints) -> Floats:
        total = np.zeros(len(turns))
        weight = np.zeros(len(turns))
        for step, share in WINDOW:
            at = _find(self.turns, np.where(turns >= 0, turns + step, -1))
            total += share * self.turn_mean[at]
            weight += share * self.known[at]
        return total / np.maximum(weight, 1e-9)

    def score(self, of: Ids) -> Semantic:
        """The signals of these chunks."""
        turns = self._turns_of(of)
        wanted = np.ascontiguousarray(of).astype(">u8").view(_WHOLE_ID).ravel()
        return self.to_scores(np.append(self.lift, 0.0)[_find(self.near.ids, wanted)], turns)

    def score_turns(self, turns: Ids) -> Semantic:
        """The signals of the nearest chunk of each turn (first half, number)."""
        numbers = number_turns(self.sessions, turns[:, 0], turns[:, 1])
        return self.to_scores(self.turn_best[_find(self.turns, numbers)], numbers)

    def to_scores(self, own: Floats, turns: Ints) -> Semantic:
        alone = turns < 0
        return Semantic(
            own=own,
            window=np.where(alone, own, self._window(turns)),
            session=np.where(alone, own, self.session_best[np.where(alone, -1, turns >> 32)]),
        )

    def list_best(self, most: int) -> tuple[Ids, Ids]:
        """The ids of memories, and the turns (first half, number) that are nearest, themselves or with their window."""
        at = _top(self.lift, most)
        pairs = self.near.ids[at].view(">u8").reshape(-1, 2).astype(np.uint64)
        said = (pairs[:, 0] & _KIND) == _TURN
        own = self._turns_of(pairs[said])
        around = self.turns[_top(self.windows(), most // 2)] if len(self.turns) else own
        turns = np.unique(np.concatenate([own, around]))
        if not len(turns):
            return pairs[~said], NO_IDS
        return pairs[~said], np.stack([self.sessions[turns >> 32], (turns & 0xFFFFFFFF).astype(np.uint64)], axis=1)
