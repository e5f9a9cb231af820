"""`python -m tests.training.tagging`: fits the networks that say of each word what it is part of.

One reads slips, by marked messages (`slips.py`). The other tells whether the sentence of a word is worth keeping and of
which type it is, by the labelled messages of `lasting.py` and the statements of `corpus.py`. It is also fitted without
each part of the labelled messages (in `build/training`), so that `lasting.py` and `sentence_types.py` learn how much it
is to be trusted about messages that it has not seen.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from shared.classifiers.tagger import SLIP, TYPE, WORTH, Tagger, read_tagger
from shared.classifiers.units import Units, split_units
from shared.extraction import repairs
from shared.extraction.clauses import split
from shared.extraction.word_tags import MOST_UNITS, TYPES, describe_sentence, tag_worth
from tests.training import corpus, slips
from tests.training.tagger_fit import Answer, Example, Group, fit, write

ROOT = corpus.HERE.parents[1]
CORPUS = corpus.HERE / "corpus"
WEIGHTS = ROOT / "shared" / "classifiers" / "weights"
BUILD = ROOT / "build" / "training"
LABELS = ROOT / "tests" / "eval" / "conversations.jsonl"
PARTS = 3
"""So many networks are fitted without a part of the labelled messages."""
DOUBTFUL, STATED, FEW = 0.5, 0.5, 0.3
"""The weights of a sentence that one might or might not keep, of a plain statement, and of one of many similar ones."""
NATURAL = 1.5
"""The weight of a natural message beside one that was written for its label."""
STATEMENTS, EARLIER = 8000, 3000
"""So many messages of the corpus of statements are read in a pass, and so many of what was said before in pairs."""
NATURAL_READ, LONGEST = 9000, 600
"""So many messages of others, of so many characters at most, are read in a pass as such that hold no slip."""
JOINED, SHORT, LONG, FIRST = 5000, 60, 200, 0.7
"""So many joined messages in a pass, of so many characters at most; how often the one that says nothing is first."""
STOPS, ENDS = ".。", ".。!！?？~～"
TYPE_COUNTS = 0.5
"""What the type of a sentence counts beside whether it is worth keeping."""
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
            yield Labelled(text + line[at:], tuple(kept), STATED)


def read_earlier() -> Iterator[Labelled]:
    """Plain statements that others follow in pairs: all of each is worth keeping."""
    for path in sorted(CORPUS.glob("relations_*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            text = line.split("\t")[2]
            yield Labelled(text, (Kept(0, len(text), None, True),), STATED)


def read_conversations() -> Iterator[Labelled]:
    """The turns of conversations in which no message mends itself; what is worth keeping of them is not told here."""
    for path in sorted(CORPUS.glob("conversations_*.jsonl")):
        for said in map(json.loads, path.read_text("utf-8").splitlines()):
            if said["kind"] != "within":
                yield from (Labelled(turn["user"], (), 0.0) for turn in said["turns"])


def join_messages(labels: Sequence[Labelled]) -> Iterator[Labelled]:
    """Each message of which something is kept with a short one of which nothing is, before or behind it.

    What somebody says before a fact, such as thanks, makes it no less worth keeping.
    """
    random = np.random.default_rng(3)
    short = [each.text.strip() for each in labels if not each.kept and 0 < len(each.text) < SHORT]
    idle = {latin: [text for text in short if text.isascii() == latin] for latin in (True, False)}
    for label in labels:
        if label.kept and len(label.text) < LONG:
            latin = label.text.isascii()
            other = idle[latin][random.integers(len(idle[latin]))]
            first, second = (other, label.text) if random.random() < FIRST else (label.text, other)
            between = ("" if first[-1:] in ENDS else ". " if latin else "。") or (" " if latin else "")
            text = f"{first}{between}{second}"
            moved = text.index(label.text) if first is other else 0
            kept = tuple(Kept(each.begin + moved, each.end + moved, each.type, each.sure) for each in label.kept)
            yield Labelled(text, kept, label.weight)


def _toggle_stop(text: str) -> str:
    """Every second message with a full stop at its end that it has not, or without the one that it has.

    Who ends a message with one says no more or less that is worth keeping, but some corpora have them throughout.
    """
    if not text or sum(text.encode()) % 2:
        return text
    if text[-1] in STOPS:
        return text[:-1]
    return text + ("." if text.isascii() else "。") if text[-1].isalnum() else text


def to_example(label: Labelled) -> Example | None:
    """The message as it is read by the fit; None if it has too many units."""
    units = split_units(_toggle_stop(label.text), MOST_UNITS)
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
    return Example(units, {WORTH: Answer(worth, counts), TYPE: Answer(types, typed)})


def _inside(units: Units, kept: Kept) -> list[int]:
    return [place for place in range(len(units)) if units.starts[place] < kept.end and kept.begin < units.ends[place]]


def fit_slips() -> Tagger:
    """The network that reads slips."""
    marked = [
        Example(each.units, {SLIP: Answer(each.parts, np.full(len(each.units), each.weight, np.float32))})
        for each in slips.read_slips("slips_[!k]*.txt")
    ]
    others = [each for each in (*read_labelled(), *read_conversations()) if len(each.text) < LONGEST]
    return fit([Group(marked, times=2), Group([*filter(None, map(_to_plain, others))], most=NATURAL_READ)], (SLIP,))


def fit_without(part: int | None) -> Tagger:
    """The network of worth, fitted to everything but a part of the labelled messages; to all of them if it is None."""
    labelled = [each for each in read_labelled() if part is None or find_part(each.text) != part]
    groups = [
        Group(_to_examples(labelled)),
        Group(_to_examples(join_messages(labelled)), most=JOINED),
        Group(_to_examples(read_statements()), most=STATEMENTS),
        Group(_to_examples(read_earlier()), most=EARLIER),
    ]
    return fit(groups, (WORTH, TYPE))


def _to_plain(label: Labelled) -> Example | None:
    """The message as one that holds no slip."""
    units = split_units(label.text, MOST_UNITS)
    if units is None or len(units) < repairs.LEAST_UNITS:
        return None
    return Example(units, {SLIP: Answer(np.zeros(len(units), np.intp), np.ones(len(units), np.float32))})


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
        return describe_sentence(text, begin, end, partial(tag_worth, self._networks[find_part(text)]))


@cache
def load_unseen_tags() -> UnseenTags:
    """The networks that `main` wrote."""
    return UnseenTags()


def part_path(part: int) -> Path:
    """Where the network is that was fitted without the part."""
    return BUILD / f"worth_without_{part}.npz"


def main() -> None:
    """Fits, measures and writes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help=f"slips, worth, 0 to {PARTS - 1} (worth without a part); all if none")
    wanted = parser.parse_args().names or ["slips", "worth", *map(str, range(PARTS))]
    BUILD.mkdir(parents=True, exist_ok=True)
    if "slips" in wanted:
        network = fit_slips()
        slips.report("kept", slips.read_slips("slips_kept_*.txt"), network)
        print(f"slips: {write(network, WEIGHTS / 'slips.npz')} bytes")
    if "worth" in wanted:
        print(f"worth: {write(fit_without(None), WEIGHTS / 'worth.npz')} bytes")
    for part in range(PARTS):
        if str(part) in wanted:
            print(f"worth without part {part}: {write(fit_without(part), part_path(part))} bytes")


if __name__ == "__main__":
    main()
