"""The sentences that say most about a conversation; none repeats another."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from schemas.vocabulary import Role
from services.observer.summary.merge import identity
from services.observer.summary.model import Count, SummaryItem, SummaryMessage, SummaryPolicy, SummaryTurn
from services.observer.summary.questions import ASKS, DEFERS
from shared.extraction import slash
from shared.extraction.dates import find
from shared.extraction.manipulation import manipulates
from shared.language.dates import time_range
from shared.language.normalise import clip, visible
from shared.language.patterns import to_pattern
from shared.language.replies import says_something
from shared.language.segment import query_terms

_SENTENCE = to_pattern(r"[^。！？!?；;\n]+?(?:[。！？!?；;\n]+|\.(?=\s|\Z)|[^\S\n]{6,}|\Z)", re.DOTALL)
_CODE = to_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKS = to_pattern(r"^[\s>#|*•·–—-]+|\*\*|__|`|(?<=\s)\*(?=\S)|(?<=\S)\*(?=\s|\Z)")
_COURTESY = to_pattern(
    r"\A(?:(?:please )?let me know|feel free|would you like|shall i|i'?m (?:here|happy|glad) to|i hope)\b"
    r"|\A(?:如果[您你]?还?(?:需要|有)|需要我|要不要我|希望[这能对]|随时|有(?:什么|任何)(?:需要|问题)|祝[您你]|我[会已]?经?记[住下])",
    re.IGNORECASE,
)
"""What an assistant says around its answer."""
HALF_A_YEAR = timedelta(days=183)
LEAST_TERMS: dict[Role, int] = {"user": 2, "assistant": 3}
"""So many words that carry it a line must have; an answer has more of them that carry nothing."""
NEW_SHARE = 0.3
"""Of a line's words, so many must be said nowhere else; it would repeat another."""
MOST_SENTENCES = 400
"""Sentences of one stretch that are compared, the newest."""
ROLE_WEIGHT: dict[Role, float] = {"user": 1.0, "assistant": 0.4}
"""What the user says counts more than what is answered; whatever else speaks is not summed up."""
LINE_TOKENS: dict[Role, int] = {"user": 2, "assistant": 5}
"""What a line costs beside its words: the dash, the break, and who spoke."""
MOST_TERMS = 200
FIXED_COST = 12
"""Tokens that a line costs beside its own, so that none wins by being short."""
HALF_LIFE = 40
"""Turns after which a sentence counts half as much as a new one."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that could stand in the summary, with the words that carry it and what it costs.

    `said_at` is None for one that stands there already.
    """

    item: SummaryItem
    terms: frozenset[str]
    cost: int
    said_at: datetime | None = None


def choose_context(
    earlier: Iterable[SummaryItem],
    turns: Sequence[SummaryTurn],
    other_lines: Iterable[str],
    policy: SummaryPolicy,
    count: Count,
    room: int,
) -> list[SummaryItem]:
    """The sentences within `room` tokens that together say most, in the order in which they were said.

    `earlier` are those of the summary so far: they compete with the new ones, and the older count less. Words of
    `other_lines`, the other sections, count no more.
    """
    pool = [*(_to_sentence(item, count) for item in earlier), *_read(turns, policy, count)][-MOST_SENTENCES:]
    if not pool:
        return []
    spread = Counter(term for each in pool for term in each.terms)
    covered = {term for text in other_lines for term in query_terms(text, MOST_TERMS)}
    newest = max(each.item.seq for each in pool)
    chosen: list[SummaryItem] = []
    pool = [each for each in pool if each.cost <= room]
    while pool and len(chosen) < policy.maxima["context"]:
        values = [_value(each, spread, covered, newest) for each in pool]
        best = max(range(len(pool)), key=lambda at: (values[at], pool[at].item.seq))
        if values[best] <= 0:
            break
        each = pool.pop(best)
        if _is_told(each.item):
            room -= each.cost
            covered |= each.terms
            chosen.append(_to_line(each))
            pool = [other for other in pool if other.cost <= room]
    return sorted(chosen, key=lambda item: item.seq)


def _value(each: Sentence, spread: Counter[str], covered: set[str], newest: int) -> float:
    """What the sentence adds for what it costs: the words that nothing says yet, those said often most."""
    fresh = each.terms - covered
    if len(each.terms) < LEAST_TERMS[each.item.role] or len(fresh) < NEW_SHARE * len(each.terms):
        return 0.0
    gain = sum(1.0 + (spread[term] - 1) ** 0.5 for term in sorted(fresh))
    age = 0.5 ** ((newest - each.item.seq) / HALF_LIFE)
    return gain * ROLE_WEIGHT[each.item.role] * age / (each.cost + FIXED_COST)


def _to_sentence(item: SummaryItem, count: Count, said_at: datetime | None = None) -> Sentence:
    terms = frozenset(query_terms(item.text, MOST_TERMS))
    return Sentence(item, terms, count(item.text) + LINE_TOKENS[item.role], said_at)


def _read(turns: Iterable[SummaryTurn], policy: SummaryPolicy, count: Count) -> Iterator[Sentence]:
    """The sentences of the turns that state something, in order."""
    for turn in turns:
        for message in turn.messages:
            if message.role in ROLE_WEIGHT:
                for text in split_sentences(message, policy.item_chars):
                    item = SummaryItem("context", "", text, turn.seq, role=message.role)
                    yield _to_sentence(item, count, turn.said_at)


def split_sentences(message: SummaryMessage, most_chars: int) -> list[str]:
    """The sentences of the message that state something: no questions, commands, headings or code."""
    if slash.parse(message.text):
        return []
    statements: list[str] = []
    for match in _SENTENCE.finditer(_CODE.sub("\n", message.text)):
        text = " ".join(_MARKS.sub("", visible(match.group())).split()).rstrip(";；")
        if text and not text.endswith((":", "：")) and not ASKS.search(text) and not DEFERS.search(text):
            statements.append(clip(text, most_chars))
    return statements


def _is_told(item: SummaryItem) -> bool:
    """Whether the sentence tells something: more than that one was heard, and nothing that steers an assistant."""
    text = item.text
    if not says_something(text) or manipulates(text):
        return False
    return item.role == "user" or not _COURTESY.search(text)


def _to_line(sentence: Sentence) -> SummaryItem:
    """The line, with the day on which it was said where it would be read otherwise on another."""
    item, said_at = sentence.item, sentence.said_at
    day = said_at.date().isoformat() if said_at and is_relative(item.text, said_at) else item.day
    return replace(item, id=identity("context", item.text), day=day)


def is_relative(text: str, said_at: datetime) -> bool:
    """Whether the sentence names a time that would be another had it been said half a year later."""
    later = said_at + HALF_A_YEAR
    if time_range(text, said_at) != time_range(text, later):
        return True
    first, second = find(text, said_at.date()), find(text, later.date())
    return first is not None and second is not None and first.first != second.first
