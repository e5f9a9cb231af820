"""Whether a question asks how things were: only then is what is marked outdated an answer (seed 004 section 2.3)."""

# ruff: noqa: E501 - one family of cues per line

import re

from shared.text.patterns import to_pattern

_PAST = to_pattern(
    r"以前|从前|曾经|过去(?!的?(?:[一二两三四五六七八九十几\d]|这))|(?<!日)原来(?!如此|是这|你|这)|原先|起初|最初|最早|当初|当年|当时|那时候?|那会儿?|早先|先前|旧的|老的|上一(?:份|任|个(?:工作|住处|公司|手机))|之前(?!先)|改(?:之|以)?前|换(?:之|以)?前|历史(?:记录|版本)?|变(?:化|更)(?:过|记录)?"
    r"|\b(?:used to|use to|previously|formerly|back then|back in the day|in the past|at (?:that|the) time|at first|originally|initially|once (?:was|had|lived|liked|worked)|before (?:that|then|i|we|this|it)|earlier on|no longer|any ?more|not anymore|former|previous|prior|old (?:job|address|phone|number|name|preference|favou?rite|plan|version)|history of|what (?:did|was|were) (?:i|we|my|our))\b"
    r"|\bbefore[?.!]*$",
    re.IGNORECASE,
)
_ORDERED = to_pattern(
    r"在.{1,16}之前(?:完成|交|做|去|到|提醒|要|必须|先)|\bbefore (?:i|we) (?:go|leave|start|forget)\b|\bfor the (?:previous|past)\b",
    re.IGNORECASE,
)


def asks_past(text: str) -> bool:
    """True for 我以前喜欢什么, what did I use to drink; false where `before` only puts things in order."""
    return _PAST.search(_ORDERED.sub(" ", text[:1000])) is not None
