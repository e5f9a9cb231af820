"""`python -m tests.training.tagging`: fits the network that says of each word what it is part of.

Its heads: the parts of slips, by marked messages (`slips.py`); whether a sentence is worth keeping and its type, by the
labelled messages of `lasting.py` and the statements of `corpus.py`. Beside the network that is fitted to all of them,
some are fitted each without a part of the labelled messages (`--part N`), so that `lasting.py` and `sentence_types.py`
learn how much it is to be trusted about messages that it has not seen; what these say is written to `build/`.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from shared.classifiers.tagger import SLIP, TYPE, WORTH, Tagger, read_tagger
from shared.classifiers.units import Units, split_units
from shared.extraction.clauses import split
from shared.extraction.word_tags import MOST_UNITS, NOTHING_SAID, TYPES, read_tags
from tests.training import corpus, slips
from tests.training.tagger_fit import Answer, Example, Group, fit, write

ROOT = corpus.HERE.parents[1]
CORPUS = corpus.HERE / "corpus"
OUT = ROOT / "shared" / "classifiers" / "weights" / "words.npz"
BUILD = ROOT / "build" / "training"
LABELS = ROOT / "tests" / "eval" / "conversations.jsonl"
PARTS = 3
"""So many networks are fitted without a part of the labelled messages."""
DOUBTFUL, STATED, TAGGED, FEW = 0.5, 0.5, 0.5, 0.3
"""The weights of a sentence that one might or might not keep, and of the messages of each kind of corpus."""
NATURAL = 3.0
"""The weight of a natural message beside one that was written for its label."""
STATEMENTS = 8000
"""So many messages of the corpus of statements are read in a pass."""
TYPE_COUNTS = 0.5
"""What the type of a sentence counts beside whether it is worth keeping."""
NO_SLIP = 0.7
"""What it counts that a message of these holds no slip: some do."""
_TAG = re.compile(r"<(?P<ends>/?)(?P<name>\w+)[+-]?(?: [^>]*)?>")


@dataclass(frozen=True)
class Kept:
    """A stretch of a message that is worth keeping: from, to, its type if that is one of those told apart, how sure."""

    begin: int
    end: int
    type: str | None
    sure: bool


@dataclass(frozen=True)
class Labelled:
    """A message with what is worth keeping of it, and its weight."""

    text: str
    kept: tuple[Kept, ...]
    weight: float
    has_no_slip: bool = True


def read_labelled() -> Iterator[Labelled]:
    """The messages whose sentences are labelled."""
    for path in sorted(CORPUS.glob("lasting_*.jsonl")):
        for label in map(json.loads, path.read_text("utf-8").splitlines()):
            weight = FEW if "records" in path.stem else 1.0 if label["source"] == "written" else NATURAL
            yield Labelled(label["text"], tuple(_find_quotes(label["text"], label["keep"])), weight)
    for label in map(json.loads, LABELS.read_text("utf-8").splitlines()):
        for turn in label["turns"] if label["part"] == "dev" else ():
            if "keep" in turn:
                quotes = [(each["quote"], each["type"], each.get("sure", 1.0) >= 0.9) for each in turn["keep"]]
                yield Labelled(turn["user"], tuple(_find_quotes(turn["user"], quotes)), 1.0)
    for message in corpus.messages():
        if message.part == "extraction":
            yield Labelled(message.text, tuple(_widen(message)), 1.0)


def _find_quotes(text: str, quotes: Sequence[Sequence[str | bool]]) -> Iterator[Kept]:
    for said, kind, sure in quotes:
        if (at := text.find(str(said))) >= 0:
            yield Kept(at, at + len(str(said)), _to_type(str(kind)), bool(sure))


def _to_type(kind: str) -> str | None:
    name = "note" if kind == "entity" else "pattern" if kind == "behaviour" else kind.split("|")[0]
    return name if name in TYPES else None


def _widen(message: corpus.Message) -> Iterator[Kept]:
    """The sentences of the labelled words of a message."""
    for clause in split(message.text):
        for span in message.spans:
            if span.start < clause.end and clause.start < span.end:
                of_one = [each for each in split(message.text) if each.sentence == clause.sentence]
                yield Kept(of_one[0].start, of_one[-1].end, _to_type(span.label), not span.maybe)


def read_statements() -> Iterator[Labelled]:
    """The messages of the corpus of statements."""
    for path in sorted(CORPUS.glob("statements_*.txt")):
        for line in path.read_text("utf-8").splitlines():
            text, at, begin = "", 0, 0
            kept: list[Kept] = []
            for tag in _TAG.finditer(line):
                text += line[at : tag.start()]
                at = tag.end()
                if tag["ends"]:
                    kept.append(Kept(begin, len(text), _to_type(tag["name"]), True))
                begin = len(text)
            yield Labelled(text + line[at:], tuple(kept), STATED, has_no_slip=False)


def read_conversations() -> Iterator[Labelled]:
    """The turns of conversations in which no message mends itself; what is worth keeping of them is not labelled."""
    for path in sorted(CORPUS.glob("conversations_*.jsonl")):
        for said in map(json.loads, path.read_text("utf-8").splitlines()):
            if said["kind"] != "within":
                yield from (Labelled(turn["user"], (), 0.0) for turn in said["turns"])


def to_example(label: Labelled) -> Example | None:
    """The message as it is read by the fit; None if it has too many units."""
    units = split_units(label.text, MOST_UNITS)
    if units is None:
        return None
    size = len(units)
    worth, types = np.zeros(size, np.intp), np.zeros(size, np.intp)
    counts, typed = np.full(size, label.weight, np.float32), np.zeros(size, np.float32)
    for each in label.kept:
        for place in _inside(units, each):
            worth[place] = 1
            counts[place] = label.weight * (1.0 if each.sure else DOUBTFUL)
            if each.type:
                types[place], typed[place] = TYPES.index(each.type), TYPE_COUNTS * counts[place]
    answers = {WORTH: Answer(worth, counts), TYPE: Answer(types, typed)}
    if label.has_no_slip:
        answers[SLIP] = Answer(np.zeros(size, np.intp), np.full(size, NO_SLIP, np.float32))
    return Example(units, answers)


def _inside(units: Units, kept: Kept) -> list[int]:
    return [place for place in range(len(units)) if units.starts[place] < kept.end and kept.begin < units.ends[place]]


def fit_without(part: int | None) -> Tagger:
    """The network fitted to everything but a part of the labelled messages; to everything if it is None."""
    labelled = [each for each in read_labelled() if part is None or find_part(each.text) != part]
    marked = [
        Example(each.units, {SLIP: Answer(each.parts, np.full(len(each.units), each.weight, np.float32))})
        for each in slips.read_slips("slips_[!k]*.txt")
    ]
    unseen = {each.text for each in read_labelled() if find_part(each.text) == part}
    turns = [each for each in read_conversations() if each.text not in unseen]
    groups = [
        Group(marked, times=2),
        Group(_to_examples(labelled)),
        Group(_to_examples(read_statements()), most=STATEMENTS),
        Group(_to_examples(turns), most=3000),
    ]
    return fit(groups)


def _to_examples(labels: Sequence[Labelled] | Iterator[Labelled]) -> list[Example]:
    return [example for each in labels if (example := to_example(each))]


def find_part(text: str) -> int:
    """The part of the labelled messages that this one is in: by its letters, so that one said twice is in one."""
    return sum(text.lower().encode()) % PARTS


class UnseenTags:
    """What the network says of sentences, each by one that was fitted without the part which its message is in."""

    def __init__(self) -> None:
        self._networks = [self._read(part) for part in range(PARTS)]

    @staticmethod
    def _read(part: int) -> Tagger:
        with np.load(part_path(part)) as read:
            return read_tagger(read)

    def describe(self, text: str, begin: int, end: int) -> tuple[float, ...]:
        """What `word_tags.describe_sentence` would say of the sentence."""
        network = self._networks[find_part(text)]
        if units := split_units(text, MOST_UNITS):
            return read_tags(network, units).describe(begin, end)
        alone = split_units(text[begin:end], MOST_UNITS)
        return read_tags(network, alone).describe(0, end - begin) if alone else NOTHING_SAID


@cache
def load_unseen_tags() -> UnseenTags:
    """The networks that `main` wrote."""
    return UnseenTags()


def part_path(part: int) -> Path:
    """Where the network is that was fitted without the part."""
    return BUILD / f"words_without_{part}.npz"


def main() -> None:
    """Fits, measures and writes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", type=int, help="fit without this part only; all parts and the whole unless told")
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    for part in range(PARTS) if given.part is None else [given.part] if given.part >= 0 else []:
        print(f"without part {part}: {write(fit_without(part), part_path(part))} bytes")
    if given.part is None or given.part < 0:
        network = fit_without(None)
        slips.report("kept", slips.read_slips("slips_kept_*.txt"), network)
        print(f"{OUT.name}: {write(network, OUT)} bytes")


if __name__ == "__main__":
    main()
