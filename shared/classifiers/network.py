"""A small network over the grams of texts: weights that were learned from the labelled corpus, read from a file.

Grams are words and n-grams: characters of Chinese, words and stems of the rest. Each gram adds its numbers to a hidden
layer, for the text that holds it, for the text after it and for the one before it; the hidden layer gives a probability
of each class. `tests/training` fits the weights.

Which grams have weights is known by their hashes alone: their words are nowhere. A gram without weights is taken for
one with weights now and then: once in as many times as there are hashes for each gram that has weights. Then one of the
many grams of a text says what it should not.

A file holds them rounded and packed; `unpack_rows` says how. They are unpacked once a machine, into the cache, and
mapped from there: processes share them, and each holds what it has read of them.
"""

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from zipfile import ZipFile
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.packed_numbers import unpack_numbers
from shared.files import CACHE
from shared.language.patterns import to_pattern

_PIECE = to_pattern(r"[a-z][a-z']*|[0-9]+|[\u3400-\u9fff]+|[^\s\w]")
_LONG = 5


def grams(text: str) -> list[str]:
    """Every n-gram, with repetitions: 1 to 4 characters of Chinese; words, pairs, stems and endings of the rest."""
    pieces: list[str] = []
    add = pieces.append
    last = "^"
    for piece in _PIECE.findall(text.lower()):
        if piece[0] >= "\u3400":
            end = len(piece)
            pieces.extend(piece)
            pieces.extend([piece[at : at + 2] for at in range(end - 1)])
            pieces.extend([piece[at : at + 3] for at in range(end - 2)])
            pieces.extend([piece[at : at + 4] for at in range(end - 3)])
            add(f"{last}|{piece[:2]}")
            last = piece[-2:]
            continue
        if piece[0].isdigit():
            piece = "#" * min(len(piece), 4)
        add(f" {piece}")
        add(f"{last}_{piece}")
        if len(piece) > _LONG:
            add(f"{piece[:_LONG]}-")
            add(f"-{piece[-3:]}")
        last = piece
    add(f"{last}_$")
    return pieces


REMEMBERED = 20_000
"""So many grams are found without a look into the hashes."""


def hash_gram(gram: str, room: int) -> int:
    """A whole number below `room`."""
    return crc32(gram.encode()) % room


class Vocabulary(dict[str, int | None]):
    """The row of each gram that has weights, None of any other: `vocabulary[gram]`.

    `hashes` are in order, and `room` is what they are below; the row of the first is 1. As a dict it holds what was
    asked lately.
    """

    def __init__(self, hashes: NDArray[np.uint32], room: int) -> None:
        super().__init__()
        self.hashes = hashes
        self.room = room
        self._numbers = hashes.data
        self._width = max(1, room // max(1, len(hashes)))
        # where the hashes of each stretch of that width begin: there is hardly one in each
        stretches = np.arange(0, room + self._width + 1, self._width)
        self._begins = np.searchsorted(hashes, stretches).astype(np.uint32).data

    def __missing__(self, gram: str) -> int | None:
        number = hash_gram(gram, self.room)
        stretch = number // self._width
        end = self._begins[stretch + 1]
        place = bisect_left(self._numbers, number, self._begins[stretch], end)
        row = place + 1 if place < end and self._numbers[place] == number else None
        if len(self) >= REMEMBERED:
            self.clear()
        self[gram] = row
        return row


FOLDER = "weights"
NAMES = ("statements", "feedback", "intents", "relations", "hostile")
BLOCKS = 3
"""What a gram adds to its own text, to the one after it and to the one before it."""
Numbers = NDArray[np.float32]
Lead = tuple[Numbers, int]
"""What a text adds to the one after it, and how many grams of it are read."""


@dataclass(frozen=True)
class Network:
    """Classes in groups that exclude each other; the probabilities of a group add up to one.

    `grams` is a row of BLOCKS x hidden small integers for each gram of the vocabulary, to be multiplied by `scale`;
    row 0 stands for every text.
    """

    groups: tuple[tuple[str, ...], ...]
    vocabulary: Vocabulary
    grams: NDArray[np.int8]
    scale: Numbers
    hidden: Numbers
    out: Numbers
    bias: Numbers

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of all groups in the order of the shares."""
        return tuple(chain.from_iterable(self.groups))

    def find_rows(self, grams: Sequence[str]) -> list[int]:
        """The rows of those grams that have weights, each once; row 0 always."""
        places = set(map(self.vocabulary.__getitem__, grams))
        places.discard(None)
        places.add(0)
        return list(places)  # pyright: ignore[reportReturnType] # None is out

    def shares(self, texts: Sequence[Sequence[int]]) -> Numbers:
        """The probabilities by class of each text of a message in order, each read with its neighbours."""
        counts = np.fromiter(map(len, texts), np.intp, len(texts))
        flat = np.fromiter(chain.from_iterable(texts), np.intp, int(counts.sum()))
        starts = np.concatenate(([0], counts.cumsum()[:-1]))
        sums = np.add.reduceat(self.grams[flat], starts, axis=0, dtype=np.int32) * self.scale
        follows = np.ones(len(texts), np.float32)
        follows[0] = 0.0
        mixed, _ = mix(sums, counts, follows)
        return self._shares(mixed)

    def share_alone(self, text: Sequence[int]) -> list[float]:
        """As `shares`, of a message of one text."""
        width = len(self.hidden)
        own = self.grams[text, :width].sum(axis=0, dtype=np.int32) * self.scale[:width]
        return self._shares(own[None] * np.float32(len(text) ** -0.5))[0].tolist()

    def lead(self, text: Sequence[int]) -> Lead:
        """What a text adds to the one after it."""
        width = len(self.hidden)
        rows = self.grams[text, width : 2 * width]
        return rows.sum(axis=0, dtype=np.int32) * self.scale[width : 2 * width], len(text)

    def shares_after(self, leads: Sequence[Lead], texts: Sequence[Sequence[int]]) -> Numbers:
        """As `shares`, of each text as the second and last of a message that begins with its lead."""
        width = len(self.hidden)
        own = [self.grams[text, :width].sum(axis=0, dtype=np.int32) for text in texts]
        counts = np.array([len(text) + count for text, (_, count) in zip(texts, leads, strict=True)], np.float32)
        total = np.array(own) * self.scale[:width] + np.array([led for led, _ in leads])
        return self._shares(total / np.sqrt(counts)[:, None])

    def _shares(self, mixed: NDArray[Any]) -> Numbers:
        return softmax(np.maximum(mixed + self.hidden, 0.0) @ self.out + self.bias, self.groups)

    def reasons(self, grams: Sequence[str], name: str, most: int = 3) -> tuple[str, ...]:
        """Those of the grams that speak most for a class, by what each adds to it alone."""
        rows = {gram: row for gram in grams if (row := self.vocabulary[gram]) is not None}
        words, width = [*rows], len(self.hidden)
        own = self.grams[[*rows.values()], :width] * self.scale[:width]
        speaks = own @ self.out[:, self.classes.index(name)]
        best: list[int] = np.argsort(-speaks)[:most].tolist()
        return tuple(words[place].strip() for place in best if speaks[place] > 0)


def mix(sums: NDArray[Any], counts: NDArray[np.intp], follows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Each text's own part and what its neighbours add, divided by the root of how many grams are read; that root.

    `follows` is 1 where a text stands behind another of the same message, 0 where a message begins.
    """
    width = sums.shape[1] // BLOCKS
    total = sums[:, :width].astype(np.float32)
    behind = follows[1:, None]
    total[1:] += sums[:-1, width : 2 * width] * behind
    total[:-1] += sums[1:, 2 * width :] * behind
    read = counts.astype(np.float32)
    read[1:] += counts[:-1] * follows[1:]
    read[:-1] += counts[1:] * follows[1:]
    root = np.sqrt(read)[:, None]
    return total / root, root


def softmax(scores: NDArray[Any], groups: Sequence[Sequence[str]]) -> NDArray[Any]:
    """Probabilities within each group of classes."""
    shares = np.empty_like(scores)
    start = 0
    for group in groups:
        end = start + len(group)
        part = np.exp(scores[:, start:end] - scores[:, start:end].max(axis=1, keepdims=True))
        shares[:, start:end] = part / part.sum(axis=1, keepdims=True)
        start = end
    return shares


@lru_cache
def load(name: str) -> Network:
    """The network of that name: mapped from the cache, or in memory where nothing can be written there."""
    with resources.as_file(resources.files("shared.classifiers").joinpath(FOLDER, f"{name}.npz")) as packed:
        kept = CACHE / FOLDER / f"{name}-{_stamp(packed)}"
        with np.load(packed, allow_pickle=False) as read:
            return _map_from(kept, read)


def _stamp(packed: Path) -> str:
    """Other weights have another stamp: it is of the sums of what the file holds."""
    with ZipFile(packed) as archive:
        return blake2b(repr([each.CRC for each in archive.infolist()]).encode(), digest_size=8).hexdigest()


def build(parts: Mapping[str, NDArray[Any]]) -> Network:
    """The network of the parts of a file, in memory."""
    return _assemble(parts, unpack_hashes(parts), unpack_rows(parts))


def _assemble(parts: Mapping[str, NDArray[Any]], hashes: NDArray[np.uint32], rows: NDArray[np.int8]) -> Network:
    groups = tuple(tuple(line.split("\t")) for line in str(parts["groups"]).split("\n"))
    vocabulary = Vocabulary(hashes, int(parts["room"]))
    return Network(groups, vocabulary, rows, parts["scale"], parts["hidden"], parts["out"], parts["bias"])


def unpack_hashes(parts: Mapping[str, NDArray[Any]]) -> NDArray[np.uint32]:
    """The hashes of the grams, in order: the file holds by how much each is above the last, low bytes first."""
    low, high = parts["gaps"].astype(np.uint32)
    return (low | high << 8).cumsum(dtype=np.uint32)


def unpack_rows(parts: Mapping[str, NDArray[Any]]) -> NDArray[np.int8]:
    """What each gram adds, in steps of `scale`.

    The file holds how far each gram goes in the directions that tell classes apart most, block by block: whole steps
    that are half as wide for each of the gram's `halvings`. How large they are in the mean, by direction and halvings,
    says of which of the `kinds` they are. What every text adds stands in `always`.
    """
    halvings, scale = parts["halvings"], parts["scale"]
    kinds = parts["kinds"][:, halvings]
    packed = unpack_numbers(parts["words"], parts["states"], parts["frequencies"], kinds.reshape(-1))
    numbers, directions = packed.reshape(kinds.shape), parts["directions"] * parts["lengths"][:, None]
    steps = np.ldexp(np.float32(1.0), -halvings.astype(np.int32)).astype(np.float32)
    rows = np.empty((len(halvings) + 1, len(scale)), np.int8)
    rows[0] = np.round(parts["always"] / scale)
    width, begin = len(scale) // BLOCKS, 0
    for block, count in enumerate(parts["counts"].tolist()):
        columns, told = slice(block * width, (block + 1) * width), slice(begin, begin + count)
        sums = (numbers[told].T * steps[:, None]) @ directions[told]
        rows[1:, columns] = np.clip(np.round(sums / scale[columns]), -127, 127)
        begin += count
    return rows


def _map_from(folder: Path, archive: Any) -> Network:
    try:
        if not folder.is_dir():
            _unpack(build(archive), folder)
        hashes, weights = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("hashes", "weights"))
        return _assemble(archive, hashes.view(np.ndarray), weights.view(np.ndarray))
    except OSError:
        return build(archive)


def _unpack(network: Network, folder: Path) -> None:
    """The folder holds the weights, whole: it appears at once, however many processes make it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(dir=folder.parent))
    try:
        np.save(unfinished / "hashes.npy", network.vocabulary.hashes)
        np.save(unfinished / "weights.npy", network.grams)
        for each in unfinished.iterdir():
            with each.open("rb") as file:
                os.fsync(file.fileno())
        with suppress(OSError):  # another process was first
            unfinished.rename(folder)
    finally:
        rmtree(unfinished, ignore_errors=True)


if __name__ == "__main__":  # so that no process has to do it when it begins to read
    for each in NAMES:
        load(each)
