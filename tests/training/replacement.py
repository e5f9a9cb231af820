"""`python -m tests.training.replacement`: fits which value a short message replaces, on written pairs.

`corpus/repairs_*.jsonl` has an earlier statement, a short message, and the old and the new value if it replaces one.
First the words of the message are judged alone (`repairing`), then each pair of phrases of the two texts, with the
option that nothing is replaced (`replacement`). `--check` evaluates each half with a fit on the other.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.judges import HiddenLayer
from shared.extraction.replacement import (
    SIGNS,
    count_own_signs,
    count_signs,
    find_short,
    is_short,
    read_phrases,
    share_out,
)
from tests.training import corpus, natural, text_fit
from tests.training.adam import Weights, write_hidden_layer
from tests.training.text_fit import Fitted, Texts

Numbers = NDArray[np.float64]
WEIGHTS = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights"
LANGUAGES = ("en", "zh")
MARKS = {
    "en": (
        ("no, ", ""),
        ("sorry, ", ""),
        ("i meant ", ""),
        ("make that ", ""),
        ("*", ""),
        ("", ", my bad"),
        ("oops ", ""),
    ),
    "zh": (
        ("不对，", ""),
        ("说错了，", ""),
        ("打错了，是", ""),
        ("应该是", ""),
        ("不是，", ""),
        ("", "，看错了"),
        ("更正，", ""),
    ),
}
"""Phrases around the right value: each label is also used with one of them."""
STATEMENTS_EVERY = 12
"""The sampling interval of statements used as messages that replace nothing of another person's."""
ADDRESSED_EVERY = 3
NAMES = {
    "en": ("Sam", "Priya", "Tom", "Elena", "Marcus", "Grace", "Dan", "Ngozi", "Lucy", "Ivan", "Ruth", "Kai"),
    "zh": ("小李", "老王", "张姐", "阿强", "小雨", "陈哥", "妈", "晓明", "丽丽", "老板", "周老师", "大刘"),
}
"""The interval of labels that are repeated with one of these names in both texts."""
HIDDEN, EPOCHS, BATCH = 32, 40, 16
RATE, LEAST_RATE, DECAY = 0.003, 1e-5, 0.01


@dataclass(frozen=True)
class Label:
    """The earlier statement, empty if unknown, a short message, and the values, if any."""

    before: str
    said: str
    old: str
    new: str

    @property
    def repairs(self) -> bool:
        """Whether the message replaces a value."""
        return bool(self.old)


@dataclass(frozen=True)
class Pairs:
    """The signs of each pair of phrases of a label, and which of them are the values; none if nothing is replaced."""

    signs: Numbers
    right: NDArray[np.intp]


def read_labels(folder: Path) -> list[Label]:
    """Short messages after others; one after another person's words replaces nothing."""
    found: list[Label] = []
    for path in sorted(folder.glob("repairs_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            label = json.loads(line)
            if label["kind"] in ("repair", "none"):
                found.append(Label(label["before"], label["said"], label.get("old", ""), label.get("new", "")))
    random = np.random.default_rng(11)
    for label in [each for each in found if each.repairs]:
        mark, behind = MARKS["en" if label.said.isascii() else "zh"][random.integers(len(MARKS["en"]))]
        found.append(Label(label.before, f"{mark}{label.new}{behind}", label.old, label.new))
    kept = [text for path in sorted(folder.glob("lasting_*.jsonl")) for text in _load_spans(path)]
    kept += [message.text for message in corpus.messages() if message.spans and message.types][::STATEMENTS_EVERY]
    before = [each.before for each in found] + kept
    known = {language: [text for text in before if text.isascii() == (language == "en")] for language in LANGUAGES}
    plain = [*(line.text for line in natural.lines()), *_said_by_people(folder)]
    for text in dict.fromkeys((*filter(None, map(find_short, plain)), *filter(is_short, kept))):
        others = known["en" if text.isascii() else "zh"]
        found.append(Label(others[random.integers(len(others))], text, "", ""))
    return found + [_add_name(label, random) for label in found[::ADDRESSED_EVERY]]


def _add_name(label: Label, random: np.random.Generator) -> Label:
    """The same with the name of the person addressed, which is no value even if it is similar to one."""
    language = "en" if label.said.isascii() else "zh"
    name, other = (NAMES[language][n] for n in random.choice(len(NAMES[language]), 2, replace=False))
    if language == "zh":
        return Label(
            f"{name}，{label.before}", f"{name if random.random() < 0.5 else other}，{label.said}", label.old, label.new
        )
    at = len(label.said.rstrip(".!"))
    said = f"{label.said[:at]}, {name if random.random() < 0.5 else other}{label.said[at:] or '!'}"
    before = f"{label.before}, {name}" if random.random() < 0.5 else f"{name}, {label.before}"
    return Label(before, said, label.old, label.new)


def _said_by_people(folder: Path) -> list[str]:
    """Labelled messages from other sets: hardly any replaces anything."""
    rows = (
        json.loads(line)
        for path in sorted(folder.glob("lasting_*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    )
    return [row["text"] for row in rows if row["source"] != "written"]


def _load_spans(path: Path) -> list[str]:
    """The spans worth storing of labelled messages."""
    return [stretch for line in path.read_text("utf-8").splitlines() for stretch, *_ in json.loads(line)["keep"]]


def fit_words(labels: Sequence[Label], texts: Texts, chosen: NDArray[np.bool_]) -> Fitted:
    """The likelihood that a short message replaces something, by its own words."""
    return text_fit.fit(texts, [each.repairs for each in labels], [1.0] * len(labels), chosen)


def pairs_of(label: Label, likely: float) -> Pairs:
    """The pairs of phrases of a label."""
    old, new = read_phrases(label.before), read_phrases(label.said)
    signs = count_signs(old, new, likely) if old.places and new.places else np.zeros((0, len(SIGNS)))
    wanted = label.before.replace(label.old, label.new, 1).lower() if label.repairs else None
    right = [
        at * len(new.places) + other
        for at, (start, end) in enumerate(old.places)
        for other, value in enumerate(new.words)
        if wanted == (label.before[:start] + value + label.before[end:]).lower()
    ]
    return Pairs(signs, np.asarray(right, np.intp))


def fit_pairs(every: Sequence[Pairs]) -> HiddenLayer:
    """The network that maximises the likelihood of the right pair, or of none."""
    every = [each for each in every if len(each.signs)]
    rows = np.concatenate([each.signs for each in every])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    inner = [(each.signs - mean) / scale for each in every]
    random = np.random.default_rng(0)
    weights = [
        Weights(random.normal(0, 0.3, (rows.shape[1], HIDDEN))),
        Weights(np.zeros(HIDDEN)),
        Weights(random.normal(0, 0.3, HIDDEN)),
        Weights(np.full(1, -5.0)),
    ]
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + LEAST_RATE
        order = random.permutation(len(every))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH].tolist()
            slopes = _slopes([each.now for each in weights], [inner[n] for n in batch], [every[n] for n in batch])
            for each, slope in zip(weights, slopes, strict=True):
                each.move(slope + DECAY * each.now, rate)
    into, bias, out, out_bias = (each.now for each in weights)
    return HiddenLayer(into / scale[:, None], bias - (mean / scale) @ into, out, float(out_bias[0]))


def _slopes(weights: Sequence[Numbers], inner: Sequence[Numbers], every: Sequence[Pairs]) -> list[Numbers]:
    into, bias, out, out_bias = weights
    rows = np.concatenate(inner)
    hidden = np.maximum(rows @ into + bias, 0.0)
    odds = hidden @ out + out_bias
    error = np.zeros(len(odds))
    at = 0
    for pairs in every:
        shares = share_out(odds[at : at + len(pairs.signs)])
        wanted = np.zeros(len(shares))
        if len(pairs.right):
            wanted[pairs.right] = shares[pairs.right] / max(1e-9, shares[pairs.right].sum())
        error[at : at + len(shares)] = (shares - wanted) / len(every)
        at += len(shares)
    back = np.outer(error, out) * (hidden > 0)
    return [rows.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])]


def judge(shares: Numbers, pairs: Pairs) -> tuple[float, bool]:
    """The likelihood of the best pair and of its equivalents, and whether it is right."""
    best = int(shares.argmax())
    right = best in pairs.right
    return float(shares[pairs.right].sum() if right else shares[best]), right


def check(labels: Sequence[Label], texts: Texts) -> None:
    """The results of each half with a fit on the other."""
    half = _halve(labels)
    likely = _likely(labels, texts)
    _report_words(labels, likely)
    told: list[tuple[Label, float, bool]] = []
    every = [pairs_of(label, share) for label, share in zip(labels, likely, strict=True)]
    covered = sum(len(pairs.right) > 0 for pairs in every)
    print(f"{covered} of {sum(each.repairs for each in labels)} have their values among the phrases")
    for unseen in (0, 1):
        scorer = fit_pairs([pairs for pairs, mine in zip(every, half, strict=True) if mine != unseen])
        for label, pairs, mine in zip(labels, every, half, strict=True):
            if mine == unseen and len(pairs.signs):
                shares = share_out(scorer.score(pairs.signs))
                told.append((label, *judge(shares, pairs)))
    there = sum(each.repairs for each in labels)
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        found = [(label, right) for label, share, right in told if share >= least]
        right = sum(ok for _, ok in found)
        idle = sum(not label.repairs for label, _ in found)
        print(
            f"  at {least}: {len(found)} put right, {right / max(1, len(found)):.3f} of them well,"
            f" {right / there:.3f} of all that should be; {idle} where nothing is to be"
        )


def _halve(labels: Sequence[Label]) -> NDArray[np.intp]:
    """0 or 1 for each: labels of one value, in any form, are in one half."""
    return np.asarray([crc32((label.old + label.new or label.said).encode()) % 2 for label in labels], np.intp)


def _likely(labels: Sequence[Label], texts: Texts) -> Numbers:
    """The likelihood of each to replace something, by a fit without it."""
    half = _halve(labels)
    found = np.zeros(len(labels))
    for unseen in (0, 1):
        found[half == unseen] = text_fit.estimate(texts, fit_words(labels, texts, half != unseen))[half == unseen]
    return found


def _report_words(labels: Sequence[Label], likely: Numbers) -> None:
    there = sum(each.repairs for each in labels)
    for least in (0.1, 0.2, 0.3, 0.5, 0.7):
        found = [each.repairs for each, share in zip(labels, likely, strict=True) if share >= least]
        print(
            f"  words alone at {least}: precision {sum(found) / max(1, len(found)):.3f} recall {sum(found) / there:.3f}"
        )


def main() -> None:
    """Fits and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, default=corpus.HERE / "corpus")
    given = parser.parse_args()
    labels = read_labels(given.folder)
    texts = text_fit.read_texts([each.said for each in labels], [count_own_signs(each.said) for each in labels])
    if given.check:
        check(labels, texts)
        return
    everything = np.ones(len(labels), bool)
    text_fit.write(fit_words(labels, texts, everything), WEIGHTS / "repairing.npz")
    likely = _likely(labels, texts)
    scorer = fit_pairs([pairs_of(label, share) for label, share in zip(labels, likely, strict=True)])
    write_hidden_layer(scorer, WEIGHTS / "replacement.npz")


if __name__ == "__main__":
    main()
