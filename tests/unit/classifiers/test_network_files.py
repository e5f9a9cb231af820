"""The file of a network: small, accurate, unpacked once into the cache, or into memory without one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.classifiers import network
from shared.classifiers.network import BLOCKS, Network
from tests.training import shrink

GRAMS = ["", *sorted({f"{one}{other}" for one in "abcdefgh咖啡火车" for other in "ijklmnop茶上海"})]
HIDDEN = 8
SEEN = {gram: 2 + place % 400 for place, gram in enumerate(GRAMS)}
KNOWN, VOCABULARY = shrink.order_by_hash(GRAMS[1:], SEEN, 256)
OFTEN = np.array([0, *(SEEN[gram] for gram in KNOWN)])
TEXTS = [[0, *range(start, start + 12)] for start in range(1, 80, 5)]
ASKED = [[(text, True)] for text in TEXTS]


@pytest.fixture(name="fitted")
def a_fitted_network() -> Network:
    random = np.random.default_rng(3)
    added = random.normal(0, 0.5, (len(KNOWN) + 1, BLOCKS * HIDDEN))
    scale = (np.abs(added).max(axis=0) / 127).astype(np.float32)
    rows = np.rint(added / scale).astype(np.int8)
    hidden, out = random.normal(0, 1, HIDDEN), random.normal(0, 1, (HIDDEN, 3))
    groups = (("tea", "coffee", "火车"),)
    numbers = hidden.astype(np.float32), out.astype(np.float32), np.zeros(3, np.float32)
    return Network(groups, VOCABULARY, rows, scale, *numbers)


@pytest.fixture(name="folder")
def a_folder_of_weights(fitted: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shrink.write(shrink.pack(fitted, OFTEN, shrink.Rounding(0.02), ASKED), tmp_path / "weights" / "small.npz")
    monkeypatch.setattr(network.resources, "files", lambda _package: tmp_path)
    monkeypatch.setattr(network, "CACHE", tmp_path / "cache")
    network.load.cache_clear()
    yield tmp_path
    network.load.cache_clear()


def differ(one: Network, other: Network) -> float:
    """The largest difference between what two networks make of the same texts."""
    texts = [[KNOWN[row - 1] for row in text if row] for text in TEXTS]
    first, second = (each.shares([each.find_rows(text) for text in texts]) for each in (one, other))
    return float(np.abs(first - second).max())


def pack_and_build(fitted: Network, seen: NDArray[np.intp], step: float) -> Network:
    return network.build(shrink.pack(fitted, seen, shrink.Rounding(step), ASKED))


def test_finer_steps_come_nearer_to_what_was_fitted_and_coarser_ones_leave_grams_out(fitted: Network) -> None:
    fine, coarse = (pack_and_build(fitted, OFTEN, step) for step in (0.02, 60.0))
    assert differ(fitted, fine) < 0.02 < differ(fitted, coarse)
    assert np.array_equal(fine.vocabulary.hashes, VOCABULARY.hashes)
    assert len(coarse.grams) == len(coarse.vocabulary.hashes) + 1 < len(KNOWN)
    assert np.array_equal(coarse.grams[0], fitted.grams[0])


def test_what_many_texts_held_is_rounded_more_finely(fitted: Network) -> None:
    rare, often = (pack_and_build(fitted, np.full(len(OFTEN), times), 2.0) for times in (2, 2000))
    assert differ(fitted, often) < differ(fitted, rare)


def test_what_moves_no_class_is_rounded_more_coarsely(fitted: Network) -> None:
    out = fitted.out.copy()
    out[: HIDDEN // 2] *= 0.01
    idle = replace(fitted, out=out)
    wrong = np.abs(pack_and_build(idle, OFTEN, 0.2).grams.astype(int) - idle.grams)[:, :HIDDEN].mean(axis=0)
    assert wrong[: HIDDEN // 2].min() > 3 * wrong[HIDDEN // 2 :].max()


def test_a_file_is_read_as_it_was_packed_and_mapped_from_the_cache(
    fitted: Network, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert differ(fitted, network.load("small")) < 0.02
    network.load.cache_clear()
    monkeypatch.setattr(network, "build", None)
    assert differ(fitted, network.load("small")) < 0.02
    assert len([*(folder / "cache").glob("*/*")]) == 1


def test_concurrent_starts_leave_one_complete_folder(fitted: Network, folder: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        read = [*pool.map(network.load.__wrapped__, ["small"] * 12)]
    assert max(differ(fitted, each) for each in read) < 0.02
    kept = [*(folder / "cache").glob("*/*")]
    assert len(kept) == 1
    assert {each.name for each in kept[0].iterdir()} == {"hashes.npy", "weights.npy"}


def test_without_a_writable_folder_it_is_read_into_memory(fitted: Network, folder: Path) -> None:
    (folder / "cache").write_text("a file stands in the way")
    assert differ(fitted, network.load("small")) < 0.02
    assert [each.name for each in (folder / "weights").iterdir()] == ["small.npz"]


def test_all_weights_together_are_small() -> None:
    folder = Path(network.__file__).parent / network.FOLDER
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 3_000_000
