"""Whether a text has a word, and not merely its letters: `ham` is not in `hamburger`, 米 is not in 米粉."""

import re

from shared.cache import of_texts
from shared.language import segment
from shared.language.normalise import fold

_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTER = "[0-9a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]"
"""A Latin letter or digit, folded."""
_ALONE = re.compile(r"(?<![A-Za-z0-9'’])[B-HJ-Zb-hj-z](?![A-Za-z0-9'’])")
_NAMED_A = re.compile(r"(?<=[a-z] )A(?![A-Za-z0-9'’])|(?<=[\u3400-\u9fff])[Aa](?![A-Za-z0-9])")


def has_word(text: str, word: str) -> bool:
    """Whether the word stands in the text, in the singular or the plural.

    One Chinese character stands there as a word of its own, or at the end of one: 绿茶 is a kind of 茶.
    """
    word = fold(word.strip())
    if len(word) == 1 and _HAN.match(word):
        return any(each == word or (word in segment.LONE and each.endswith(word)) for each in segment.words(text))
    return bool(word) and _pattern(word).search(fold(text)) is not None


@of_texts(512)
def _pattern(word: str) -> re.Pattern[str]:
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = rf"(?:e?s)?(?!{_LETTER})" if re.search(rf"{_LETTER}$", word) else ""
    return re.compile(before + re.escape(word) + after)


def letters(text: str) -> frozenset[str]:
    """The letters that stand alone and name something: vitamin C, unit b; not the English words a and I."""
    return frozenset(found.lower() for found in _ALONE.findall(text)) | frozenset("a" for _ in _NAMED_A.findall(text))
