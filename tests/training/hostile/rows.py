"""The labelled texts, plain frames and paragraphs as samples; words of one meaning share weights."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from shared.screening.hostile import foreseen
from shared.screening.orders import ORDER, signs, to_plain
from shared.screening.sanitize import sentences
from tests.training import corpus, natural
from tests.training.corpus import NONE, Row

HERE = Path(__file__).parent
EACH = 8
"""Sentences per frame."""
SHORT_EN, SHORT_ZH = 160, 60
"""A text up to this length is also inserted into ordinary sentences."""
AROUND = 3
"""The maximum number of ordinary sentences around it."""
LEAST = 8
"""The minimum length of a sentence used alone."""
TOGETHER = 300
"""The number of paragraphs of ordinary lines per language."""
Labelled = tuple[str, str]
"""A class and a text."""
_TAG = re.compile(r"<[^>]*>")
_HAN = re.compile(r"[\u3400-\u9fff]")


def files() -> dict[str, list[Labelled]]:
    """The labelled texts of each file of the corpus."""
    return {path.stem: _read(path) for path in sorted((corpus.HERE / "corpus").glob("hostile_*.jsonl"))}


def _read(path: Path) -> list[Labelled]:
    told = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [(ORDER if each["class"] == "attack" else NONE, each["text"]) for each in told if each.get("part") != "held"]


def rows() -> list[list[Row]]:
    """All samples for the weights of `hostile`."""
    return made(_load_labelled())


def examples() -> tuple[list[str], list[bool]]:
    """The same texts in their plain form, and whether each gives orders: samples for the weights of vectors."""
    every = around(_load_labelled())
    return [to_plain(text) for _, text in every], [label == ORDER for label, _ in every]


def _load_labelled() -> list[Labelled]:
    texts = [each for told in files().values() for each in told]
    return [*texts, *_read(corpus.SETS / "hostile.jsonl")]


def made(texts: Sequence[Labelled]) -> list[list[Row]]:
    """All texts as the gram network reads them."""
    return [[Row(signs(to_plain(text)), (label,))] for label, text in around(texts)]


def around(texts: Sequence[Labelled]) -> list[Labelled]:
    """The labelled texts, those of frames, short ones again among ordinary sentences, and natural messages."""
    return [*texts, *_fill_frames(), *_among(texts), *_ordinary(), *_natural()]


def _fill_frames() -> Iterator[Labelled]:
    random = np.random.default_rng(17)
    for path in sorted(HERE.glob("*.tsv")):
        places: dict[str, str] = {}
        for line in filter(str.strip, path.read_text("utf-8").splitlines()):
            kind, frame = line.split("\t")
            if kind.startswith("="):
                places[kind[1:]] = frame
                continue
            for _ in range(EACH):
                yield ORDER if kind == "attack" else NONE, filled(frame, places, random)


def filled(frame: str, places: dict[str, str], random: np.random.Generator) -> str:
    """The frame with one alternative in each place; ⟦ and ⟧ stand for literal braces."""
    while "}" in frame:
        end = frame.index("}")
        begin = frame.rindex("{", 0, end)
        name = str(random.choice(frame[begin + 1 : end].split("|")))
        frame = frame[:begin] + ("{" + places[name] + "}" if name in places else name) + frame[end + 1 :]
    return frame.replace("\\n", "\n").replace("⟦", "{").replace("⟧", "}")


def _among(texts: Sequence[Labelled]) -> Iterator[Labelled]:
    """Short texts between harmless sentences, because orders hide in the middle of pages."""
    random = np.random.default_rng(19)
    pools = _pools()
    for label, text in texts:
        han = _HAN.search(text) is not None
        if len(text) >= (SHORT_ZH if han else SHORT_EN):
            continue
        count = int(random.integers(1, AROUND + 1))
        around = [pools[han][place] for place in random.integers(0, len(pools[han]), count)]
        around.insert(int(random.integers(0, count + 1)), text)
        yield label, ("" if han else " ").join(around)


def _ordinary() -> Iterator[Labelled]:
    """Natural messages to assistants contain no hostile orders, alone and several together."""
    random = np.random.default_rng(23)
    for joint, pool in zip((" ", ""), _pools(), strict=True):
        yield from ((NONE, line) for line in pool)
        for _ in range(TOGETHER):
            yield (
                NONE,
                joint.join(pool[place] for place in random.integers(0, len(pool), random.integers(2, AROUND + 2))),
            )


def _natural() -> Iterator[Labelled]:
    """Natural messages, none of which gives orders to a model: whole, by sentence, and in pairs."""
    for text in (line.text for line in natural.lines()):
        alone = [each for each in map(str.strip, sentences(text)) if len(each) >= LEAST]
        pairs = (one + other for one, other in pairwise(sentences(text)))
        yield from ((NONE, each) for each in dict.fromkeys([text, *alone, *pairs]))
    yield from ((NONE, each) for each in natural.sentences())


@cache
def _pools() -> tuple[list[str], list[str]]:
    """Ordinary lines of the other corpora without and with Chinese; those with orders are excluded."""
    folder = corpus.HERE / "corpus"
    lines: list[str] = []
    for pattern in ("statements_*.txt", "feedback_*.tsv", "intents_*.tsv"):
        for path in sorted(folder.glob(pattern)):
            lines += [_TAG.sub("", line.split("\t")[-1]) for line in path.read_text("utf-8").splitlines()]
    calm = [line for line in lines if line.strip() and not foreseen(line)]
    return [line for line in calm if not _HAN.search(line)], [line for line in calm if _HAN.search(line)]


def lexicon() -> dict[str, set[str]]:
    """The meanings of each gram that is a word of the list."""
    found: dict[str, set[str]] = {}
    name = ""
    for line in (HERE / "words.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            name = line[1:].strip()
            continue
        for word in filter(None, (part.strip().lower() for part in line.split("|"))):
            found.setdefault(corpus.gram_of(word), set()).add(name)
    return found
