"""The release gate: precision and recall on all labelled sets, rules alone (seed 004 2.3.2.1, R157)."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from services.cli.evaluate import gate, judge
from services.cli.evaluate.sets import (
    Contradiction,
    Correction,
    Hostile,
    LabelledExtraction,
    LabelledFeedback,
    Secret,
    SetName,
    read,
)
from shared.policy import Floor, GatePolicy

HERE = Path(__file__).parent
HARD = GatePolicy(
    floors={
        "extraction": Floor(precision=0.76, recall=0.64),
        "corrections": Floor(precision=0.92, recall=0.85),
        "contradictions": Floor(precision=0.9, recall=0.5),
        "end states": Floor(precision=0.43, recall=0.4),
        "refusal": Floor(precision=0.9, recall=0.9, benign=0.95),
        "feedback": Floor(precision=0.78, recall=0.78),
    }
)
"""Minimum figures for figurative, long and indirect messages."""


@pytest.mark.parametrize(
    "name",
    [
        "extraction",
        "corrections",
        "contradictions",
        "conversations",
        "feedback",
        "refusal",
        "intents",
        "hostile",
        "dates",
    ],
)
def test_ordinary_messages_outside_the_fit_pass_the_gate(
    name: SetName, record_property: Callable[[str, object], None]
) -> None:
    scores = asyncio.run(judge.judge(name, HERE, "held", None))
    found = gate.verdicts(scores, GatePolicy())
    assert len(found) >= 2
    for verdict in found:
        record_property(verdict.name, round(verdict.measured, 3))
    assert [f"{v.name} {v.measured:.3f} < {v.floor}" for v in found if not v.passed] == []


@pytest.mark.parametrize(
    "name", ["extraction", "corrections", "contradictions", "conversations", "feedback", "refusal"]
)
def test_hard_messages_reach_their_floors(name: SetName, record_property: Callable[[str, object], None]) -> None:
    found = gate.verdicts(asyncio.run(judge.judge(name, HERE, "hard", None)), HARD)
    assert len(found) >= 2
    for verdict in found:
        record_property(f"hard {verdict.name}", round(verdict.measured, 3))
    assert [f"{v.name} {v.measured:.3f} < {v.floor}" for v in found if not v.passed] == []


def test_the_sets_are_large_and_have_both_languages() -> None:
    extraction = read(HERE, "extraction", LabelledExtraction)
    counted = Counter(label.kind for label in extraction)
    assert len(extraction) >= 240
    assert min(counted["positive"], counted["negative"]) >= 0.3 * len(extraction)
    assert counted["edge"] >= 0.15 * len(extraction)
    for name, of in (("corrections", Correction), ("feedback", LabelledFeedback), ("refusal", Secret)):
        labels = read(HERE, name, of)
        assert len(labels) >= 60
        assert {label.language for label in labels} == {"zh", "en", "mixed"}


def test_contradictions_are_of_every_kind_in_both_languages() -> None:
    labels = read(HERE, "contradictions", Contradiction)
    counted = Counter((label.language, label.kind) for label in labels if label.part == "held")
    assert sum(counted.values()) >= 80
    assert {language for language, _ in counted} == {"zh", "en"}
    assert {kind for _, kind in counted} == {label.kind for label in labels}
    for label in labels:
        assert any(label.old in text for text in label.before), label.id
        assert (label.new is not None) == (label.expect in ("replace", "add")), label.id


def test_hostile_texts_are_of_every_kind_in_both_languages() -> None:
    labels = read(HERE, "hostile", Hostile)
    for language in ("zh", "en"):
        kinds = {(label.attack, label.kind) for label in labels if label.language == language}
        assert len({kind for side, kind in kinds if side == "attack"}) == 12, language
        assert len({kind for side, kind in kinds if side == "benign"}) == 7, language


def test_labels_contain_only_words_of_the_message() -> None:
    for label in read(HERE, "extraction", LabelledExtraction):
        said = f"{label.before or ''}\n{label.text}".lower()
        for expected in label.expect:
            for words in expected.says:
                assert any(word.lower() in said for word in words.split("|")), (label.text, words)
