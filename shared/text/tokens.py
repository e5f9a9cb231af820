"""How many tokens a text costs, whichever tokenizer the model has: an estimate that leans upward (seed 004 4.2.1)."""

import math
import re

from shared.text.recall import Recall

# ASCII is reduced to one byte per class, and tokens are counted as patterns of classes: lower case, UPPER case, digit,
# mark (p), space, new line, control.
_TABLE = bytes(
    ord("l") if 97 <= code <= 122
    else ord("u") if 65 <= code <= 90
    else ord("d") if 48 <= code <= 57
    else ord("n") if code == 10
    else ord("s") if code in (9, 32)
    else ord("c") if code < 32 or code == 127
    else ord("p")
    for code in range(256)
)  # fmt: skip
_HEADS = (b"sl", b"pl", b"dl", b"ul", b"nl", b"cl")
_LONG = re.compile(rb"l{10,}")
_INDENT = re.compile(rb"s{2,}")
_FAMILIAR = "".join(
    bytes((row, cell)).decode("gb2312", errors="ignore") for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF)
)
_CLASSES: tuple[tuple[float, re.Pattern[str]], ...] = (
    (1.28, re.compile(f"[{_FAMILIAR}]+")),
    (2.1, re.compile(f"(?:(?![{_FAMILIAR}])[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])+")),
    (1.0, re.compile("[\u2013-\u201d\u2026\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+")),
    (1.1, re.compile("[\u00a0-\u024f\u0370-\u052f\u3040-\u30ff]+")),
    (2.5, re.compile("[\uac00-\ud7af]+")),
    (3.0, re.compile("[\U00010000-\U0010ffff]+")),
)
_BEYOND = re.compile("[^\x00-\x7f]+")
_OTHER_COST = 2.0


_COUNTED = Recall[int]()


def count(text: str) -> int:
    """Tokens of `text`: within about -5% and +30% of what BPE and WordPiece vocabularies make of ordinary text."""
    known = _COUNTED.get(text)
    return _COUNTED.put(text, fresh(text)) if known is None else known


def fresh(text: str) -> int:
    """As `count`, of a text that will not come again."""
    if text.isascii():
        return math.ceil(_ascii(text.encode()))
    plain = text.encode("ascii", errors="replace")
    return math.ceil(_ascii(plain) - (plain.count(b"?") - text.count("?")) + _beyond_ascii(text))


def _ascii(text: bytes) -> float:
    """A word is one token and a little, a third more per letter from the tenth; digits and marks count singly."""
    shape = text.translate(_TABLE)
    words = sum(map(shape.count, _HEADS)) + shape.startswith(b"l")
    tails = sum((len(run) - 7) // 3 for run in _LONG.findall(shape)) if b"llllllllll" in shape else 0
    capitals = (shape.count(b"u") - shape.count(b"ul") + 1) // 2
    marks = shape.count(b"d") + shape.count(b"p") + shape.count(b"c") + 0.25 * shape.count(b"lpl")
    lines = shape.count(b"n") - shape.count(b"nn") + (len(_INDENT.findall(shape)) if b"ss" in shape else 0)
    return 1.08 * words + tails + capitals + marks + lines


def _beyond_ascii(text: str) -> float:
    beyond = "".join(_BEYOND.findall(text))
    cost, rest = 0.0, len(beyond)
    for price, pattern in _CLASSES:
        found = sum(map(len, pattern.findall(beyond)))
        cost += price * found
        rest -= found
    return cost + _OTHER_COST * rest


def head(text: str, limit: int) -> str:
    """The longest beginning of `text`, to about a hundredth, that costs at most `limit` tokens."""
    if limit <= 0:
        return ""
    if count(text) <= limit:
        return text
    low, high = 0, min(len(text), limit * 12)
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (middle, high) if fresh(text[:middle]) <= limit else (low, middle)
    return text[:low]
