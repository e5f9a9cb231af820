"""What is read of all that words and meaning point at: the best by what their indexes tell, before any text is read."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from services.compose.rules.planning.cues import Cues
from services.compose.rules.ranking.weigh import DEFAULT_WEIGHTS, best_of_session
from services.compose.rules.searching.bm25 import Floats, Ids, LexicalIndex, LexicalScores
from services.compose.rules.searching.nearness import Semantic, VectorIndex

MOST_TURNS, MOST_MEMORIES = 100, 40
"""What stands further back is not shown: who spoke and what kind of thing is told move no chunk so far."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The ids of memories and the turns (first half, number) that are read for one question.

    `share` is how much that is of all that words and meaning point at.
    """

    memories: frozenset[Pair] = frozenset()
    turns: frozenset[Pair] = frozenset()
    share: float = 1.0


def shorten(
    asked: Cues, pointed: Iterable[tuple[Ids, Ids]], words: LexicalIndex | None, near: VectorIndex | None
) -> Shortlist:
    """The best of these memories and turns.

    All of them where they are few, and where the question names a time: no index tells when something was said.
    """
    memories: dict[Pair, None] = {}
    turns: dict[Pair, None] = {}
    for some, others in pointed:
        memories |= dict.fromkeys((a, b) for a, b in some.tolist())
        turns |= dict.fromkeys((a, seq) for a, seq in others.tolist())
    every = frozenset(memories), frozenset(turns)
    if asked.time is not None or (len(memories) <= MOST_MEMORIES and len(turns) <= MOST_TURNS):
        return Shortlist(*every)
    kept_memories, kept_turns = every
    if len(memories) > MOST_MEMORIES:
        of = np.array(list(memories), dtype=np.uint64)
        lexical = words.score_known(asked.terms, of) if words and asked.terms else None
        kept_memories = choose_best(of, _total(of, lexical, near.score(of) if near else None), MOST_MEMORIES)
    if len(turns) > MOST_TURNS:
        of = np.array(list(turns), dtype=np.uint64)
        lexical = words.score_turns(asked.terms, of) if words and asked.terms else None
        kept_turns = choose_best(of, _total(of, lexical, near.score_turns(of) if near else None), MOST_TURNS)
    share = (len(kept_memories) + len(kept_turns)) / (len(memories) + len(turns))
    return Shortlist(kept_memories, kept_turns, share)


def _total(of: Ids, lexical: LexicalScores | None, meant: Semantic | None) -> Floats:
    """The part of the score (`weigh`) that indexes tell."""
    signals: dict[str, Floats] = {}
    if lexical:
        session = best_of_session(lexical.own, of)
        signals |= {"own": lexical.own, "window": lexical.window, "coverage": lexical.coverage, "session": session}
    if meant:
        signals |= {"meaning": meant.own, "meaning_window": meant.window, "meaning_session": meant.session}
    return sum((getattr(DEFAULT_WEIGHTS, name) * value for name, value in signals.items()), np.zeros(len(of)))


def choose_best(of: Ids, total: Floats, most: int) -> frozenset[Pair]:
    chosen = of[np.argsort(-total, kind="stable")[:most]]
    return frozenset((first, last) for first, last in chosen.tolist())
