"""Chooses the most informative sentences of a conversation; none repeats another."""

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
"""Phrases that an assistant puts around its answer."""
HALF_A_YEAR = timedelta(days=183)
LEAST_TERMS: dict[Role, int] = {"user": 2, "assistant": 3}
"""The minimum number of content words of a line; answers contain more words without content."""
NEW_SHARE = 0.3
"""The minimum share of words of a line that no other line contains; else it would repeat one."""
MOST_SENTENCES = 400
"""The maximum number of sentences that are compared, the newest."""
ROLE_WEIGHT: dict[Role, float] = {"user": 1.0, "assistant": 0.4}
"""The weight of a speaker: the user counts more than the assistant; others are not summarised."""
LINE_TOKENS: dict[Role, int] = {"user": 2, "assistant": 5}
"""The cost of a line besides its text: the dash, the break and the speaker."""
MOST_TERMS = 200
FIXED_COST = 12
"""Additional tokens for each line, so that no line wins because it is short."""
HALF_LIFE = 40
"""The number of turns after which a sentence counts half."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A candidate sentence for the summary, with its content words and its cost.

    `said_at` is None if the summary contains it already.
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
    """The most informative sentences within `room` tokens, in their order in the conversation.

    The sentences of the summary so far (`earlier`) compete with the new ones; older ones count less. Words in
    `other_lines`, the other sections, do not count.
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
    """The value of the sentence per cost: words that no line contains yet; frequent words count most."""
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
    """Whether the sentence states something: not only an acknowledgement, and no order to an assistant."""
    text = item.text
    if not says_something(text) or manipulates(text):
        return False
    return item.role == "user" or not _COURTESY.search(text)


def _to_line(sentence: Sentence) -> SummaryItem:
    """The line, with its date if it would mean something else on another day."""
    item, said_at = sentence.item, sentence.said_at
    day = said_at.date().isoformat() if said_at and is_relative(item.text, said_at) else item.day
    return replace(item, id=identity("context", item.text), day=day)


def is_relative(text: str, said_at: datetime) -> bool:
    """Whether the sentence names a time that depends on its date."""
    later = said_at + HALF_A_YEAR
    if time_range(text, said_at) != time_range(text, later):
        return True
    first, second = find(text, said_at.date()), find(text, later.date())
    return first is not None and second is not None and first.first != second.first
