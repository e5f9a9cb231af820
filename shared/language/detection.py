"""The language of a text: Chinese, English or other."""

from typing import Literal

from schemas.vocabulary import Language
from shared.language.patterns import to_pattern

_HAN = to_pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_LATIN = to_pattern("[A-Za-z\u00c0-\u024f]+")
_OTHER = to_pattern("[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]")


HAN_WEIGHT = 0.6
"""A Han character weighs about half a word."""
MIXED = 0.25
"""From this share of the whole on the lesser language says something of its own: less is a name or a term."""


def detect(text: str) -> Language:
    """`zh` where Han carries the sentence, `en` where Latin words do."""
    han, words, other = _counts(text)
    if other > han and other > words:
        return "other"
    if han == words == 0:
        return "other"
    return "zh" if han * HAN_WEIGHT >= words else "en"


def list_languages(text: str) -> tuple[Literal["en", "zh"], ...]:
    """The languages that carry the text: both where it mixes them, none where it is in neither."""
    main = detect(text)
    if main == "other":
        return ()
    han, words, _ = _counts(text)
    lesser, whole = min(han * HAN_WEIGHT, words), han * HAN_WEIGHT + words
    return ("en", "zh") if lesser >= max(MIXED * whole, 2) else (main,)


def _counts(text: str) -> tuple[int, int, int]:
    sample = text[:2000]
    return len(_HAN.findall(sample)), len(_LATIN.findall(sample)), len(_OTHER.findall(sample))
