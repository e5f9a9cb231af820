"""Corrects slips that the same message corrects itself: `Thursday, no wait, Friday` is read as `Friday`.

A small network estimates for each unit of a message whether it is wrong, only announces the slip, or replaces what is
wrong. The likeliest sequence of these parts that makes sense for the whole message decides.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.units import NUMBER, Units
from shared.extraction.word_tags import tag_slips

OLD, MARK, NEW = 1, 2, 3
"""The parts of a slip: wrong words, words that only announce it, right words. All other words have 0."""
Span = tuple[int, int, int]
"""A stretch of a text, from and to, and its part."""
LEAST_UNITS = 4
"""A shorter message corrects no slip; one with more units than are tagged was pasted, or written with care."""
LEAST_ODDS = 8.0
"""The least logarithm of the odds that a message contains a slip; `tests/training/tagging.py` prints the curve."""
LEAST_PART = 0.2
"""The least probability of the part of each word of a slip; below it the message is not changed."""
_BEFORE, _WRONG, _BETWEEN, _SAYING, _RIGHT, _FILLING, _AFTER = range(7)
_PART_OF = (0, OLD, 0, MARK, NEW, MARK, 0)
"""The part of each step through a message."""
_STEPS = (
    (_BEFORE, (_BEFORE, _WRONG)),
    (_WRONG, (_WRONG, _BETWEEN, _SAYING)),
    (_BETWEEN, (_BETWEEN, _SAYING)),
    (_SAYING, (_SAYING, _RIGHT)),
    (_RIGHT, (_RIGHT, _FILLING, _AFTER)),
    (_FILLING, (_FILLING, _AFTER)),
    (_AFTER, (_AFTER, _WRONG)),
)
"""Which step may follow which: the wrong words come first, and a message may contain more than one slip."""


@dataclass(frozen=True, slots=True)
class Slips:
    """The parts of the slips of a message in order, the log odds that it contains them, the least certain part."""

    spans: tuple[Span, ...]
    odds: float
    weakest: float

    @property
    def is_sure(self) -> bool:
        """Whether it is sure enough to read the message without them."""
        return self.odds >= LEAST_ODDS and self.weakest >= LEAST_PART


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text without its slips, and for its stretches where they stood before: (start here, start there, length)."""

    text: str
    stretches: tuple[tuple[int, int, int], ...]

    def to_original(self, span: tuple[int, int]) -> tuple[int, int]:
        """Where the stretch stood in the text as it was said."""
        return self._place(span[0], last=False), self._place(span[1] - 1, last=True) + 1 if span[1] else 0

    def _place(self, at: int, *, last: bool) -> int:
        for here, there, length in self.stretches:
            if here <= at < here + length:
                return there + at - here
        here, there, length = self.stretches[-1] if last else self.stretches[0]
        return there + length - 1 if last else there


def repair(text: str) -> Repaired | None:
    """The text as its speaker meant it; None if it contains no slip."""
    tags = tag_slips(text)
    found = find_slips(tags.units, tags.shares) if tags else None
    return mend(text, found.spans) if found and found.is_sure else None


def find_slips(units: Units, shares: NDArray[np.floating[Any]]) -> Slips | None:
    """The likeliest slips, by the probability of each part for each unit; None if no word is likely part of one."""
    if len(units) < LEAST_UNITS or min(shares[:, OLD].max(), shares[:, NEW].max()) < LEAST_PART:
        return None
    logs = np.log(np.maximum(shares, 1e-6))
    path, odds = _find_path((logs - logs[:, :1]).tolist())
    weakest = min(float(shares[place, part]) for place, step in enumerate(path) if (part := _PART_OF[step]))
    runs = _list_runs(path)
    for old, new in zip([run for run in runs if run[2] == OLD], [run for run in runs if run[2] == NEW], strict=True):
        place = _cover_repeated(units.words, _keep_number(units, old[:2], new[:2]), new[:2])
        runs[runs.index(old)] = (*place, OLD)
    spans = tuple((units.starts[begin], units.ends[end - 1], part) for begin, end, part in runs)
    return Slips(spans, odds, weakest)


def _list_runs(path: Sequence[int]) -> list[Span]:
    """The stretches of equal steps that have a part, by their units."""
    runs: list[Span] = []
    begin = 0
    for place in range(1, len(path) + 1):
        if place == len(path) or path[place] != path[begin]:
            if part := _PART_OF[path[begin]]:
                runs.append((begin, place, part))
            begin = place
    return runs


def _keep_number(units: Units, old: tuple[int, int], new: tuple[int, int]) -> tuple[int, int]:
    """Only the number among the wrong words on the side where the right words begin or end with a number."""
    begin, end = old
    numbers = [place for place in range(begin, end) if units.shapes[place] == NUMBER]
    if numbers and units.shapes[new[0]] == NUMBER:
        begin = numbers[0]
    if numbers and units.shapes[new[1] - 1] == NUMBER:
        end = numbers[-1] + 1
    return begin, end


def _cover_repeated(words: Sequence[str], old: tuple[int, int], new: tuple[int, int]) -> tuple[int, int]:
    """The wrong words with the words around them that the right words repeat: `I live in Rome, no, I live in Milan`."""
    (begin, end), right = old, words[slice(*new)]
    if len(right) > end - begin and list(words[begin:end]) == list(right[begin - end :]):
        begin = max(0, end - len(right))
    for count in range(min(len(right), begin), 0, -1):
        if words[begin - count : begin] == right[:count]:
            begin -= count
            break
    for count in range(min(len(right), new[0] - end), 0, -1):
        if words[end : end + count] == right[-count:]:
            end += count
            break
    return begin, end


def _find_path(gains: Sequence[Sequence[float]]) -> tuple[list[int], float]:
    """The likeliest steps through a message that holds a slip, and the logarithm of their odds; one step a unit."""
    none = float("-inf")
    best = [gains[0][0], gains[0][OLD], *[none] * 5]
    ways: list[list[int]] = []
    for gain in gains[1:]:
        reached, came = [none] * len(_STEPS), [0] * len(_STEPS)
        for step, following in _STEPS:
            for then in following:
                odds = best[step] + gain[_PART_OF[then]]
                if odds > reached[then]:
                    reached[then], came[then] = odds, step
        ways.append(came)
        best = reached
    path = [max((_RIGHT, _FILLING, _AFTER), key=best.__getitem__)]
    odds = best[path[0]]
    for came in reversed(ways):
        path.append(came[path[-1]])
    return path[::-1], odds


def mend(text: str, spans: Sequence[Span]) -> Repaired:
    """The text with the right words in place of the wrong ones, and without the words that announce the slip."""
    right = iter([span for span in spans if span[2] == NEW])
    begins = {start for start, _, part in spans if part == NEW}
    pieces: list[tuple[int, int]] = []
    at = 0
    for start, end, part in sorted(spans):
        if part == MARK:
            start, end = _take_spaces(text, start, end, begins)
        pieces.append((at, max(at, start)))
        if part == OLD and (new := next(right, None)):
            pieces.append(new[:2])
        at = max(at, end)
    pieces.append((at, len(text)))
    stretches: list[tuple[int, int, int]] = []
    here = 0
    for start, end in pieces:
        if start < end:
            stretches.append((here, start, end - start))
            here += end - start
    return Repaired("".join(text[start:end] for start, end in pieces), tuple(stretches))


def _take_spaces(text: str, start: int, end: int, begins: Set[int]) -> tuple[int, int]:
    """The stretch with the spaces before it, and with those behind it where the right words begin there."""
    while start and text[start - 1].isspace():
        start -= 1
    behind = end
    while behind < len(text) and text[behind].isspace():
        behind += 1
    return start, behind if behind in begins else end
