"""Compresses a fitted network for the repository; `shared.classifiers.network` unpacks it.

Rounding errors of a gram count as often as texts hold it, and as much as the classes of these texts move with them. So
what a gram adds is told in the directions in which grams differ most as the classes see it, and rounded the coarser the
fewer texts held it; what comes to nothing is left out. Most numbers become zero or small, and are packed to what they
tell. Of the grams only hashes are kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.network import BLOCKS, Network, Vocabulary, hash_gram, mix, softmax
from tests.training import pack_numbers
from tests.training.rounding import MOST, Price, Rows, Text, round_together

Parts = dict[str, NDArray[Any]]
ASKED = 15_000
"""By so many messages it is seen what rounding errors do to the classes."""


def order_by_hash(grams: Iterable[str], seen: Mapping[str, int], room: int) -> tuple[list[str], Vocabulary]:
    """The grams in the order of their hashes; of such as have the same one that which most texts held.

    There are `room` times as many hashes as grams.
    """
    known = sorted(grams, key=lambda gram: (-seen.get(gram, 0), gram))
    room *= len(known)
    by_hash: dict[int, str] = {}
    for gram in known:
        by_hash.setdefault(hash_gram(gram, room), gram)
    hashes = np.array(sorted(by_hash), np.uint32)
    return [by_hash[number] for number in hashes.tolist()], Vocabulary(hashes, room)


@dataclass(frozen=True)
class Rounding:
    """How coarsely a gram of one text is rounded.

    Of what a hidden number is worth the share `plain` is what it gives the classes in any text, the rest what it gives
    them in those that were met. As much `doubt` is put into what the network says of these. With a `price` grams are
    rounded together.
    """

    step: float
    plain: float = 0.1
    doubt: float = 0.1
    price: Price | None = None


def pack(network: Network, seen: NDArray[Any], how: Rounding, messages: Sequence[Sequence[Text]]) -> Parts:
    """The parts of a file; `seen` is how many texts held the gram of each row.

    `messages` are what the network is asked for.
    """
    views = find_views(network, messages[:ASKED], how)
    turned = [_turn(block, views) for block in np.split(network.grams * network.scale, BLOCKS, axis=1)]
    far = np.concatenate([numbers for numbers, _ in turned], axis=1)[1:]
    halvings = np.round(np.log2(np.maximum(seen[1:] + 1.0, 2.0)) / 2)
    halvings = np.minimum(halvings, np.floor(np.log2(MOST * how.step / (np.abs(far).max(axis=1) + 1e-9))))
    rows = Rows(far.astype(np.float32), halvings.astype(np.intp), how.step, seen[1:])
    turns = [turn for _, turn in turned]
    whole = round_together(rows, turns, messages, how.price) if how.price else rows.round_alone()
    kept, told = np.any(whole != 0, axis=1), np.any(whole != 0, axis=0)
    step = how.step * 2.0 ** -float(rows.halvings.min())
    directions = np.concatenate([turn.T @ np.linalg.inv(views) * step for turn in turns])[told]
    counts = np.array([part.sum() for part in np.split(told, BLOCKS)])
    return _to_parts(network, kept, whole[kept][:, told].T, rows.parts[kept], directions, counts)


def find_views(network: Network, messages: Sequence[Sequence[Text]], how: Rounding) -> NDArray[Any]:
    """What the classes see of the hidden numbers, a column each: errors as long there move them as much."""
    worth = _weigh_moves(network, messages, how.doubt)
    plain = (network.out**2).sum(axis=1) + 1e-9
    plain *= np.trace(worth) / plain.sum()
    sizes, ways = np.linalg.eigh((1 - how.plain) * worth + how.plain * np.diag(plain))
    sizes = np.maximum(sizes, 1e-9 * sizes.max())
    return ways * np.sqrt(sizes / sizes.mean())


def _weigh_moves(network: Network, messages: Sequence[Sequence[Text]], doubt: float) -> NDArray[Any]:
    """How much errors of two hidden numbers together move the classes of these texts, in the mean."""
    texts = [text for message in messages for text in message]
    asked = np.array([text[1] for text in texts])
    counts = np.array([len(rows) for rows, _ in texts])
    follows = np.array([float(place > 0) for message in messages for place in range(len(message))], np.float32)
    flat = np.concatenate([np.asarray(rows, np.intp) for rows, _ in texts])
    starts = np.concatenate(([0], counts.cumsum()[:-1]))
    sums = np.add.reduceat(network.grams[flat], starts, axis=0, dtype=np.int32) * network.scale
    layer = (mix(sums, counts, follows)[0] + network.hidden)[asked]
    shares = softmax(np.maximum(layer, 0.0) @ network.out + network.bias, network.groups)
    live = (layer > 0).astype(np.float32)
    worth, start = np.zeros((len(network.hidden),) * 2), 0
    for number, group in enumerate(network.groups):
        own = slice(start, start + len(group))
        out, share = network.out[:, own], shares[:, own] * (1 - doubt) + doubt / len(group)
        means = share @ out.T
        for place in range(len(group)):
            moves = live * (out[:, place] - means) * np.sqrt(share[:, place : place + 1])
            worth += moves.T @ moves * (1.0 if number == 0 else 0.5)
        start += len(group)
    return worth / len(layer)


def _turn(block: NDArray[Any], views: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows by what is seen of them, in directions in which they differ most first, and how that was turned."""
    seen = (block @ views).astype(np.float64)
    ways = np.linalg.eigh(seen.T @ seen)[1][:, ::-1]
    return seen @ ways, ways


def _to_parts(
    network: Network,
    kept: NDArray[np.bool_],
    numbers: NDArray[np.int8],
    parts: NDArray[np.intp],
    directions: NDArray[Any],
    counts: NDArray[Any],
) -> Parts:
    kinds = pack_numbers.sort_kinds(numbers, parts)
    told, of = np.ascontiguousarray(numbers).reshape(-1), kinds[:, parts].reshape(-1)
    frequencies = pack_numbers.count_frequencies(told, of)
    words, states = pack_numbers.pack_numbers(told, of, frequencies)
    lengths = (np.abs(directions).max(axis=1) / MOST).astype(np.float32)
    gaps = np.diff(network.vocabulary.hashes[kept], prepend=np.uint32(0))
    return {
        "groups": np.array("\n".join("\t".join(group) for group in network.groups)),
        "room": np.array(network.vocabulary.room),
        "gaps": np.stack([gaps & 255, gaps >> 8]).astype(np.uint8),
        "halvings": parts.astype(np.uint8),
        "kinds": kinds,
        "frequencies": frequencies,
        "words": words,
        "states": states,
        "directions": np.round(directions / lengths[:, None]).astype(np.int8),
        "lengths": lengths,
        "counts": counts,
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
