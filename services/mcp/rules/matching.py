"""Finds the memory meant by words: only a clear match may be changed, others are offered for choice."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from shared.language.normalise import fold, normalise

_MARKS = re.compile(r"[\W_]+")
_CJK = re.compile(r"(?<=[\u2e80-\u9fff\uf900-\ufaff]) | (?=[\u2e80-\u9fff\uf900-\ufaff])")
_CHINESE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]")
Memory = TypeVar("Memory", bound=Mapping[str, Any])


def normalize_words(text: str) -> str:
    """Normalised words: one case, one width, no punctuation, no blanks between Chinese characters."""
    return _CJK.sub("", _MARKS.sub(" ", fold(normalise(text))).strip())


def says_same(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words."""
    return normalize_words(one) == normalize_words(other)


def holds_words(content: str, words: str) -> bool:
    """Whether the content says these words, in this order, as whole words."""
    inside, wanted = normalize_words(content), normalize_words(words)
    if not wanted:
        return False
    return f" {wanted} " in f" {inside} " or (bool(_CHINESE.search(wanted)) and wanted in inside)


def pick_meant(found: Sequence[Memory], words: str) -> Memory | None:
    """The memory with exactly this text, else the only one that contains the words; None if that is unclear."""
    for fits in (says_same, holds_words):
        fitting = [each for each in found if fits(each["content"], words)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None
