"""Slips that their own message mends, as `tagging.py` reads them and measures what is found of them.

The messages are marked (`corpus/slips_*.txt`); `slips_kept_*.txt` are read only to measure.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.tagger import SLIP, Tagger
from shared.classifiers.units import Units, split_units
from shared.extraction import repairs
from shared.extraction.word_tags import MOST_UNITS
from tests.training import corpus

CORPUS = corpus.HERE / "corpus"
PLAIN = 0.5
"""The weight of a line of `slips_*_plain.txt`: plain facts with plain slips, made of frames and values."""
_MARKED = re.compile(r"\[-(?P<old>.*?)-\]|\{~(?P<mark>.*?)~\}|\[\+(?P<new>.*?)\+\]", re.DOTALL)
PARTS = {"old": repairs.OLD, "mark": repairs.MARK, "new": repairs.NEW}


@dataclass(frozen=True)
class Message:
    """A message: its units, the part of each, what was meant, and whether it holds a slip."""

    units: Units
    parts: NDArray[np.intp]
    meant: str
    slips: bool
    weight: float


def read_marked(line: str, weight: float = 1.0) -> Message | None:
    """The message of a marked line."""
    spans: list[tuple[int, int, int]] = []
    text, at = "", 0
    for match in _MARKED.finditer(line):
        text += line[at : match.start()]
        name = str(match.lastgroup)
        spans.append((len(text), len(text) + len(match[name]), PARTS[name]))
        text += match[name]
        at = match.end()
    text += line[at:]
    units = split_units(text, MOST_UNITS)
    if units is None:
        return None
    parts = np.zeros(len(units), np.intp)
    for start, end, part in spans:
        for place in range(len(units)):
            if units.starts[place] < end and start < units.ends[place]:
                parts[place] = part
    return Message(units, parts, repairs.mend(text, spans).text, bool(spans), weight)


def read_slips(pattern: str) -> list[Message]:
    """The messages of these files of the corpus."""
    found: list[Message] = []
    for path in sorted(CORPUS.glob(pattern)):
        weight = PLAIN if path.stem.endswith("_plain") else 1.0
        found += [each for line in path.read_text("utf-8").splitlines() if (each := read_marked(line, weight))]
    return found


def report(name: str, messages: Sequence[Message], fitted: Tagger) -> None:
    """Of messages with a slip the share found and mended as meant but for a word, of the others the share changed."""
    told = [(each, repairs.find_slips(each.units, fitted.estimate(each.units)[SLIP])) for each in messages]
    there = sum(each.slips for each in messages)
    others = len(messages) - there
    for least, part in ((0.0, 0.0), (8.0, 0.0), (8.0, 0.2), (8.0, 0.35), (8.0, 0.5), (16.0, 0.35)):
        sure = [(each, slips) for each, slips in told if slips and slips.odds >= least and slips.weakest >= part]
        found = [(each, slips) for each, slips in sure if each.slips]
        mended = sum(
            _differ_little(repairs.mend(each.units.text, slips.spans).text, each.meant) for each, slips in found
        )
        print(
            f"{name}, odds {least:g}, parts {part:g}: of {there} slips {len(found) / max(1, there):.3f} found,"
            f" {mended / max(1, there):.3f} mended; of {others} others"
            f" {(len(sure) - len(found)) / max(1, others):.4f} changed"
        )


_WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")


def _differ_little(text: str, meant: str) -> bool:
    """Whether the words of both are the same but for one that is missing and two that are too many."""
    ours, theirs = Counter(_WORD.findall(text.lower())), Counter(_WORD.findall(meant.lower()))
    return (theirs - ours).total() <= 1 and (ours - theirs).total() <= 2
