"""What a memory says beside that which a statement ends: it stays. Fitted by `tests/training/remaining.py`. Pure."""

# ruff: noqa: E501 - one family of words per line

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import load_trees
from shared.classifiers.meanings import says_little
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import ALSO, ActiveMemory
from shared.extraction.edited import Content
from shared.extraction.values import like, values
from shared.language.patterns import to_pattern
from shared.language.segment import has_word
from shared.resolution.pair_signs import find_amounts
from shared.resolution.parts import split_parts
from shared.resolution.plain_endings import find_over, names
from shared.resolution.related import About, about
from shared.resolution.roles import find_refilled

_OPENING = to_pattern(r"^(?:and|but|also|plus|so|then|还有|而且|另外|然后|并且)[\s,，]*")
_REASON = to_pattern(
    r"^(?:since|because|cos|'?cause|due to|so that|thanks to)\b|^(?:因为|由于|因|为了|主要是|毕竟|谁让)", re.I
)
"""Begins a part that tells why the part before it is so."""
_NOTE_IT = to_pattern(
    r"^(?:and |so |but )?(?:please |pls |do |just )?(?:keep|remember|note|save|store|bear|memori[sz]e) (?:it|that|this|them)\b"
    r"|^(?:请|麻烦|帮我|你|也|都|就)*(?:记一下|记下来?|记住|记着|记好|存一下|存好|别忘了?|放在手边)(?:这个|它|哦|啊|吧|哈|呀)?$",
    re.I,
)
"""A part that asks to remember what the part before it says: `keep it at hand please`, 帮我记一下."""
_UNCHANGED = to_pattern(
    r"\b(?:same|still|unchanged|as before|like before|holds?|stays?|stands|the rest)\b"
    r"|没变|不变|没换|没改|照旧|照常|照样|还那样|还是那|一样|原来的|没动|不动|不换|依旧|仍"
)
_OWN_SUBJECT = to_pattern(
    r"^(?:and|but|also|plus)\b|\b(?:i|my|we|our|i'm|i've|he|she|his|her|they|it's|don't)\b|[我咱他她别]", re.I
)
_DETAIL = to_pattern(
    r"^(?:\d|[£$€¥]|(?:at|on|in|under|over|up to|about|around|from|for|with|without|by|every|twice|once|weekly|daily|monthly|till|until|starting|per|via|then)\b)"
    r"|^(?:每|一周|一个?月|一天|[一二三四五六七八九十两半\d]+[\u4e00-\u9fff]|住|回来|回程|千万|顺便|连着|从|到|按|大概|差不多|地点|时间|费用|押金|票|酒店|机票)",
    re.I,
)
"""Begins a part that tells when, how often, how much or how of the part before it."""
_WHEN = to_pattern(
    r"\d|\b(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|satur|sun)(?:day)?s?|sat|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b|[周号月点]|星期|礼拜|[一二三四五六七八九十]",
    re.I,
)
"""Names a day, a time or a number."""
Numbers = NDArray[np.float32]
SHOWN = 4
"""So many signs of a part are told of its neighbours, too."""
ENDED = 0.5
"""How likely it must be that a part has ended with what a statement ends."""
LONGEST = 400
"""Characters at most of what is left of a memory behind the statement that ends the rest; its first parts stay."""


def says_unchanged(part: str) -> bool:
    """Whether the part says of something that it is as it was."""
    return _UNCHANGED.search(part) is not None


def find_remaining(old: ActiveMemory, sentence: str) -> str:
    """The parts of the memory that hold beside what the sentence says, as one text; empty where nothing is left.

    The part that is likeliest to have ended always has; what tells why it was so goes with it.
    """
    parts = split_parts(old.words_said)
    if len(parts) < 2:
        return ""
    if over := find_over(sentence, old.words_said):
        return join_parts(_list_standing(parts, over), old.words_said)
    shares = load_trees("remaining").estimate(count_part_signs(parts, sentence))
    least = min(max(shares), ENDED)
    standing: list[str] = []
    gone = False
    for part, share in zip(parts, shares, strict=True):
        gone = share >= least or (gone and _hangs_on(part))
        if not gone:
            standing.append(part)
    return join_parts(standing, old.words_said)


def count_part_signs(parts: Sequence[str], said: str) -> list[list[float]]:
    """What is told of each part beside a sentence that ends some of them, with the same of its neighbours."""
    own = _count_own_signs(parts, said)
    lead = [each[:SHOWN] for each in own]
    none = [0.0] * SHOWN
    before, after = [none, *lead[:-1]], [*lead[1:], none]
    return [[*each, *one, *other, *lead[0]] for each, one, other in zip(own, before, after, strict=True)]


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that ends something, as the parts of a memory are compared with it."""

    text: str
    about: About
    terms: frozenset[str]
    """The terms of what it does not call unchanged."""
    unchanged: frozenset[str]
    over: tuple[str, ...]
    refilled: tuple[frozenset[str], ...]
    amounts: Mapping[str, frozenset[str]]
    values: Sequence[str]
    timed: bool
    parts: int
    calls_unchanged: bool


def _read(sentence: str, changed: Sequence[str], spoken: Sequence[str], memory: str) -> _Said:
    same = [part for part in spoken if says_unchanged(part)]
    return _Said(
        sentence,
        about(sentence),
        about("，".join(changed)).terms,
        frozenset(term for part in same for term in about(part).terms),
        tuple(find_over(sentence, memory)),
        tuple(about(role).terms for role in find_refilled(sentence.lower())),
        find_amounts(sentence.lower()),
        values(sentence),
        _WHEN.search(sentence) is not None,
        len(spoken),
        len(changed) < len(spoken),
    )


def _count_own_signs(parts: Sequence[str], sentence: str) -> list[list[float]]:
    """The signs of each part by itself and among the others; those of their meaning last."""
    spoken = split_parts(sentence) or [sentence]
    changed = [part for part in spoken if not says_unchanged(part)] or spoken
    encode = load_static_encoder().encode
    meant, told = (np.stack([encode(part) for part in texts]) for texts in (parts, spoken))
    whole, nearest = meant @ encode("，".join(changed)), (meant @ told.T).max(axis=1)
    reading = _read(sentence, changed, spoken, "，".join(parts))
    shared = [len(about(part).terms & reading.terms) for part in parts]
    sorts = [len(about(part).sorts & reading.about.sorts) for part in parts]
    timed = [_WHEN.search(part) is not None for part in parts]
    memory = meant @ encode("，".join(parts))
    return [
        [
            4 * float(whole[n]),
            float(shared[n]),
            *_count_words(part, reading),
            4 * float(nearest[n]),
            4 * _lead(whole, n),
            4 * _lead(nearest, n),
            shared[n] / max(1, len(about(part).terms)),
            float(shared[n] == max(shared) and shared[n] > 0),
            float(max(shared) == 0),
            float(shared[n] > 0 and sum(map(bool, shared)) == 1),
            float(sorts[n]),
            float(sorts[n] == max(sorts) and sorts[n] > 0),
            float(timed[n]),
            float(timed[n] and reading.timed),
            float(timed[n] and reading.timed and sum(timed) == 1),
            float(n == 0),
            float(n == len(parts) - 1),
            float(len(parts)),
            4 * float(memory[n]),
            4 * float(meant[n] @ meant[0]),
        ]
        for n, part in enumerate(parts)
    ]


def _count_words(part: str, reading: _Said) -> list[float]:
    """What the words of a part say beside the sentence; the first two are told of its neighbours, too."""
    terms, counted = about(part).terms, find_amounts(part.lower())
    common = counted.keys() & reading.amounts.keys()
    return [
        float(any(names(part, thing) for thing in reading.over)),
        float(bool(common)),
        float(bool(common) and all(reading.amounts[each].isdisjoint(counted[each]) for each in common)),
        float(bool(reading.over)),
        float(any(role & terms for role in reading.refilled)),
        float(bool(reading.refilled)),
        float(any(like(part, value) for value in reading.values)),
        math.log1p(len(part)),
        float(_OWN_SUBJECT.search(part) is not None),
        float(is_detail(part)),
        float(_hangs_on(part)),
        math.log1p(len(reading.text)),
        float(reading.parts),
        float(reading.calls_unchanged),
        float(bool(terms & reading.unchanged)),
        float(not part.isascii()),
    ]


def _lead(numbers: Numbers, place: int) -> float:
    """By how much a number is more than the largest of the others."""
    return float(numbers[place] - np.delete(numbers, place).max())


def _hangs_on(part: str) -> bool:
    """Whether the part tells why another is so, asks to remember it, or says nothing."""
    if _REASON.match(part) or _NOTE_IT.match(part):
        return True
    return all(map(says_little, about(part).terms))


def is_detail(part: str) -> bool:
    """Whether the part tells when, how often, how much or how of the part before it."""
    return _DETAIL.match(part) is not None


def _list_standing(parts: Sequence[str], over: Sequence[str]) -> list[str]:
    """The parts but those that name what is over, and the details that follow them."""
    standing: list[str] = []
    gone = False
    for part in parts:
        gone = any(names(part, thing) for thing in over) or (gone and (is_detail(part) or _hangs_on(part)))
        if not gone:
            standing.append(part)
    return standing


def join_parts(parts: Sequence[str], text: str) -> str:
    """The parts as one text, as many of the first as it may hold."""
    joint = ", " if text.isascii() else "，"
    lengths = accumulate(len(part) + len(joint) for part in parts)
    return joint.join(_OPENING.sub("", part) for part, length in zip(parts, lengths, strict=True) if length <= LONGEST)


def keep_remaining(old: ActiveMemory, rest: str, taken: str | None = None) -> Content:
    """The memory as it is without what has ended, under such keys alone of which it still says the value.

    `taken` is the key of what stands in the place of that.
    """
    also = {key: value for key, value in old.also.items() if has_word(rest, value) and key != taken}
    told = old.value.get("value")
    keyed = old.key not in (None, taken) and isinstance(told, str) and told != old.text and has_word(rest, told)
    speaker = {"speaker": old.speaker} if old.speaker else {}
    value = {**(old.value if keyed else {"value": rest}), "quote": rest, **speaker}
    value = {name: part for name, part in value.items() if name != ALSO} | ({ALSO: also} if also else {})
    polarity = old.polarity if keyed else 0
    return Content(old.type, old.key if keyed else None, value, old.label + rest, polarity, old.flags, old.valid_until)
