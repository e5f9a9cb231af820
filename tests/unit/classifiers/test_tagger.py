"""The network of words reads whole texts, and its file is as it was fitted but for rounding."""

from pathlib import Path

import numpy as np
import pytest

from shared.classifiers import judges
from shared.classifiers.tagger import SIDE, SLIP, TYPE, WORTH, find_seen, load_tagger
from shared.classifiers.units import split_units
from shared.extraction.word_tags import TYPES
from tests.training import tagger_fit
from tests.training.tagger_fit import Answer, Example, Group


@pytest.mark.parametrize(("name", "heads"), [("slips", {SLIP: 4}), ("worth", {WORTH: 2, TYPE: len(TYPES)})])
def test_each_unit_has_a_probability_of_each_class_of_each_head(name: str, heads: dict[str, int]) -> None:
    units = split_units("the code is 4417, sorry, 4471, for the back door", 50)
    assert units is not None
    shares = load_tagger(name).estimate(units)
    assert {head: each.shape for head, each in shares.items()} == {
        head: (len(units), classes) for head, classes in heads.items()
    }
    for each in shares.values():
        assert np.allclose(each.sum(axis=1), 1, atol=1e-5)


def test_a_layer_looks_at_units_on_either_side_and_at_nothing_beyond_the_text() -> None:
    seen = find_seen(4, 2)
    assert seen.shape == (4, 2 * SIDE + 1)
    assert seen[0].tolist() == [4, 4, 0, 2, 4]
    assert seen[3].tolist() == [4, 1, 3, 4, 4]


def test_a_fit_learns_its_examples_and_the_file_tells_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger_fit, "PASSES", 30)
    examples: list[Example] = []
    for name in ("Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal"):
        units = split_units(f"my cat is {name}, oops, Zed, she is old", 50)
        assert units is not None
        parts = np.asarray([0, 0, 0, 1, 2, 2, 2, 3, *[0] * (len(units) - 8)], np.intp)
        worth = np.asarray([*[1] * 8, *[0] * (len(units) - 8)], np.intp)
        weights = np.ones(len(units), np.float32)
        examples.append(Example(units, {SLIP: Answer(parts, weights), WORTH: Answer(worth, weights)}))
    plain = [each for text in ("my cat is old and grey", "she is Ann, he is Bo") if (each := split_units(text, 50))]
    others = [
        Example(each, {SLIP: Answer(np.zeros(len(each), np.intp), np.ones(len(each), np.float32))}) for each in plain
    ]
    fitted = tagger_fit.fit([Group(examples, times=2), Group(others)], (SLIP, WORTH))
    for head in (SLIP, WORTH):
        told = fitted.estimate(examples[0].units)[head].argmax(axis=1)
        assert told.tolist() == examples[0].answers[head].classes.tolist()
    folder = tmp_path / "weights"
    folder.mkdir()
    tagger_fit.write(fitted, folder / "small.npz")
    monkeypatch.setattr(judges.resources, "files", lambda _package: tmp_path)
    read = load_tagger.__wrapped__("small")
    for each in examples:
        for head, shares in fitted.estimate(each.units).items():
            assert np.abs(read.estimate(each.units)[head] - shares).max() < 0.3
