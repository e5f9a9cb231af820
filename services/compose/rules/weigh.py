"""Signals of candidates -> one score each: words, meaning, the conversation around, who, when, phrases, questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from services.compose.rules import cues, telling
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

    own: float = 0.6
    window: float = 1.0
    alone: float = 0.4
    session: float = 1.0
    phrase: float = 0.2
    meaning: float = 0.84
    meaning_window: float = 0.6
    meaning_session: float = 0.63
    speaker: float = 0.4
    of_self: float = 0.12
    role: float = 0.15
    date: float = 1.9
    tells_when: float = 0.65
    asking: float = -0.65
    answers: float = 0.3
    named: float = 0.28
    asked_name: float = 0.7
    asked_amount: float = 0.4
    asked_reason: float = 0.3
    substance: float = 0.1

    def scaled(self, words: float, meaning: float) -> "Weights":
        """The same with all that words say, and all that vectors say, times these."""
        return replace(
            self,
            own=self.own * words,
            window=self.window * words,
            alone=self.alone * words,
            session=self.session * words,
            phrase=self.phrase * words,
            meaning=self.meaning * meaning,
            meaning_window=self.meaning_window * meaning,
            meaning_session=self.meaning_session * meaning,
        )


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores by all signals, by words, by meaning; how far each meets the question (0 to 1); the signals themselves."""

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
    asking = np.array([cues.asking(each.text) for each in said])
    if words is not None and asked.terms:
        lengths = np.array([each.term_count for each in said], dtype=np.float64)
        found = words.score(asked.terms, of, lengths)
        made |= {"own": found.own, "window": found.window}
        made["answers"] = found.before * _after_question(asking, of)
        made["phrase"] = _phrases(asked, said, found.hits, words)
        coverage = found.coverage
        if near is None:
            made |= {"alone": found.own, "session": _best_of_session(found.own, of)}
    meant = near.score(of) if near is not None else Semantic.nothing(count)
    made |= {"meaning": meant.own, "meaning_window": meant.window, "meaning_session": meant.session}
    if asked.speaker is not None:
        of_name = {name: cues.same_speaker(name, asked) for name in {each.name for each in said}}
        made["speaker"] = np.array([of_name[each.name] for each in said])
    if asked.role is not None:
        made["role"] = np.array([cues.same_role(each.role, asked) for each in said])
    if asked.time is not None:
        made["date"] = np.array([cues.nearness(each.said_at, asked) for each in said])
    if asked.asks_when:
        made["tells_when"] = np.array([float(cues.tells_when(each.text)) for each in said])
    made |= _told(asked, said, made.get("speaker", 0.0) + made.get("role", np.zeros(count)))
    if not asked.asks_asked:
        made["asking"] = asking
    made["substance"] = np.array([min(each.term_count / SUBSTANCE, 1.0) for each in said])
    shares = {field.name: float(getattr(weights, field.name)) for field in fields(Weights)}
    total = sum((shares[name] * value for name, value in made.items()), np.zeros(count))
    return Scored(total, made.get("own", np.zeros(count)), meant.own, np.maximum(coverage, meant.stands_out), made)


def _told(asked: Cues, said: Sequence[Said], wanted: Floats) -> dict[str, Floats]:
    """What kind of thing the texts tell; of themselves, where those speak who are asked about."""
    known = frozenset(map(hash, asked.known))
    named = np.array([telling.named(each.text, known) for each in said])
    made = {"named": named}
    if wanted.any():
        made["of_self"] = np.array(
            [float(w > 0 and cues.of_self(each.text)) for w, each in zip(wanted, said, strict=True)]
        )
    if "name" in asked.kinds:
        made["asked_name"] = named
    if "amount" in asked.kinds:
        made["asked_amount"] = np.array([float(telling.counts(each.text)) for each in said])
    if "reason" in asked.kinds:
        made["asked_reason"] = np.array([float(telling.reasons(each.text)) for each in said])
    return made


def _after_question(asking: Floats, of: Ids) -> Floats:
    """1 where the turn before asked something."""
    turns = [(first, last >> ORDINAL_BITS) for first, last in of.tolist()]
    asked = {turns[at] for at in np.flatnonzero(asking)}
    return np.array([float((first, seq - 1) in asked) for first, seq in turns])


def _best_of_session(score: Floats, of: Ids) -> Floats:
    """The best score of the session that each candidate stands in; a memory's own."""
    session, at = np.unique(of[:, 0], return_inverse=True)
    best = np.zeros(len(session))
    np.maximum.at(best, at, score)
    return best[at]


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
