"""Signals of candidates -> one score each: words, meaning, the conversation around, who, when, phrases, questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from services.compose.rules import cues
from services.compose.rules.cues import Cues
from services.compose.rules.nearby import Floats, Ids, Semantic, VectorIndex, WordIndex
from shared.place import ORDINAL_BITS


class Said(Protocol):
    """What scoring reads of a candidate."""

    @property
    def text(self) -> str:
        """Its words."""
        ...

    @property
    def said_at(self) -> datetime:
        """When it was said."""
        ...

    @property
    def name(self) -> str | None:
        """Who said it."""
        ...

    @property
    def role(self) -> str | None:
        """In which role."""
        ...

    @property
    def term_count(self) -> int:
        """How long it is."""
        ...


SUBSTANCE = 10
"""So many words, stop words included, are a statement; fewer are rarely more than a greeting or a nod."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal moves the score; all signals are shares of 1, or between -1 and 1."""

    own: float = 1.0
    window: float = 0.8
    session: float = 0.3
    phrase: float = 0.2
    meaning: float = 1.5
    meaning_window: float = 1.1
    meaning_session: float = 0.85
    speaker: float = 0.5
    role: float = 0.15
    date: float = 1.2
    tells_when: float = 0.5
    asking: float = -0.8
    answers: float = 0.5
    substance: float = 0.3

    def scaled(self, words: float, meaning: float) -> "Weights":
        """The same with all that words say, and all that vectors say, times these."""
        return replace(
            self,
            own=self.own * words,
            window=self.window * words,
            session=self.session * words,
            phrase=self.phrase * words,
            meaning=self.meaning * meaning,
            meaning_window=self.meaning_window * meaning,
            meaning_session=self.meaning_session * meaning,
        )


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores by all signals, by words, by cosine; how far each meets the question (0 to 1); the signals themselves."""

    total: Floats
    words: Floats
    meaning: Floats
    support: Floats
    signals: Mapping[str, Floats]


def weigh(
    asked: Cues,
    said: Sequence[Said],
    of: Ids,
    words: WordIndex | None,
    near: VectorIndex | None,
    weights: Weights = DEFAULT_WEIGHTS,
) -> Scored:
    """The score of every candidate for the question; an index that is missing adds nothing."""
    count = len(said)
    made: dict[str, Floats] = {}
    coverage = np.zeros(count)
    if words is not None and asked.terms:
        lengths = np.array([each.term_count for each in said], dtype=np.float64)
        found = words.score(asked.terms, of, lengths)
        made |= {"own": found.own, "window": found.window, "session": found.session}
        made["answers"] = found.before * _after_question(said, of)
        made["phrase"] = _phrases(asked, said, found.hits, words)
        coverage = found.coverage
    meant = near.score(of) if near is not None else Semantic.nothing(count)
    if near is not None:
        made.pop("session", None)  # what vectors say of a session replaces what words say
    made |= {"meaning": meant.own, "meaning_window": meant.window, "meaning_session": meant.session}
    if asked.speaker is not None:
        made["speaker"] = np.array([cues.same_speaker(each.name, asked) for each in said])
    if asked.role is not None:
        made["role"] = np.array([cues.same_role(each.role, asked) for each in said])
    if asked.time is not None:
        made["date"] = np.array([cues.nearness(each.said_at, asked) for each in said])
    if asked.asks_when:
        made["tells_when"] = np.array([float(cues.tells_when(each.text)) for each in said])
    if not asked.asks_asked:
        made["asking"] = np.array([cues.asking(each.text) for each in said])
    made["substance"] = np.array([min(each.term_count / SUBSTANCE, 1.0) for each in said])
    shares = {field.name: float(getattr(weights, field.name)) for field in fields(Weights)}
    total = sum((shares[name] * value for name, value in made.items()), np.zeros(count))
    return Scored(total, made.get("own", np.zeros(count)), meant.own, np.maximum(coverage, meant.stands_out), made)


def _after_question(said: Sequence[Said], of: Ids) -> Floats:
    """1 where the turn before asked something."""
    asked = {
        (int(first), int(last) >> ORDINAL_BITS)
        for (first, last), each in zip(of, said, strict=True)
        if cues.asking(each.text) > 0
    }
    return np.array([float((int(first), (int(last) >> ORDINAL_BITS) - 1) in asked) for first, last in of])


def _phrases(asked: Cues, said: Sequence[Said], hits: NDArray[np.bool_], words: WordIndex) -> Floats:
    """Which share of the question's neighbouring words are neighbours in the text too."""
    found = np.zeros(len(said))
    if not asked.pairs:
        return found
    rows = words.row_of(asked.terms)
    for pair in asked.pairs:
        if pair[0] not in rows or pair[1] not in rows:
            continue
        pattern = cues.phrase(pair)
        for at in map(int, np.flatnonzero(hits[rows[pair[0]]] & hits[rows[pair[1]]])):
            found[at] += pattern.search(said[at].text) is not None
    return found / len(asked.pairs)
