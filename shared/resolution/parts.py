"""The parts of a text: what stands between commas and the ends of sentences. Pure."""

import re

from shared.language.patterns import to_pattern

_PART = to_pattern(
    r"(?:[，,](?!\d)|[。；;!?！？\n]|(?<!\b(?:Dr|Mr|Ms|St|vs))(?<!\bMrs)\.(?=\s|$)"
    r"|\s+(?=(?:and|but) (?:i|i'm|i've|we|my|our|he|she|they|am|have|also|work|study|run|own|use|like|love|hate)\b))+",
    re.I,
)
_ASKS = to_pattern(r"[?？]")
EDGE = " \t\n,，.。;；!！、"
"""What stands around a part and is none of it."""


def split_parts(text: str) -> list[str]:
    """The parts of the text between commas and the ends of sentences, without questions."""
    parts: list[str] = []
    start = 0
    for mark in [*_PART.finditer(text), None]:
        part = text[start : mark.start() if mark else len(text)].strip(EDGE)
        if part and not (mark and _ASKS.search(mark[0])):
            parts.append(part)
        start = mark.end() if mark else len(text)
    return parts
