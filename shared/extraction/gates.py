"""Determines which patterns may match a clause, by the letters that every match of them needs.

Of every pattern, the literals of which each match holds at least one are read from its parse tree. A clause is looked
at once, letter by letter and word by word; a pattern whose literals are all absent is never run.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from shared.cache import forget_texts, of_texts
from shared.language.patterns import to_pattern

code: Any = import_module("re._constants")
parser: Any = import_module("re._parser")
_WORD = to_pattern(r"[a-z0-9']+")
_RUN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789'")
_COMMON = dict.fromkeys(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过", 0.9
)
_SHORT = {1: 8.0, 2: 4.0, 3: 1.2, 4: 0.4}
_LONGEST = 14
_LARGEST_SET = 40
_bits = 0
_gated: list[tuple[int, re.Pattern[str]]] = []


@dataclass
class _Tables:
    """The gates that each literal opens, a letter or a part of a word; `open` has the gates that are always open."""

    read: int = 0
    open: int = 0
    letters: dict[str, int] = field(default_factory=dict[str, int])
    parts: dict[str, int] = field(default_factory=dict[str, int])


_tables = _Tables()


def gate(*patterns: re.Pattern[str]) -> int:
    """The bit in the mask of a text that one of the patterns may match."""
    global _bits
    bit = 1 << _bits
    _bits += 1
    _gated.extend((bit, pattern) for pattern in patterns)
    return bit


def mask(text: str) -> int:
    """The bits of the gates that are open for the text."""
    if _tables.read < len(_gated):
        _build_tables()
    gates = _tables.open
    low = text.lower()
    if not text.isascii():
        get = _tables.letters.get
        for letter in set(low):
            gates |= get(letter, 0)
    for word in _WORD.findall(low):
        gates |= _find_gates(word)
    return gates


def _build_tables() -> None:
    """Fills the tables with the literals of all gated patterns; other threads see them complete or not at all."""
    global _tables
    tables = _Tables(len(_gated))
    for bit, pattern in _gated[: tables.read]:
        needed = find_needed(parser.parse(pattern.pattern, pattern.flags))
        if needed is None:
            tables.open |= bit
            continue
        for literal in needed:
            table = tables.parts if literal[-1] in _RUN else tables.letters
            table[literal] = table.get(literal, 0) | bit
    _tables = tables
    forget_texts()  # what a word opened before


@of_texts(16_384)
def _find_gates(word: str) -> int:
    gates, size, parts = 0, len(word), _tables.parts
    if size > 2 * _LONGEST:
        return (1 << _bits) - 1
    for whole in (word, *word.split("'")):
        gates |= parts.get(f" {whole}", 0)
    for start in range(size):
        for end in range(start + 1, min(size, start + _LONGEST) + 1):
            gates |= parts.get(word[start:end], 0)
    return gates


def _estimate_cost(literals: Iterable[str]) -> float:
    return sum(
        _SHORT.get(2 * len(one) - 1 if one[0] == " " else len(one), 0.1) if one[-1] in _RUN else _COMMON.get(one, 0.1)
        for one in literals
    )


def find_needed(tree: Any, left: bool = False, right: bool = False) -> frozenset[str] | None:
    """Literals of which every match of the sequence contains one; None if there are none.

    `left` and `right` say that a word ends at that end of the sequence; a literal between two such ends is a word.
    """
    options: list[frozenset[str]] = []
    nodes = list(tree)
    ends = [left, *(_ends_word(*node) for node in nodes), right]
    at = 0
    while at < len(nodes):
        op, value = nodes[at]
        first, run = at, ""
        while at < len(nodes) and (letter := _get_letter(*nodes[at])) in _RUN:
            run += letter
            at += 1
        if run:
            whole = ends[first] and ends[at + 1] and "'" not in run and len(run) <= _LONGEST
            options.append(frozenset((f" {run}" if whole else run[:_LONGEST],)))
            continue
        if found := _find_needed_of_node(op, value, ends[at], ends[at + 2]):
            options.append(found)
        at += 1
    return min(options, key=_estimate_cost) if options else None


def _get_letter(op: Any, value: Any) -> str:
    letter = chr(value).lower() if op is code.LITERAL else ""
    return letter if len(letter) == 1 else ""


def _ends_word(op: Any, value: Any) -> bool:
    """Whether a word ends at this node."""
    if op is code.AT:
        return value in (code.AT_BOUNDARY, code.AT_END, code.AT_BEGINNING, code.AT_END_STRING)
    if op is code.LITERAL:
        return chr(value).lower() not in _RUN
    if op in (code.MAX_REPEAT, code.MIN_REPEAT) and value[0] and len(value[2]) == 1:
        return _ends_word(*value[2][0])
    return op is code.IN and list(value) == [(code.CATEGORY, code.CATEGORY_SPACE)]


def _find_needed_of_node(op: Any, value: Any, left: bool, right: bool) -> frozenset[str] | None:
    if op is code.LITERAL:
        letter = _get_letter(op, value)
        return frozenset((letter,)) if letter and ord(letter) > 127 else None
    if op is code.SUBPATTERN:
        return find_needed(value[-1], left, right)
    if op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
        return find_needed(value[2]) if value[0] else None
    if op is code.ATOMIC_GROUP:
        return find_needed(value, left, right)
    if op is code.BRANCH:
        each = [find_needed(one, left, right) for one in value[1]]
        return frozenset[str]().union(*(one for one in each if one)) if all(each) else None
    return _find_needed_of_set(value) if op is code.IN else None


def _find_needed_of_set(items: Any) -> frozenset[str] | None:
    letters: set[str] = set()
    for op, value in items:
        if op is code.LITERAL:
            letters.add(chr(value).lower())
        elif op is code.RANGE and value[1] - value[0] < _LARGEST_SET:
            letters.update(chr(one).lower() for one in range(value[0], value[1] + 1))
        elif op is code.CATEGORY and value is code.CATEGORY_DIGIT:
            letters.update("0123456789")
        else:
            return None
    usable = all(len(one) == 1 and (one in _RUN or ord(one) > 127) for one in letters)
    return frozenset(letters) if usable and len(letters) <= 3 * _LARGEST_SET else None
