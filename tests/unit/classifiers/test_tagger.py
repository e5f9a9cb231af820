"""The network of parts reads whole texts, and its file is as it was fitted but for rounding."""

from pathlib import Path

import numpy as np
import pytest

from shared.classifiers import judges
from shared.classifiers.tagger import SIDE, find_seen, load_tagger
from shared.classifiers.units import split_units
from tests.training import tagger_fit
from tests.training.tagger_fit import Example


def test_each_unit_has_a_probability_of_each_part() -> None:
    units = split_units("the code is 4417, sorry, 4471, for the back door", 50)
    assert units is not None
    shares = load_tagger("slips").estimate(units)
    assert shares.shape == (len(units), 4)
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)


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
        examples.append(Example(units, parts, 1.0))
    plain = [each for text in ("my cat is old and grey", "she is Ann, he is Bo") if (each := split_units(text, 50))]
    fitted = tagger_fit.fit(examples, [Example(each, np.zeros(len(each), np.intp), 1.0) for each in plain])
    assert fitted.estimate(examples[0].units).argmax(axis=1).tolist() == examples[0].parts.tolist()
    folder = tmp_path / "weights"
    folder.mkdir()
    tagger_fit.write(fitted, folder / "small.npz")
    monkeypatch.setattr(judges.resources, "files", lambda _package: tmp_path)
    read = load_tagger.__wrapped__("small")
    for each in examples:
        assert np.abs(read.estimate(each.units) - fitted.estimate(each.units)).max() < 0.3
