"""The normal form of a text: NFKC, no invisible characters, single spaces; and its language."""

import unicodedata
from typing import Literal

from schemas.vocabulary import Language
from shared.language.patterns import to_pattern

# Zero-width and bidirectional controls, soft hyphen, variation selectors, tags, BOM, C0/C1 controls but white space.
_INVISIBLE = to_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"
)
_SPACES = to_pattern(r"[^\S\n]+")
_LINES = to_pattern(r"(?<!\s)\s*\n\s*")
_MARKS = to_pattern("[\u0300-\u036f]")


def visible(text: str) -> str:
    """The text without invisible characters; never longer."""
    return _INVISIBLE.sub("", text)


def normalise(text: str) -> str:
    """NFKC, visible characters only, runs of white space as one space or one line break, trimmed."""
    folded = text if text.isascii() else unicodedata.normalize("NFKC", visible(text))
    return _LINES.sub("\n", _SPACES.sub(" ", visible(folded))).strip()


def fold(text: str) -> str:
    """Lower case without accents on Latin letters, for comparing words."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", lower)))


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, truncated at a sentence or word end if one is near, including the ellipsis."""
    if len(text) <= limit:
        return text
    if limit <= 1:
        return text[: max(limit, 0)]
    head = text[: limit - 1]
    ends = [head.rfind(mark) + 1 for mark in "。！？；.!?\n"]
    cut = max(ends)
    if cut < limit * 0.7:
        cut = max(head.rfind(" "), head.rfind("，") + 1)
    if cut < limit * 0.7:
        cut = len(head)
    return head[:cut].rstrip() + "…"


_HAN = to_pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_LATIN = to_pattern("[A-Za-z\u00c0-\u024f]+")
_OTHER = to_pattern("[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]")


HAN_WEIGHT = 0.6
"""A Han character weighs about half a word."""
MIXED = 0.25
"""From this share on the minor language has content of its own: a smaller share is a name or a term."""


def detect(text: str) -> Language:
    """`zh` if most of the sentence is Han, `en` if it is Latin words."""
    han, words, other = _counts(text)
    if other > han and other > words:
        return "other"
    if han == words == 0:
        return "other"
    return "zh" if han * HAN_WEIGHT >= words else "en"


def list_languages(text: str) -> tuple[Literal["en", "zh"], ...]:
    """The languages of the text: both if it mixes them, none if it has neither."""
    main = detect(text)
    if main == "other":
        return ()
    han, words, _ = _counts(text)
    lesser, whole = min(han * HAN_WEIGHT, words), han * HAN_WEIGHT + words
    return ("en", "zh") if lesser >= max(MIXED * whole, 2) else (main,)


def _counts(text: str) -> tuple[int, int, int]:
    sample = text[:2000]
    return len(_HAN.findall(sample)), len(_LATIN.findall(sample)), len(_OTHER.findall(sample))
