"""Compresses a fitted network for the repository; `shared.classifiers.network` unpacks it.

Rounding errors of a gram matter in proportion to its frequency. The weights of grams are therefore rotated to their
principal directions, weighted by their effect on the classes, and rounded more coarsely for rare grams; zeros are
omitted. Most numbers become zero, and the others need few bits.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.network import BLOCKS, Network

MOST = 127
Parts = dict[str, NDArray[Any]]


def pack(network: Network, seen: Mapping[str, int], step: float) -> Parts:
    """The parts of a file; `seen` is the number of texts with each gram, `step` the rounding step
    of a gram of one text.
    """
    words = network.vocabulary.grams()
    added = network.grams * network.scale
    matters = np.sqrt((network.out**2).sum(axis=1)) + np.float32(1e-6)
    turned = [_turn(block * matters) for block in np.split(added, BLOCKS, axis=1)]
    far = np.concatenate([numbers for numbers, _ in turned], axis=1)
    often = np.array([seen.get(word, 0) for word in words]) + 1.0
    halvings = np.round(np.log2(np.maximum(often, 2.0)) / 2)
    fits = np.floor(np.log2(MOST * step / (np.abs(far).max(axis=1) + 1e-9)))
    halvings = np.minimum(halvings, fits)
    steps = far / (step * np.exp2(-halvings))[:, None]
    whole = np.clip(np.round(steps), -MOST, MOST).astype(np.int8)
    whole[0], halvings[0] = 0, 0
    kept = np.any(whole != 0, axis=1)
    kept[0] = True
    order = [0, *sorted(np.flatnonzero(kept)[1:].tolist(), key=lambda place: words[place])]
    return _to_parts(network, [words[place] for place in order], whole[order], halvings[order], turned, step, matters)


def _turn(block: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows in their principal directions, largest first, and these directions."""
    directions = np.linalg.eigh((block.T @ block).astype(np.float64))[1][:, ::-1]
    return block @ directions, directions.T


def _to_parts(
    network: Network,
    words: list[str],
    whole: NDArray[np.int8],
    halvings: NDArray[Any],
    turned: list[tuple[NDArray[Any], NDArray[Any]]],
    step: float,
    matters: NDArray[Any],
) -> Parts:
    told = whole.any(axis=0)
    directions = np.concatenate([each * step / matters for _, each in turned])[told]
    return {
        "groups": np.array("\n".join("\t".join(group) for group in network.groups)),
        "grams": np.array("\n".join(words).encode()),
        "halvings": halvings.astype(np.int8),
        "numbers": np.ascontiguousarray(whole[np.argsort(halvings, kind="stable")][:, told].T),
        "directions": directions.astype(np.float16),
        "counts": np.array([part.sum() for part in np.split(told, BLOCKS)]),
        "always": network.grams[0] * network.scale,
        "scale": network.scale,
        "hidden": network.hidden,
        "out": network.out,
        "bias": network.bias,
    }


def write(parts: Parts, path: Path) -> None:
    """The file for `shared.classifiers.network.load`: numpy's format, compressed more strongly."""
    path.parent.mkdir(exist_ok=True)
    with ZipFile(path, "w", ZIP_LZMA) as archive:
        for name, part in parts.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.save(file, part)
