"""Short messages that put a value right: `no, the 15th`, `not 500, 800`, `是下周四，我看错了`."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.reading.model import Found
from shared.reading.values import values
from shared.relate import AMENDS, SPELLING
from shared.text.patterns import to_pattern

LONGEST_BARE = 12
"""Letters of bare words at most."""
_NUMBER = to_pattern(r"[$€£¥]?\d[\d.,:]*\d(?=$|[,，!！。]|\.$|\. )")
"""A number that stands alone, or before a pause."""
MOST_BARE = 3
"""Words at most behind a mark that says other things as well: `no, the 15th`."""
_STRONG = to_pattern(
    r"\b(?:sorry|oops|whoops|correction|my bad|mistake|meant?|make (?:that|it)|should|typo|wait|scratch)\b|错|岔|混|口误|更正|纠正|应该是|改一下|准确|^\*"
)
"""Marks that say nothing but that something is put right."""
_IS = to_pattern(r"^(?:it'?s)\s+", re.I)
LONGEST_EN, LONGEST_ZH = 9, 18
"""Words, or Chinese characters, of such a message at most."""
_MARK = to_pattern(
    r"^\*\s*(?=\S)|^(?:(?:ugh|oh|ah|hmm+|wait|hang on|sorry|no|nope|oops|whoops|actually|correction|my bad|my mistake|er+m?|um+|scratch that|typo)\b[\s,.!:;—-]*)+"
    r"(?:(?:i|it)?\s*(?:meant?|should (?:be|say|read)|make (?:that|it)|it'?s|was|is)\b\s*)?(?=\S)"
    r"|^(?:i meant?(?: to say)?|make (?:that|it)|(?:that|it) (?:should|was supposed to) (?:be|say|read)|should be|it'?s actually|not(?= [^,，]{1,24}[,，]))\b\s*"
    r"|^(?:(?:啊|哦|噢|呃|唉|哎|诶|嗯)+[，,。\s]*)?(?:(?:我)?(?:看|说|写|打|记|弄|搞)(?:错|岔|混)了|不对|不是|错了|口误|更正(?:一下)?|纠正(?:一下)?|应该是|准确(?:地|来)?说|改一下)[，,。：:\s]*"
)
_ENDS_WITH_MARK = to_pattern(
    r"[，,。\s](?:我)?(?:看|说|写|打|记|弄|搞)(?:错|岔|混)了[。.!！]?$|才对[。.!！]?$|[,.\s](?:my bad|my mistake|typo|sorry)[.!]{0,3}$"
)
_NOT = to_pattern(
    r"(?:^|[\s,，])(?:not|isn'?t|wasn'?t|instead of)\s+(?:the |a |an |on |at |in )?(?P<en>[^,，.;]+?)(?=$|[,，.;]|\s+(?:but|it'?s)\b)"
    r"|(?:^|[，,\s])不是(?P<zh>[^，,。；\s]{1,12})"
)
_OWN_SUBJECT = to_pattern(r"\b(?:i|i'm|my|we|our|you|your|he|she|they)\b|[我你他她咱]")
"""Words of a statement with a subject of its own, which others read."""
_ASKS = to_pattern(r"[?？]|吗$")


def amendment(text: str) -> Found | None:
    """The message as one that puts a value right, with the wrong value where it is named; None where it is no such."""
    said = text.strip()
    size = len(said.split()) if said.isascii() else len(said)
    if not said or size > (LONGEST_EN if said.isascii() else LONGEST_ZH) or _ASKS.search(said):
        return None
    low = said.lower()
    if not (_MARK.match(low) or _ENDS_WITH_MARK.search(low)):
        return _spelling(said)
    if _OWN_SUBJECT.search(_MARK.sub("", _ENDS_WITH_MARK.sub("", low))):
        return None
    denied = _NOT.search(said)
    old = (denied["en"] or denied["zh"]).strip() if denied else None
    rest = _ENDS_WITH_MARK.sub("", _NOT.sub(" ", said) if denied else said)
    rest = re.sub(r"^[\s,，.。]+|[\s,，.。!！]+$", "", rest)
    rest = rest if old else rest[len(_MARK.sub("", rest.lower())) * -1 :]
    strong = _STRONG.search(low) is not None
    if not rest or not (
        old or (values(rest) and (strong or len(rest.split()) <= MOST_BARE)) or (strong and len(rest) <= LONGEST_BARE)
    ):
        return None
    return Found(
        "note",
        None,
        {"value": rest},
        said,
        "correction",
        "amendment",
        "fact",
        0,
        "correction",
        old_value=old,
        flags=(AMENDS,),
    )


def _spelling(said: str) -> Found | None:
    """`It's Karin, with an i`: the right spelling of what was said before, if that has words like it."""
    bare = _IS.sub("", said).strip(" .。!！*")
    head = re.split(r"[,，]", bare)[0].strip()
    number = _NUMBER.match(said)
    if number:
        value, flags = {"value": number[0]}, (AMENDS, SPELLING)
        return Found("note", None, value, said, "correction", "spelling", "fact", 0, "correction", flags=flags)
    if not head or len(said) > 3 * LONGEST_BARE or _OWN_SUBJECT.search(head.lower()):
        return None
    few = head.isascii() and len(head.split()) <= 2 and head[:1].isupper()
    if not few or bare == said.strip(" .。!！*"):
        return None
    value = {"value": head}
    flags = (AMENDS, SPELLING)
    return Found("note", None, value, said, "correction", "spelling", "fact", 0, "correction", flags=flags)
