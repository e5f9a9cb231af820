"""`python -m tests.training.forgetting`: which sentences ask for something to be forgotten.

Requests are the last turns of the labelled conversations of that kind and the lines of `corpus/forget_*.jsonl`; all
other sentences that `shared.extraction.retractions` looks at ask for nothing. `--check` judges each fifth by a fit on
the others.
"""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from shared.extraction import retractions
from tests.training import corpus, natural
from tests.training.text_fit import estimate, fit, read_texts, write

OUT = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights" / "forgetting.npz"
CORPUS = corpus.HERE / "corpus"
WEIGHT, NATURAL = 3.0, 4.0
"""What a request counts, and what a sentence of natural talk counts, which hardly ever is one."""
FRAMED, FRAME = 40, 0.3
"""So many statements of a file are put in a frame, and what each of these counts."""
FRAMES = (
    ("Forget that {}.", "Please forget that {}", "forget I said {}", "ok, forget that {}.", "stop remembering that {}"),
    ("Don't forget that {}.", "Never forget that {}", "did you forget that {}?", "Forget that {}?", "I forgot that {}"),
)
FRAMES_ZH = (
    ("忘掉{}这件事。", "请忘了{}。", "忘记{}吧", "别再记得{}了", "你就忘了{}这回事吧"),
    ("别忘了{}。", "你忘了{}吗？", "你忘了{}吗", "忘了跟你说，{}", "我老是忘记{}", "可别忘记{}啊"),
)
TAG, OWN, ENDED = re.compile(r"<[^>]*>"), re.compile(r"I\b|我[^们]"), re.compile(r"[.!?。！？，,]")
FOLDS = 5


@dataclass(frozen=True)
class Sentence:
    """A sentence, whether it asks for something to be forgotten, and what it was said with."""

    text: str
    asks: bool
    source: str
    weight: float = 1.0


def read_sentences(folder: Path) -> Iterator[Sentence]:
    """Every labelled sentence that may ask for something to be forgotten."""
    for path in sorted(folder.glob("forget_??.jsonl")):
        for label in _lines(path):
            yield from _sentences(label["text"], label["forget"], label["text"], label["keep"])
    for path in sorted(folder.glob("conversations_*.jsonl")):
        for label in _lines(path):
            for number, turn in enumerate(label["turns"]):
                asks = label["kind"] == "forget" and number == len(label["turns"]) - 1
                yield from _sentences(turn["user"], asks, label["id"])
    for path in sorted(folder.glob("lasting_*.jsonl")):
        for label in _lines(path):
            yield from (replace(each, weight=NATURAL) for each in _sentences(label["text"], False, label["text"]))
    for line in natural.lines():
        yield from (replace(each, weight=NATURAL) for each in _sentences(line.text, False, line.text))


def frame_statements(folder: Path) -> Iterator[Sentence]:
    """Plain statements of the corpus put as what is to be forgotten, and as what is not."""
    for path in sorted(folder.glob("statements_??[12].txt")):
        said = [text for line in path.read_text("utf-8").splitlines() if (text := _own_statement(line))]
        for number, text in enumerate(said[:FRAMED]):
            frames = FRAMES_ZH if text.startswith("我") else FRAMES
            for frames_of, asks in zip(frames, (True, False), strict=True):
                yield Sentence(frames_of[number % len(frames_of)].format(text), asks, text, FRAME)


def _own_statement(line: str) -> str:
    text = TAG.sub("", line).strip()
    return text if 6 <= len(text) <= 60 and OWN.match(text) and not ENDED.search(text) else ""


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_text("utf-8").splitlines()))


def _sentences(text: str, asks: bool, source: str, kept: str = "") -> Iterator[Sentence]:
    """Of a request the likeliest sentence asks; what it says is to stay asks for nothing."""
    said = [sentence for sentence in retractions.split_sentences(text) if retractions.may_ask(sentence)]
    for sentence in said:
        stays = bool(kept) and kept in sentence and not asks
        if not stays:
            yield Sentence(sentence, asks and not (kept and kept in sentence and len(said) > 1), source)


def main() -> None:
    """Fit and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    sentences = [*read_sentences(CORPUS), *frame_statements(CORPUS)]
    texts = read_texts([each.text for each in sentences], [retractions.count_signs(each.text) for each in sentences])
    wanted = [each.asks for each in sentences]
    weight = [WEIGHT * each.weight if each.asks else each.weight for each in sentences]
    if not given.check:
        fitted = fit(texts, wanted, weight, np.ones(len(sentences), np.bool_))
        print(f"{OUT.name}: {write(fitted, OUT)} bytes of {len(sentences)} sentences, {sum(wanted)} requests")
        return
    fold = np.asarray([crc32(each.source.encode()) % FOLDS for each in sentences])
    share = np.zeros(len(sentences))
    for number in range(FOLDS):
        share[fold == number] = estimate(texts, fit(texts, wanted, weight, fold != number))[fold == number]
    asks = np.asarray(wanted)
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        at_least = share >= least
        wrong = f"wrong {at_least[~asks].sum()} of {(~asks).sum()}"
        print(f"at {least}: recall {at_least[asks].mean():.3f} of {asks.sum()}, {wrong}")
    if given.show:
        for place in np.argsort(np.where(asks, 0, -share))[:40]:
            print("WRONG", round(share[place], 2), sentences[place].text[:140])
        for place in np.argsort(np.where(asks, share, 2))[:60]:
            print("MISSED", round(share[place], 2), sentences[place].text[:140])


if __name__ == "__main__":
    main()
