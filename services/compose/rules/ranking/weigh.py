"""Scores candidates and estimates how likely each helps: words, meaning, context, speaker, time.

A time that a question names finds what was said then, whatever its words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.compose.rules.planning import cues
from services.compose.rules.planning.cues import Cues, score_time
from services.compose.rules.ranking.fuse import OF_BEST
from services.compose.rules.searching.bm25 import (
    DEFAULT_CONTEXT,
    Floats,
    Ids,
    LexicalIndex,
    LexicalScores,
    find_preceding,
)
from services.compose.rules.searching.nearness import Semantic, VectorIndex
from shared.language.dates import Range, time_range


class Passage(Protocol):
    """What scoring reads of a candidate."""

    @property
    def text(self) -> str: ...

    @property
    def said_at(self) -> datetime: ...

    @property
    def name(self) -> str | None: ...

    @property
    def role(self) -> str | None: ...

    @property
    def term_count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal: words, meaning, speaker, time, kind.

    Fitted by `make learn-ranking` on dialogues of both languages, with static vectors and with encoders.
    """

    own: float = 0.63
    window: float = 1.19
    session: float = 0.88
    coverage: float = 1.21
    answers: float = 1.19
    meaning: float = 1.51
    meaning_window: float = 1.49
    meaning_session: float = 0.60
    speaker: float = 0.63
    role: float = 0.47
    date: float = 3.20
    tells_when: float = 1.00
    asking: float = -0.79
    asked_name: float = 0.54
    asked_amount: float = 0.43
    asked_reason: float = 0.20

    def scale_weights(self, words: float, meaning: float) -> "Weights":
        """The same with the weights of words and of vectors scaled."""
        by_words = {name: getattr(self, name) * words for name in BY_WORDS}
        return replace(self, **by_words, **{name: getattr(self, name) * meaning for name in BY_MEANING})


BY_WORDS = ("own", "window", "session", "coverage", "answers")
BY_MEANING = ("meaning", "meaning_window", "meaning_session")
DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Odds:
    """Maps a score to the log odds that a candidate helps; fitted by `make learn-ranking`.

    `first`, `meaning` and `coverage` multiply the greatest score, nearness and word coverage of all candidates of the
    question: if nothing is near, even the nearest is not. `many` multiplies the logarithm of their number. `base` is 5
    % below the fitted value, with which packages of the labelled cases showed more forbidden texts.
    """

    base: float = -1.83
    score: float = 1.13
    first: float = -0.45
    meaning: float = 0.58
    coverage: float = -0.49
    many: float = -0.63
    no_meaning: float = 0.83
    no_words: float = 0.16


DEFAULT_ODDS = Odds()
BEST_OF = ("meaning", "coverage")

QUOTED = 3.0
"""The bonus of a text that contains the whole question word for word."""
ALL_WORDS = 0.99
QUOTATION = 4
"""The least content words of a quotation; fewer occur by chance."""
SHORT = 20
"""The most characters that punctuation and blanks may add to a short text."""
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SignalScores:
    """Scores by all signals, by words and by meaning, the probability that each helps, and the signals."""

    total: Floats
    words: Floats
    meaning: Floats
    probability: Floats
    signals: Mapping[str, Floats]
    quoted: Bools
    """Which texts contain the whole question word for word."""


def score_candidates(
    question: Cues,
    passages: Sequence[Passage],
    of: Ids,
    words: LexicalIndex | None,
    near: VectorIndex | None,
    weights: Weights = DEFAULT_WEIGHTS,
    among: int = 0,
    *,
    beside: bool = False,
) -> SignalScores:
    """The score of every candidate for the question; a missing index adds nothing.

    `among` is the number of candidates of the question if these are only some of them. A query that runs `beside` one
    with vectors is not more likely for having none.
    """
    count = len(passages)
    signals: dict[str, Floats] = {}
    inside = np.full(count, float(words is not None))
    if words is not None and question.terms:
        lengths = np.array([each.term_count for each in passages], dtype=np.float64)
        lexical = words.score(question.terms, of, lengths)
        signals |= {"own": lexical.own, "window": lexical.window, "coverage": lexical.coverage}
        inside = lexical.inside
        signals["session"] = find_session_best(lexical.own, of)
    meant = near.score(of) if near is not None else Semantic.nothing(count)
    signals |= {"meaning": meant.own, "meaning_window": meant.window, "meaning_session": meant.session}
    if question.speaker is not None:
        of_name = {name: cues.compare_speaker(name, question) for name in {each.name for each in passages}}
        signals["speaker"] = np.array([of_name[each.name] for each in passages])
    if question.role is not None:
        signals["role"] = np.array([cues.compare_role(each.role, question) for each in passages])
    if question.time is not None and (question.only_dates or not question.ahead):
        signals["date"] = np.array([cues.score_time(each.said_at, question) for each in passages])
    if question.asks_when:
        signals["tells_when"] = np.array([float(cues.names_time(each.text)) for each in passages])
    asking = np.array([cues.score_questions(each.text) for each in passages])
    if not question.asks_asked:
        signals["asking"] = asking
    if "own" in signals:
        signals["answers"] = _score_answers(passages, of, asking * signals["own"])
    signals |= _flag_kinds(question, passages)
    shares = {field.name: float(getattr(weights, field.name)) for field in fields(Weights)}
    total = sum((shares[name] * value for name, value in signals.items()), np.zeros(count))
    log_odds = _compute_log_odds(total, signals, among or count, DEFAULT_ODDS)
    quoted = flag_quoted(question, passages, inside)
    total, log_odds = total + QUOTED * quoted, log_odds + QUOTED * quoted
    log_odds += DEFAULT_ODDS.no_words * (words is None) + DEFAULT_ODDS.no_meaning * (near is None and not beside)
    chances = 1.0 / (1.0 + np.exp(-log_odds))
    if near is None:  # neither the text nor its context has a word of the question
        chances = np.where(signals.get("window", np.zeros(count)) > 0, chances, 0.0)
    return SignalScores(total, signals.get("own", np.zeros(count)), meant.own, chances, signals, quoted)


def flag_quoted(question: Cues, passages: Sequence[Passage], inside: Floats) -> Bools:
    """Which texts are the question word for word, or contain it if it is long enough for a quotation."""
    quoted = np.zeros(len(passages), dtype=np.bool_)
    for at in np.flatnonzero(inside > ALL_WORDS).tolist() if question.words else ():
        text = passages[at].text
        if len(question.terms) >= QUOTATION:
            quoted[at] = question.words in cues.to_letters(text)
        elif len(text) <= 2 * len(question.words) + SHORT:
            quoted[at] = question.words == cues.to_letters(text)
    return quoted


def _compute_log_odds(total: Floats, signals: Mapping[str, Floats], many: int, odds: Odds) -> Floats:
    """The log odds that each candidate of a question helps."""
    meaning, coverage = (float(signals[each].max(initial=0.0)) if each in signals else 0.0 for each in BEST_OF)
    best = odds.first * float(total.max(initial=0.0)) + odds.meaning * meaning + odds.coverage * coverage
    return odds.base + odds.score * total + best + odds.many * float(np.log1p(many))


def _score_answers(passages: Sequence[Passage], of: Ids, questions: Floats) -> Floats:
    """For answers to an earlier question of somebody else: the weight of the question's words in that one; else 0."""
    before = find_preceding(of)
    chances = np.where(before >= 0, questions[before], 0.0)
    for at in np.flatnonzero(chances).tolist():
        one, other = passages[at], passages[int(before[at])]
        if (one.name, one.role) == (other.name, other.role):
            chances[at] = 0.0
    return chances


def _flag_kinds(question: Cues, passages: Sequence[Passage]) -> dict[str, Floats]:
    """Whether the texts state the kind of thing that is asked for."""
    signals: dict[str, Floats] = {}
    if "name" in question.kinds:
        known = frozenset(map(hash, question.known))
        signals["asked_name"] = np.array([cues.score_names(each.text, known) for each in passages])
    if "amount" in question.kinds:
        signals["asked_amount"] = np.array([float(cues.has_number(each.text)) for each in passages])
    if "reason" in question.kinds:
        signals["asked_reason"] = np.array([float(cues.gives_reason(each.text)) for each in passages])
    return signals


def find_session_best(score: Floats, of: Ids) -> Floats:
    """The best score in the session of each candidate; for a memory its own."""
    session, at = np.unique(of[:, 0], return_inverse=True)
    best = np.zeros(len(session))
    np.maximum.at(best, at, score)
    return best[at]


MOST_TURNS, MOST_MEMORIES = 100, 40
"""The longest shortlists; speaker and kind move no chunk from further back into the result."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The ids of memories and turns (first half, number) that are read for one question.

    `share` is their share of all chunks that words and vectors point at.
    """

    memories: frozenset[Pair] = frozenset()
    turns: frozenset[Pair] = frozenset()
    share: float = 1.0


def make_shortlist(
    question: Cues, pointed: Iterable[tuple[Ids, Ids]], words: LexicalIndex | None, near: VectorIndex | None
) -> Shortlist:
    """The best of these memories and turns.

    All of them if they are few or the question names a time, for which there is no index.
    """
    memories: dict[Pair, None] = {}
    turns: dict[Pair, None] = {}
    for some, others in pointed:
        memories |= dict.fromkeys((a, b) for a, b in some.tolist())
        turns |= dict.fromkeys((a, seq) for a, seq in others.tolist())
    every = frozenset(memories), frozenset(turns)
    if question.time is not None or (len(memories) <= MOST_MEMORIES and len(turns) <= MOST_TURNS):
        return Shortlist(*every)
    kept_memories, kept_turns = every
    if len(memories) > MOST_MEMORIES:
        of = np.array(list(memories), dtype=np.uint64)
        lexical = words.score_known(question.terms, of) if words and question.terms else None
        kept_memories = choose_best(of, _sum_scores(of, lexical, near.score(of) if near else None), MOST_MEMORIES)
    if len(turns) > MOST_TURNS:
        of = np.array(list(turns), dtype=np.uint64)
        lexical = words.score_turns(question.terms, of) if words and question.terms else None
        kept_turns = choose_best(of, _sum_scores(of, lexical, near.score_turns(of) if near else None), MOST_TURNS)
    share = (len(kept_memories) + len(kept_turns)) / (len(memories) + len(turns))
    return Shortlist(kept_memories, kept_turns, share)


def _sum_scores(of: Ids, lexical: LexicalScores | None, meant: Semantic | None) -> Floats:
    """The part of the score (`score_candidates`) that the indexes provide."""
    signals: dict[str, Floats] = {}
    if lexical:
        session = find_session_best(lexical.own, of)
        signals |= {"own": lexical.own, "window": lexical.window, "coverage": lexical.coverage, "session": session}
    if meant:
        signals |= {"meaning": meant.own, "meaning_window": meant.window, "meaning_session": meant.session}
    return sum((getattr(DEFAULT_WEIGHTS, name) * value for name, value in signals.items()), np.zeros(len(of)))


def choose_best(of: Ids, total: Floats, most: int) -> frozenset[Pair]:
    chosen = of[np.argsort(-total, kind="stable")[:most]]
    return frozenset((first, last) for first, last in chosen.tolist())


BESIDE_WORDS = replace(DEFAULT_CONTEXT, turns=40, memories=20)
"""The share of chunks from a named time that is read besides those of the question's words."""
MOST_BY_DATE = 5
"""The most chunks of a named time if none has the question's words."""

SAID_THEN = 0.3
"""The probability of what was said at a time, for a question that gives only that time."""
TOLD_WITHIN = timedelta(days=14)
"""For how long after a time texts that name it count as about it."""


def find_named_span(texts: Iterable[str], now: datetime) -> Range | None:
    """The first past or present time that one of the questions names."""
    return next((span for text in texts if (span := time_range(text, now))), None)


def score_dates(cues: Cues, passages: Sequence[Passage], scored: SignalScores, least: float, now: datetime) -> Floats:
    """The probability of each text under the time that the question names.

    A question that gives only a time is answered only by what was said then or tells of it soon after. Another question
    is answered by the best text of that time if no such text matches in words or meaning and the time is over: a
    question about tonight's dinner is not about what was said today.
    """
    if cues.time is None:
        return scored.probability
    then = np.array([score_time(each.said_at, cues) >= 1.0 for each in passages], dtype=np.bool_)
    if cues.only_dates and then.any():
        meets = then | np.array([_names_time_later(each, cues.time) for each in passages], dtype=np.bool_)
        return np.where(meets, np.maximum(scored.probability, SAID_THEN), 0.0)
    if cues.only_dates:
        return scored.probability
    chance = scored.probability.copy()
    if cues.time[1] <= now and then.any() and chance[then].max() < least:
        inside = np.flatnonzero(then)
        best = inside[np.argsort(-scored.total[inside], kind="stable")][:MOST_BY_DATE]
        chance[best] = max(least, OF_BEST * float(chance.max()))
    return chance


def _names_time_later(passage: Passage, span: Range) -> bool:
    """Whether it was said soon after the time and names it."""
    if not span[1] <= passage.said_at < span[1] + TOLD_WITHIN:
        return False
    named = time_range(passage.text, passage.said_at)
    return named is not None and named[0] < span[1] and span[0] < named[1]
