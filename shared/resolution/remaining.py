"""What a memory says beside that which a statement ends: it stays. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from shared.classifiers.meanings import says_little
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import ALSO, ActiveMemory
from shared.extraction.edited import Content
from shared.language.patterns import to_pattern
from shared.language.segment import has_word
from shared.resolution.ended import find_over, names
from shared.resolution.parts import split_parts
from shared.resolution.related import about
from shared.resolution.roles import find_refilled

_OPENING = to_pattern(r"^(?:and|but|also|plus|so|then|还有|而且|另外|然后|并且)[\s,，]*")
_REASON = to_pattern(
    r"^(?:since|because|cos|'?cause|due to|so that|thanks to)\b|^(?:因为|由于|因|为了|主要是|毕竟|谁让)", re.I
)
"""Begins a part that tells why the part before it is so."""
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
LONGEST = 400
"""Characters at most of what is left of a memory behind the statement that ends the rest; its first parts stay."""


def says_unchanged(part: str) -> bool:
    """Whether the part says of something that it is as it was."""
    return _UNCHANGED.search(part) is not None


def find_remaining(old: ActiveMemory, said: str) -> str:
    """The parts of the memory of which the sentence says nothing, as one text; empty where nothing is left.

    A part is spoken of where both share a term; the part that is nearest in meaning always is. What the sentence calls
    unchanged it does not speak of. Where they share no term and nothing is called unchanged, another thing takes the
    place of the whole: then only the parts that have a subject of their own are left.
    """
    parts = split_parts(old.words_said)
    if len(parts) < 2:
        return ""
    if over := find_over(said, old.words_said):
        return _join(_list_standing(parts, over), old.words_said)
    spoken = split_parts(said)
    changed = [part for part in spoken if not says_unchanged(part)]
    said = "，".join(changed) or said
    terms = about(said).terms
    gone = [bool(about(part).terms & terms) for part in parts]
    replaces_whole = not any(gone) and len(changed) == len(spoken) and not find_refilled(said.lower())
    gone[find_nearest(parts, said)] = True
    gone = [ended or (n > 0 and gone[n - 1] and _hangs_on(parts[n])) for n, ended in enumerate(gone)]
    kept = [part for part, ended in zip(parts, gone, strict=True) if not ended]
    if replaces_whole:
        kept = [part for part in kept if _OWN_SUBJECT.search(part)]
    return _join(kept, old.words_said)


def _hangs_on(part: str) -> bool:
    """Whether the part tells why another is so, or nothing."""
    return _REASON.match(part) is not None or not any(not says_little(term) for term in about(part).terms)


def _list_standing(parts: Sequence[str], over: Sequence[str]) -> list[str]:
    """The parts but those that name what is over, and the details that follow them."""
    standing: list[str] = []
    gone = False
    for part in parts:
        gone = any(names(part, thing) for thing in over) or (
            gone and (_DETAIL.match(part) is not None or _hangs_on(part))
        )
        if not gone:
            standing.append(part)
    return standing


def _join(parts: Sequence[str], text: str) -> str:
    """The parts as one text, as many of the first as it may hold."""
    joint = ", " if text.isascii() else "，"
    lengths = accumulate(len(part) + len(joint) for part in parts)
    return joint.join(_OPENING.sub("", part) for part, length in zip(parts, lengths, strict=True) if length <= LONGEST)


def find_nearest(parts: Sequence[str], said: str) -> int:
    """The place of the part that means most nearly what the sentence does."""
    encoder = load_static_encoder()
    meant = encoder.encode(said)
    return int(np.argmax([encoder.encode(part) @ meant for part in parts]))


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
