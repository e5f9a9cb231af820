"""Which of the two languages a text is in."""

from schemas.vocabulary import Language
from shared.text.patterns import to_pattern

_HAN = to_pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_LATIN = to_pattern("[A-Za-z\u00c0-\u024f]+")
_OTHER = to_pattern("[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]")


def detect(text: str) -> Language:
    """`zh` where Han carries the sentence, `en` where Latin words do; a Han character weighs half a word."""
    sample = text[:2000]
    han, words, other = len(_HAN.findall(sample)), len(_LATIN.findall(sample)), len(_OTHER.findall(sample))
    if other > han and other > words:
        return "other"
    if han == words == 0:
        return "other"
    return "zh" if han * 0.6 >= words else "en"
