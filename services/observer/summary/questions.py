"""The questions that a turn leaves open, and those that it settles, in Chinese and English."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.observer.summary.model import SummaryMessage, SummaryTurn
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms

_SENTENCE = to_pattern(r"[^。！？!?\n]+?(?:[。！？!?\n]+|\.(?=\s|\Z)|\Z)", re.DOTALL)
ASKS = to_pattern(r"[?？]\s*\Z|(?:吗|呢|么)[。.\s]*\Z")
DEFERS = to_pattern(
    r"(?:回头|以后|之后|晚点|晚些|改天|改日|下次|稍后|到时候?)再"
    r"(?:定|说|看|议|聊|决定|讨论|考虑|商量|研究|确认|答复|回复)"
    r"|先放着|先放一放|先不定|先搁置|待定|再议|还没(?:有)?(?:想好|决定|定下?|结论)|暂时没(?:有)?结论"
    r"|\b(?:decide|discuss|settle|sort|figure|talk|come back|get back|revisit|think|look)\b[^.?!\n]{0,40}\blater\b"
    r"|\bT\.?B\.?[DCA]\b|\bto be (?:decided|determined|confirmed|discussed)\b"
    r"|\b(?:leave|keep) (?:it|this|that|that one) open\b|\bpark (?:it|this|that)\b"
    r"|\b(?:not|haven't|have not) (?:yet )?decided\b|\bundecided\b|\bget back to you\b",
    re.IGNORECASE,
)
_KNOWS_NOT = to_pattern(
    r"不清楚|不知道|不确定|不太确定|没法(?:回答|确定)|无法(?:回答|确定)|需要(?:再)?(?:确认|查一?下)|"
    r"\b(?:don't|do not) know\b|\bnot sure\b|\bno idea\b|\bcan(?:'t|not) (?:say|tell|answer)\b|\bneed to check\b",
    re.IGNORECASE,
)
_SETTLES = to_pattern(
    r"决定|定了|定下来|敲定|就(?:用|选|买|按|定|走|要)|选(?:了|定)|改用|采用|"
    r"\b(?:decided|settled|chose|picked|go(?:ing)? with|let's (?:use|go|take|pick|do))\b|"
    r"\bwe(?:'ll| will) (?:use|go|take|pick|do|store)\b",
    re.IGNORECASE,
)
_HAN = to_pattern("[\u3400-\u9fff]")
MOST = 24
"""The number of last sentences of a message that count: somebody who asks more wants nothing in particular."""
_WORD_SHARE, _HAN_SHARE = 0.4, 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the user that its turn did not answer."""

    text: str
    seq: int


def find_open_questions(turns: Sequence[SummaryTurn]) -> Iterator[Question]:
    """The questions that were not answered or were deferred, in order."""
    for at, turn in enumerate(turns):
        following = turns[at + 1] if at + 1 < len(turns) else None
        for place, message in enumerate(turn.messages):
            if message.role == "user":
                reply = _reply(turn, place, following)
                yield from (Question(text, turn.seq) for text in _left_open(message.text, reply))


def list_asked(turn: SummaryTurn) -> list[str]:
    """All questions of the user in the turn."""
    found = [_sentences(message.text) for message in turn.messages if message.role == "user"]
    return [sentence for sentences in found for sentence in sentences if ASKS.search(sentence)][-MOST:]


def list_settling(turn: SummaryTurn) -> list[str]:
    """The sentences of the user in the turn that settle something."""
    found = [_sentences(message.text) for message in turn.messages if message.role == "user"]
    return [s for sentences in found for s in sentences if _SETTLES.search(s) and not _open_ended(s)][-MOST:]


def speaks_of(sentence: str, question: str) -> bool:
    """Whether the sentence shares enough words with the other; in Chinese, characters: words split variably."""
    wanted, given = query_terms(question), query_terms(sentence)
    han = set(_HAN.findall("".join(wanted)))
    if len(han) >= 4:
        shared = han & set(_HAN.findall("".join(given)))
        return len(shared) >= 3 and len(shared) >= _HAN_SHARE * len(han)
    common = set(wanted) & set(given)
    return bool(common) and len(common) >= min(2, len(set(wanted))) and len(common) >= _WORD_SHARE * len(set(wanted))


def _open_ended(sentence: str) -> bool:
    return bool(ASKS.search(sentence) or DEFERS.search(sentence))


def _left_open(text: str, reply: str | None) -> list[str]:
    sentences = _sentences(text)
    questions = [sentence for sentence in sentences if ASKS.search(sentence)][-MOST:]
    put_off = [sentence for sentence in sentences if DEFERS.search(sentence)][-MOST:]
    if put_off:
        return questions[-1:] or put_off
    unanswered = reply is None or DEFERS.search(reply) or _KNOWS_NOT.search(reply)
    return questions if unanswered else []


def _reply(turn: SummaryTurn, place: int, following: SummaryTurn | None) -> str | None:
    own = _first_assistant(turn.messages[place + 1 :])
    if own is not None or following is None or not following.messages:
        return own
    return _first_assistant(following.messages[:1])


def _first_assistant(messages: Sequence[SummaryMessage]) -> str | None:
    return next((message.text for message in messages if message.role == "assistant" and message.text.strip()), None)


def _sentences(text: str) -> list[str]:
    return [each for match in _SENTENCE.finditer(text) if len(each := match.group().strip()) > 1]
