"""The network that reads two texts together: padding says nothing, slopes are right, its file is as it was fitted."""

from pathlib import Path

import numpy as np
import pytest

from shared.classifiers import judges
from shared.classifiers.pair_reader import (
    BOTH,
    CLASSES,
    ENDS,
    MOST_UNITS,
    NONE,
    UNREAD,
    PairReader,
    load_pair_reader,
    read_pairs,
    read_units,
)
from shared.classifiers.units import Units
from tests.training import pair_fit
from tests.training.pair_fit import NOT_ENDS, LabelledPair

TEXTS = [
    ("I live in Leeds near the park", "we moved to York in May, what is there to see?"),
    ("房租2300一个月", "一个月房租2600了，唉"),
    ("my cat is old", "ok"),
]


def read(text: str) -> Units:
    units = read_units(text)
    assert units is not None
    return units


def test_a_pair_is_read_the_same_alone_and_beside_longer_ones() -> None:
    reader = load_pair_reader("pairs")
    pairs = [(read(earlier), read(later)) for earlier, later in TEXTS]
    together = reader.estimate(read_pairs(pairs, reader.usual))
    assert together.shape == (len(TEXTS), len(CLASSES))
    assert np.allclose(together.sum(axis=1), 1, atol=1e-5)
    for place, pair in enumerate(pairs):
        alone = reader.estimate(read_pairs([pair], reader.usual))
        assert np.allclose(alone[0], together[place], atol=1e-4)


def test_a_text_without_words_ends_nothing_and_nothing_ends_it() -> None:
    reader = load_pair_reader("pairs")
    assert reader.score(["I live in Leeds"], "") == [UNREAD]
    assert reader.score(["", "I live in Leeds"], "I live in York now")[0] == UNREAD
    assert reader.score([], "I live in York now") == []


@pytest.mark.parametrize(
    "text", ["the plan is at https://a.example/b/c-d", "the plan is at docs/plan.md", "the plan is at me@a.example"]
)
def test_the_parts_of_an_address_are_not_read(text: str) -> None:
    assert read(text).words == ["the", "plan", "is", "at"]


def test_a_stroke_between_words_or_numbers_makes_no_address() -> None:
    assert {"and", "or", "14/15"} <= set(read("ann and/or bo, 14/15").words)


def test_a_long_text_is_read_from_its_beginning() -> None:
    assert len(read("one two three " * 60)) == MOST_UNITS


@pytest.mark.parametrize(
    "named", ["near", "far", "look", "meet", "met", "hidden", "out", "rows", "narrow", "near_bias"]
)
def test_the_slopes_of_the_fit_are_those_of_its_loss(named: str) -> None:
    random = np.random.default_rng(1)
    usual = {"in": 1, "the": 2, "一": 3, "is": 4}
    weights = {name: each.astype(np.float64) for name, each in pair_fit.start(len(usual), random).items()}
    batch = read_pairs([(read(earlier), read(later)) for earlier, later in TEXTS], usual)
    labels, counts = np.asarray([ENDS, NOT_ENDS, BOTH]), np.asarray([1.0, 0.5, 2.0])

    def find_loss() -> float:
        shares = PairReader(usual, weights).estimate(batch)  # type: ignore[arg-type]
        right = np.asarray([shares[0, ENDS], 1 - shares[1, ENDS], shares[2, BOTH]])
        return float((-np.log(right) * counts).sum() / counts.sum())

    slopes, _ = pair_fit.find_slopes(weights, batch, labels, counts, None)  # type: ignore[arg-type]
    part = weights[named]
    for _ in range(4):
        place = tuple(int(random.integers(0, size)) for size in part.shape)
        was = part[place]
        part[place] = was + 1e-4
        more = find_loss()
        part[place] = was - 1e-4
        less = find_loss()
        part[place] = was
        assert slopes[named][place] == pytest.approx((more - less) / 2e-4, rel=0.02, abs=2e-4)


def test_a_fit_learns_its_pairs_and_the_file_tells_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[LabelledPair] = []
    for town in ("Leeds", "York", "Bath", "Hull", "Derby", "Luton", "Wells", "Ripon"):
        earlier = read(f"I live in {town}")
        pairs.append(LabelledPair(earlier, read("I have moved to Oslo"), ENDS, 1.0, plain=False))
        pairs.append(LabelledPair(earlier, read("what is the capital of Peru"), NONE, 1.0, plain=False))
        pairs.append(LabelledPair(earlier, read("is it far to Peru"), NOT_ENDS, 1.0, plain=True))
    fitted = pair_fit.fit(pairs, passes=120)
    batch = read_pairs([(each.earlier, each.later) for each in pairs], fitted.usual)
    shares = fitted.estimate(batch)
    for each, told in zip(pairs, shares, strict=True):
        assert (told[ENDS] > 0.5) == (each.label == ENDS)
    folder = tmp_path / "weights"
    folder.mkdir()
    pair_fit.write(fitted, folder / "small.npz")
    monkeypatch.setattr(judges.resources, "files", lambda _package: tmp_path)
    stored = load_pair_reader.__wrapped__("small")
    assert np.abs(stored.estimate(batch) - shares).max() < 0.35
