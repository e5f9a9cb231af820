"""The cost of regular expressions: the time of each, and the texts that cost it most."""

import gc
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any, cast

from shared.language.patterns import LazyPattern

code: Any = import_module("re._constants")
parser: Any = import_module("re._parser")
SHAPES = {
    "one letter": "a",
    "digits": "1",
    "dots": ".",
    "dotted digits": "1.1.",
    "brackets": "([{（【",
    "blanks": " ",
    "lines": "a\n",
    "han": "我",
    "mixed scripts": "a中1Б ",
    "nested quotes": "“「\"'『",
    "short words": "I am my ",
    "capitals": "Ab C",
    "paths": "a/b.c",
    "clauses": "我喜欢茶，而且不是咖啡。",
    "values": "a=1:b ",
}
"""Pathological texts, by name: one repeated piece."""
METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")
Read = Callable[[str], object]


def said(piece: str, chars: int) -> str:
    """This many characters of it."""
    return (piece * (chars // len(piece) + 1))[:chars]


@dataclass
class Looks:
    """By pattern: the seconds in use, the longest text, and the method."""

    took: dict[str, float] = field(default_factory=dict[str, float])
    longest: dict[tuple[str, int, str], int] = field(default_factory=dict[tuple[str, int, str], int])

    def look(self, at: Callable[..., Any], name: str, *args: Any, of: tuple[str, int], **more: Any) -> Any:
        """The method's result; its time is recorded."""
        text = args[1] if name == "sub" else args[0]
        began = time.thread_time()
        found = at(*args, **more)
        found = iter(list(found)) if name == "finditer" else found
        self.took[of[0]] = self.took.get(of[0], 0.0) + time.thread_time() - began
        key = (*of, name)
        self.longest[key] = max(self.longest.get(key, 0), len(text))
        return found


class _Counted:
    """A compiled pattern whose use is recorded."""

    def __init__(self, looks: Looks, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        for name in METHODS:
            of = (pattern.pattern, pattern.flags)
            setattr(self, name, partial(looks.look, getattr(pattern, name), name, of=of))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)


_compiled = cache(cast("Callable[..., re.Pattern[str]]", getattr(re, "_compile")))  # noqa: B009


@contextmanager
def count_looks() -> Iterator[Looks]:
    """Records every use of every pattern of the product, those inside functions included."""
    looks = Looks()
    gc.unfreeze()  # frozen objects are not listed otherwise
    lazy = [each for each in gc.get_objects() if type(each) is LazyPattern]
    gc.freeze()
    before = [dict(vars(each)) for each in lazy]
    door: Any = re._compile  # pyright: ignore[reportAttributeAccessIssue] # all functions of re call it
    for each in lazy:
        counted = _Counted(looks, _compiled(each.pattern, each.flags))
        vars(each).update({name: getattr(counted, name) for name in METHODS})
    re._compile = lambda *given: _Counted(looks, _compiled(*given))  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield looks
    finally:
        re._compile = door  # pyright: ignore[reportAttributeAccessIssue]
        for each, was in zip(lazy, before, strict=True):
            vars(each).clear()
            vars(each).update(was)


def costs(read: Read, text: str) -> Looks:
    """The cost of reading the text."""
    with count_looks() as looks:
        read(text)
    return looks


def superlinear(read: Read, piece: str, chars: int, *, floor_s: float = 0.02, ratio: float = 3.0) -> list[str]:
    """Patterns whose time grows more than linearly when the text doubles; each was measured three times."""
    found = _more(costs(read, said(piece, chars)), costs(read, said(piece, 2 * chars)), floor_s, ratio)
    for _ in range(2):
        if found:
            again = _more(costs(read, said(piece, chars)), costs(read, said(piece, 2 * chars)), floor_s, ratio)
            found = {pattern: told for pattern, told in found.items() if pattern in again}
    return [f"{told} {pattern[:120]}" for pattern, told in found.items()]


def _more(short: Looks, long: Looks, floor_s: float, ratio: float) -> dict[str, str]:
    return {
        pattern: f"{short.took.get(pattern, 0.0):.4f} s, then {took:.4f} s:"
        for pattern, took in long.took.items()
        if took > floor_s and took > ratio * short.took.get(pattern, 0.0)
    }


def quadratic(
    pattern: str, flags: int, method: str, chars: int, *, floor_s: float = 0.03, ratio: float = 3.0
) -> list[str]:
    """Pieces of text that make the pattern, used in this way, grow more than linearly."""
    at = _compiled(pattern, flags)
    return [each for each in pumps(pattern, flags) if _grows(at, method, each, chars, floor_s, ratio)]


def _grows(at: re.Pattern[str], method: str, piece: str, chars: int, floor_s: float, ratio: float) -> bool:
    for _ in range(3):
        long = _once(at, method, said(piece, 2 * chars))
        if long < floor_s or long < ratio * _once(at, method, said(piece, chars)):
            return False
    return True


def _once(at: re.Pattern[str], method: str, text: str) -> float:
    began = time.thread_time()
    found = at.sub("", text) if method == "sub" else getattr(at, method)(text + "\n!")
    if method == "finditer":
        list(found)
    return time.thread_time() - began


def pumps(pattern: str, flags: int) -> list[str]:
    """Pieces that reach each unbounded repeat of the pattern and continue there."""
    found: dict[str, None] = {}
    for lead, body in _repeats(parser.parse(pattern, flags), ""):
        for piece in (body, lead, lead + body, body + lead):
            if piece:
                found.setdefault(piece)
    return list(found)


def _repeats(nodes: Any, lead: str) -> Iterator[tuple[str, str]]:
    for op, value in nodes:
        if op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            if value[1] >= 100:
                yield lead, _sample(value[2])
            yield from _repeats(value[2], lead)
        elif op is code.SUBPATTERN:
            yield from _repeats(value[-1], lead)
        elif op is code.BRANCH:
            for each in value[1]:
                yield from _repeats(each, lead)
        lead += _sample([(op, value)])


def _sample(nodes: Any) -> str:
    return "".join(_one(op, value) for op, value in nodes)


def _one(op: Any, value: Any) -> str:
    if op is code.LITERAL:
        return chr(value)
    if op is code.NOT_LITERAL or op is code.ANY:
        return "a"
    if op is code.IN:
        return _of_set(value)
    if op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
        return _sample(value[2]) * max(value[0], min(1, value[1]))
    if op is code.SUBPATTERN:
        return _sample(value[-1])
    if op is code.BRANCH:
        return _sample(value[1][0])
    return ""


def _of_set(items: Any) -> str:
    shown = {code.CATEGORY_SPACE: " ", code.CATEGORY_DIGIT: "1", code.CATEGORY_WORD: "a"}
    denied = items[0][0] is code.NEGATE
    for op, value in items:
        if op is code.LITERAL and not denied:
            return chr(value)
        if op is code.RANGE and not denied:
            return chr(value[0])
        if op is code.CATEGORY and not denied:
            return shown.get(value, "中" if value is code.CATEGORY_NOT_SPACE else ".")
    barred = {chr(value) for op, value in items if op is code.LITERAL}
    return next(letter for letter in "a1 中.-" if letter not in barred)
