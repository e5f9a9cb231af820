"""What a small network says of each word of a message: its part in a slip, and what its sentence is worth.

`tests/training/tagging.py` fits the network.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.cache import of_texts
from shared.classifiers.tagger import SLIP, TYPE, WORTH, Tagger, load_tagger
from shared.classifiers.units import Units, split_units

Shares = NDArray[np.floating[Any]]
MOST_UNITS = 160
"""A longer message is read sentence by sentence, and no slip is looked for in it."""
TYPES = (
    "profile",
    "preference",
    "constraint",
    "event",
    "task",
    "goal",
    "decision",
    "pattern",
    "note",
    "case",
)
"""The types of memory that the network tells apart, in the order of its classes."""
NOTHING_SAID = (0.0,) * (2 + len(TYPES))
_LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class WordTags:
    """The units of a text; for each the shares of the parts of a slip, of worth keeping, and of types."""

    units: Units
    slips: Shares
    worth: Shares
    types: Shares

    def describe(self, begin: int, end: int) -> tuple[float, ...]:
        """What is said of this stretch of the text.

        The mean and the largest log odds of its units that it is worth keeping, and the mean share of each type.
        """
        units = self.units
        inside = [place for place in range(len(units)) if units.starts[place] < end and begin < units.ends[place]]
        if not inside:
            return NOTHING_SAID
        worth = np.clip(self.worth[inside], _LEAST, 1 - _LEAST)
        odds = np.log(worth / (1 - worth))
        return float(odds.mean()), float(odds.max()), *self.types[inside].mean(axis=0).tolist()


@of_texts(64)
def tag_words(text: str) -> WordTags | None:
    """What the network says of each word; None if the text has too many, or none."""
    units = split_units(text, MOST_UNITS)
    return None if units is None else read_tags(load_tagger("words"), units)


def read_tags(network: Tagger, units: Units) -> WordTags:
    """What this network says of each unit."""
    shares = network.estimate(units)
    return WordTags(units, shares[SLIP], shares[WORTH][:, 1], shares[TYPE])


def describe_sentence(text: str, begin: int, end: int) -> tuple[float, ...]:
    """What the network says of a sentence, read within its text where that is not too long."""
    if tags := tag_words(text):
        return tags.describe(begin, end)
    alone = tag_words(text[begin:end])
    return alone.describe(0, end - begin) if alone else NOTHING_SAID
