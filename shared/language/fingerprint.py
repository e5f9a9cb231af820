"""Hashes of sentences, by which recalled text is recognised and not learnt a second time."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from shared.language.patterns import to_pattern

LEAST_WEIGHT = 12
"""Shorter sentences repeat by chance: a letter or digit weighs 1, a Han character 2."""
MOST_CHARS = 200_000
_BREAK = to_pattern(r"[。！？!?；;\n\r\"“”「」『』…]+|(?<=[^\W\d])[.:](?=\s|$)|</?[A-Za-z_][^<>]{0,600}>")
_UNSAID = to_pattern(r"[\W_]+")
_HAN = to_pattern("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Print:
    """One sentence: its signed hash of 64 bits, and its position."""

    hash: int
    start: int
    end: int


def prints(text: str) -> Iterator[Print]:
    """The sentences of a text that are long enough for recognition, independent of spacing, punctuation and case."""
    text, at = text[:MOST_CHARS], 0
    ends = [*((found.start(), found.end()) for found in _BREAK.finditer(text)), (len(text), len(text))]
    for end, after in ends:
        plain = _UNSAID.sub("", unicodedata.normalize("NFKC", text[at:end]).casefold()) if end - at > 4 else ""
        if len(plain) + len(_HAN.findall(plain)) >= LEAST_WEIGHT:
            digest = blake2b(plain.encode("utf-8", "replace"), digest_size=8).digest()
            yield Print(int.from_bytes(digest, "big", signed=True), at, end)
        at = after
