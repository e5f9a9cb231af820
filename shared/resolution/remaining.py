"""What a memory says beside that which a statement ends: it stays. Pure."""

# ruff: noqa: E501 - one family of words per line

import os
from collections.abc import Sequence

import numpy as np

from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import ALSO, ActiveMemory, Statement
from shared.extraction.edited import Content
from shared.extraction.values import like, values
from shared.language.patterns import to_pattern
from shared.language.within import has_word
from shared.resolution.related import about

V = os.environ.get("V", "")
_PART = to_pattern(r"(?:[，,](?!\d)|[。；;!?！？\n]|\.(?=\s|$))+")
_OPENING = to_pattern(r"^(?:and|but|also|plus|so|then|还有|而且|另外|然后|并且)[\s,，]*")
_UNCHANGED = to_pattern(
    r"\b(?:same|still|unchanged|as before|like before|holds?|stays?|stands|the rest)\b"
    r"|没变|不变|没换|没改|照旧|照常|照样|还那样|还是那|一样|原来的|没动|不动|不换|依旧|仍"
)
_ASKS = to_pattern(r"[?？]")
_EDGE = " \t\n,，.。;；!！、"


def split_parts(text: str) -> list[tuple[int, int]]:
    """Where the parts of the text stand, between commas and the ends of sentences."""
    places: list[tuple[int, int]] = []
    start = 0
    for mark in [*_PART.finditer(text), None]:
        end = mark.start() if mark else len(text)
        if text[start:end].strip(_EDGE) and not (mark and _ASKS.search(mark[0])):
            places.append((start, end))
        start = mark.end() if mark else end
    return places


def find_remaining(old: ActiveMemory, said: str) -> str:
    """The parts of the memory that share no word, no sort of thing and no sort of value with the sentence, as one text.

    The sentence ends at least the part that is nearest to it in meaning; where it says that something is as before, it
    ends nothing. Empty where nothing is left.
    """
    text = old.words_said
    parts = [text[start:end].strip(_EDGE) for start, end in split_parts(text)]
    if len(parts) < 2:
        return ""
    changes = [said[start:end] for start, end in split_parts(said)]
    said = "，".join(part for part in changes if not _UNCHANGED.search(part)) or said
    touched = [is_touched(part, said) for part in parts]
    touched[find_nearest(parts, said)] = True
    joint = ", " if text.isascii() else "，"
    left = [_OPENING.sub("", part) for part, gone in zip(parts, touched, strict=True) if not gone]
    return joint.join(part for part in left if part)


def is_touched(part: str, said: str) -> bool:
    """Whether the sentence speaks of what the part says."""
    known, told = about(part), about(said)
    if known.terms & told.terms:
        return True
    if "s" in V and known.sorts & told.sorts:
        return True
    return "v" in V and any(like(part, value) for value in values(said))


def find_nearest(parts: Sequence[str], said: str) -> int:
    """The place of the part that means most nearly what the sentence does."""
    encoder = load_static_encoder()
    return int(np.argmax([encoder.encode(part) @ encoder.encode(said) for part in parts]))


def add_remaining(new: Statement, rest: str) -> Content:
    """The statement, and behind it what is left of the memory that it ends."""
    joint = "; " if new.text.isascii() else "；"
    text = f"{new.text.rstrip(_EDGE)}{joint}{rest}"
    return Content(new.type, new.key, new.details, text, new.polarity, new.flags, new.valid_until)


def keep_remaining(old: ActiveMemory, rest: str) -> Content:
    """The memory as it is without what has ended, under such keys alone of which it still says the value."""
    also = {key: value for key, value in old.also.items() if has_word(rest, value)}
    speaker = {"speaker": old.speaker} if old.speaker else {}
    value = {"value": rest, "quote": rest, **speaker, **({ALSO: also} if also else {})}
    return Content(old.type, None, value, old.label + rest, 0, old.flags, old.valid_until)
