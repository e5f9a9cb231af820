"""The nearness in meaning of a chunk and the conversation around it, by their vectors, and of two texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from services.compose.rules.searching.bm25 import (
    KIND,
    NO_IDS,
    SEQ,
    SHIFT,
    TURN,
    WINDOW,
    ContextPolicy,
    Floats,
    Ids,
    Ints,
    find_places,
    list_top,
    number_turns,
)
from shared.classifiers.static_encoder import load_static_encoder
from shared.language.patterns import to_pattern
from shared.vectors import Reals, Scale, cosines, estimates, from_bytes

_WHOLE_ID = np.dtype("S16")
"""An id as bytes, which sort as in PostgreSQL."""
DEVIATIONS = 5.0
"""How many deviations above the user's other chunks count as 1: something is always nearest."""
PRIOR_VECTORS = 20
"""How many unrelated chunks are assumed, because a few vectors have no useful distribution."""
PRIOR_SPREAD = 0.25
"""The spread of the lifts of unrelated chunks."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """How far each candidate is nearer than the user's others, 1 for `DEVIATIONS`; 0 without a vector."""

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
        """The model of the vectors."""
        ...

    @property
    def ids(self) -> bytes: ...

    @property
    def codes(self) -> bytes | None: ...

    @property
    def cosines(self) -> bytes | None:
        """Their cosines with the question."""
        ...

    @property
    def statics(self) -> bytes | None:
        """Their stored static vectors."""
        ...


@dataclass(frozen=True, slots=True)
class Lifts:
    """The nearness of chunks to a question, sorted by id: 0 is unrelated, about 1 the same."""

    ids: NDArray[np.bytes_]
    lift: Reals

    def pairs(self) -> Ids:
        """The ids as two columns."""
        return self.ids.view(">u8").reshape(-1, 2).astype(np.uint64)


NOTHING_NEAR = Lifts(np.zeros(0, dtype=_WHOLE_ID), np.zeros(0, dtype=np.float32))


def to_lifts(rows: Sequence[Vectors], asked: Mapping[str, Reals], scales: Mapping[str, Scale]) -> Lifts:
    """All of these chunks on one scale; `asked` has the question's vector by each model."""
    parts = [
        (np.frombuffer(each.ids, dtype=_WHOLE_ID), _compute_lift(each, asked, scales)) for each in rows if each.ids
    ]
    if not parts:
        return NOTHING_NEAR
    return _sort_by_id(np.concatenate([ids for ids, _ in parts]), np.concatenate([lift for _, lift in parts]))


def _compute_lift(of: Vectors, queries: Mapping[str, Reals], scales: Mapping[str, Scale]) -> Reals:
    name = of.model_id or ""
    if of.codes is not None:
        nearness = estimates(of.codes, queries[name])
    elif of.cosines is not None:
        nearness = np.frombuffer(of.cosines, dtype=">f4").astype(np.float32)
    else:
        nearness = cosines(from_bytes(of.statics or b"", len(queries[name])), queries[name])
    return np.where(nearness == 0, 0.0, scales[name].lift(nearness)).astype(np.float32)


def _sort_by_id(of: NDArray[np.bytes_], lift: Reals) -> Lifts:
    """Sorts by id. Pages are sorted already and newer chunks few, so that a stable sort by halves is cheap."""
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


def _scale_lift(lift: Floats) -> Floats:
    """How far each chunk is above the user's others; 0 without a vector."""
    whole = len(lift) + PRIOR_VECTORS
    mean = float(lift.sum()) / whole
    spread = float(np.sqrt((np.square(lift - mean).sum() + PRIOR_VECTORS * PRIOR_SPREAD**2) / whole))
    return np.where(lift == 0, 0.0, (lift - mean) / (spread * DEVIATIONS))


class VectorIndex:
    """The nearness of one question to every chunk of the user, and to the conversation around each."""

    def __init__(self, near: Lifts, policy: ContextPolicy) -> None:
        self.policy = policy
        self.near = near
        pairs = near.pairs()
        self.lift = _scale_lift(near.lift.astype(np.float64))
        said = (pairs[:, 0] & KIND) == TURN
        first, seq = pairs[said, 0], ((pairs[said, 1] & SEQ) >> SHIFT).astype(np.int64)
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
        """The turn number of each chunk; -1 for a memory or a session without vectors."""
        return number_turns(self.sessions, of[:, 0], (of[:, 1] & SEQ) >> SHIFT)

    def windows(self) -> Floats:
        """The window of every turn with vectors; they are sorted, so that neighbours are adjacent."""
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
            at = find_places(self.turns, np.where(turns >= 0, turns + step, -1))
            total += share * self.turn_mean[at]
            weight += share * self.known[at]
        return total / np.maximum(weight, 1e-9)

    def score(self, of: Ids) -> Semantic:
        """The signals of these chunks."""
        turns = self._turns_of(of)
        wanted = np.ascontiguousarray(of).astype(">u8").view(_WHOLE_ID).ravel()
        return self.to_scores(np.append(self.lift, 0.0)[find_places(self.near.ids, wanted)], turns)

    def score_turns(self, turns: Ids) -> Semantic:
        """The signals of the nearest chunk of each turn (first half, number)."""
        numbers = number_turns(self.sessions, turns[:, 0], turns[:, 1])
        return self.to_scores(self.turn_best[find_places(self.turns, numbers)], numbers)

    def to_scores(self, own: Floats, turns: Ints) -> Semantic:
        alone = turns < 0
        return Semantic(
            own=own,
            window=np.where(alone, own, self._window(turns)),
            session=np.where(alone, own, self.session_best[np.where(alone, -1, turns >> 32)]),
        )

    def list_best(self, most: int) -> tuple[Ids, Ids]:
        """The memories (ids) and turns (first half, number) that are nearest, alone or with their window."""
        at = list_top(self.lift, most)
        pairs = self.near.ids[at].view(">u8").reshape(-1, 2).astype(np.uint64)
        of_turn = (pairs[:, 0] & KIND) == TURN
        own = self._turns_of(pairs[of_turn])
        around = self.turns[list_top(self.windows(), most // 2)] if len(self.turns) else own
        turns = np.unique(np.concatenate([own, around]))
        if not len(turns):
            return pairs[~of_turn], NO_IDS
        return pairs[~of_turn], np.stack([self.sessions[turns >> 32], (turns & 0xFFFFFFFF).astype(np.uint64)], axis=1)


MOST_SENTENCES = 8
"""How many sentences of a message are compared one by one."""
_SENTENCE = to_pattern(r"(?<=[.!?。！？\n])")


def make_nearness(message: str) -> Callable[[str], float]:
    """How near a text is to the message or to one of its sentences, by static vectors; 0 is unrelated."""
    encoder = load_static_encoder()
    parts = [message, *[each for each in _SENTENCE.split(message) if each.strip()][:MOST_SENTENCES]]
    units = np.stack([encoder.encode(each) for each in dict.fromkeys(parts)])
    return lambda text: float(encoder.scale.lift(units @ encoder.encode(text)).max())


def compare_nearness(one: str, other: str) -> float:
    """How near two texts are, by static vectors: 1 for paraphrases, 0 for unrelated ones."""
    encoder = load_static_encoder()
    return float(encoder.scale.lift(np.asarray([encoder.encode(one) @ encoder.encode(other)]))[0])
