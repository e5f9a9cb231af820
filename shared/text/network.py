"""A small network over the grams of texts: weights that were learned from the labelled corpus, read from a file.

Each gram adds its numbers to a hidden layer, for the text that holds it, for the text after it and for the one before
it; the hidden layer gives a probability of each class. `tests/learning` fits the weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    `grams` is a row of BLOCKS x hidden small integers for each gram in `ids`, to be multiplied by `scale`; row 0
    stands for every text.
    """

    groups: tuple[tuple[str, ...], ...]
    ids: Mapping[str, int]
    grams: NDArray[np.int8]
    scale: Numbers
    hidden: Numbers
    out: Numbers
    bias: Numbers

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of all groups in the order of the shares."""
        return tuple(chain.from_iterable(self.groups))

    def known(self, grams: Sequence[str]) -> list[int]:
        """The rows of those grams that have weights, each once; row 0 always."""
        places = set(map(self.ids.get, grams))
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

    def alone(self, text: Sequence[int]) -> list[float]:
        """As `shares`, of a message of one text."""
        mixed = self._own.take(text, axis=0).sum(axis=0) * np.float32(len(text) ** -0.5)
        return self._shares(mixed[None])[0].tolist()

    @cached_property
    def _own(self) -> Numbers:
        width = len(self.hidden)
        return self.grams[:, :width] * self.scale[:width]

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
        words = [gram for gram in dict.fromkeys(grams) if gram in self.ids]
        width = len(self.hidden)
        own = self.grams[[self.ids[word] for word in words], :width] * self.scale[:width]
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
    """The network of that name, read once from the package."""
    with resources.files("shared.text").joinpath(FOLDER, f"{name}.npz").open("rb") as file:
        read = np.load(file, allow_pickle=False)
        groups = tuple(tuple(line.split("\t")) for line in str(read["groups"]).split("\n"))
        words = str(read["grams"]).split("\n")
        ids = {gram: place for place, gram in enumerate(words)}
        return Network(groups, ids, read["rows"], read["scale"], read["hidden"], read["out"], read["bias"])


def warm() -> None:
    """Every network is read now, so that no request waits for it."""
    for name in NAMES:
        load(name)
