"""`python -m tests.training.slips`: fits the network that reads slips which their own message mends.

It is fitted to marked messages (`corpus/slips_*.txt`); natural messages (`corpus/lasting_*.jsonl`) and those of
conversations (`corpus/conversations_*.jsonl`, but for the kind `within`) are read as such that hold no slip.
`slips_kept_*.txt` are read only to measure. `--check` measures each quarter of the others by a fit on the rest.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.tagger import Tagger
from shared.classifiers.units import Units, split_units
from shared.extraction import repairs
from tests.training import corpus
from tests.training.tagger_fit import Example, fit, write

CORPUS = corpus.HERE / "corpus"
OUT = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights" / "slips.npz"
NATURAL = 1.0
"""The weight of a natural message, of which some may hold a slip that nobody marked."""
PLAIN = 0.5
"""The weight of a line of `slips_*_plain.txt`: plain facts with plain slips, made of frames and values."""
LONGEST = 600
"""Characters of a natural message at most."""
QUARTERS = 4
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
    units = split_units(text, repairs.MOST_UNITS)
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


def read_natural() -> Iterator[Message]:
    """Natural messages and those of conversations in which nothing is mended within a message."""
    for path in sorted(CORPUS.glob("lasting_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield from _without_slip(json.loads(line)["text"])
    for path in sorted(CORPUS.glob("conversations_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            said = json.loads(line)
            if said["kind"] != "within":
                for turn in said["turns"]:
                    yield from _without_slip(turn["user"])


def _without_slip(text: str) -> Iterator[Message]:
    units = split_units(text, repairs.MOST_UNITS) if len(text) < LONGEST else None
    if units is not None and len(units) >= repairs.LEAST_UNITS:
        yield Message(units, np.zeros(len(units), np.intp), text, False, NATURAL)


def main() -> None:
    """Fits, measures and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    marked, natural = read_slips("slips_[!k]*.txt"), list(read_natural())
    if given.check:
        _check(marked, natural)
        return
    kept = read_slips("slips_kept_*.txt")
    fitted = fit(_examples(marked), _examples(natural))
    _report("kept", kept, fitted)
    print(f"{OUT.name}: {write(fitted, OUT)} bytes of {len(marked)} marked and {len(natural)} natural messages")


def _check(marked: Sequence[Message], natural: Sequence[Message]) -> None:
    for quarter in range(QUARTERS):
        fitted = fit(
            _examples([each for place, each in enumerate(marked) if place % QUARTERS != quarter]),
            _examples([each for place, each in enumerate(natural) if place % QUARTERS != quarter]),
        )
        _report(f"marked {quarter}", marked[quarter::QUARTERS], fitted)
        _report(f"natural {quarter}", natural[quarter::QUARTERS], fitted)


def _examples(messages: Sequence[Message]) -> list[Example]:
    return [Example(each.units, each.parts, each.weight) for each in messages]


def _report(name: str, messages: Sequence[Message], fitted: Tagger) -> None:
    """Of messages with a slip the share found and mended as meant but for a word, of the others the share changed."""
    told = [(each, repairs.find_slips(each.units, fitted.estimate(each.units))) for each in messages]
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


if __name__ == "__main__":
    main()
