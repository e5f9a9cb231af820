"""The file of a network: small, accurate, unpacked once into the cache, or into memory without one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from shared.classifiers import network
from shared.classifiers.network import BLOCKS, Network, Vocabulary
from tests.training import shrink

GRAMS = ["", *sorted({f"{one}{other}" for one in "abcdefgh咖啡火车" for other in "ijklmnop茶上海"})]
HIDDEN = 8
SEEN = {gram: 2 + place % 400 for place, gram in enumerate(GRAMS)}
TEXTS = [[0, *range(start, start + 12)] for start in range(1, 80, 5)]


@pytest.fixture(name="fitted")
def a_fitted_network() -> Network:
    random = np.random.default_rng(3)
    added = random.normal(0, 0.5, (len(GRAMS), BLOCKS * HIDDEN))
    scale = (np.abs(added).max(axis=0) / 127).astype(np.float32)
    rows = np.rint(added / scale).astype(np.int8)
    hidden, out = random.normal(0, 1, HIDDEN), random.normal(0, 1, (HIDDEN, 3))
    groups = (("tea", "coffee", "火车"),)
    numbers = hidden.astype(np.float32), out.astype(np.float32), np.zeros(3, np.float32)
    return Network(groups, Vocabulary.of(GRAMS), rows, scale, *numbers)


@pytest.fixture(name="folder")
def a_folder_of_weights(fitted: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shrink.write(shrink.pack(fitted, SEEN, 0.05), tmp_path / "weights" / "small.npz")
    monkeypatch.setattr(network.resources, "files", lambda _package: tmp_path)
    monkeypatch.setattr(network, "CACHE", tmp_path / "cache")
    network.load.cache_clear()
    yield tmp_path
    network.load.cache_clear()


def differ(one: Network, other: Network) -> float:
    """The largest difference between the outputs of two networks for the same texts."""
    names = one.vocabulary.grams()
    texts = [[names[row] for row in text] for text in TEXTS]
    first, second = (each.shares([each.find_rows(text) for text in texts]) for each in (one, other))
    return float(np.abs(first - second).max())


def test_finer_steps_are_more_accurate_and_coarser_ones_omit_grams(fitted: Network) -> None:
    fine, coarse = (network.build(shrink.pack(fitted, SEEN, step)) for step in (0.05, 60.0))
    assert differ(fitted, fine) < 0.02 < differ(fitted, coarse)
    assert fine.vocabulary.grams() == fitted.vocabulary.grams()
    assert coarse.vocabulary.grams()[0] == ""
    assert len(coarse.grams) < len(GRAMS)
    assert np.array_equal(coarse.grams[0], fitted.grams[0])


def test_frequent_grams_are_rounded_more_finely(fitted: Network) -> None:
    rare, often = (network.build(shrink.pack(fitted, dict.fromkeys(GRAMS, times), 2.0)) for times in (2, 2000))
    assert differ(fitted, often) < differ(fitted, rare)


def test_a_packed_file_is_read_exactly_and_mapped_from_the_cache(
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
    assert {each.name for each in kept[0].iterdir()} == {"grams.trie", "rows.npy", "weights.npy"}


def test_without_a_writable_folder_it_is_read_into_memory(fitted: Network, folder: Path) -> None:
    (folder / "cache").write_text("a file stands in the way")
    assert differ(fitted, network.load("small")) < 0.02
    assert [each.name for each in (folder / "weights").iterdir()] == ["small.npz"]


def test_all_weights_together_are_small() -> None:
    folder = Path(network.__file__).parent / network.FOLDER
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 7_710_000
