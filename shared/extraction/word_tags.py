"""What two small networks say of each word of a message: its part in a slip, and what its sentence is worth.

`tests/training/tagging.py` fits them.
"""

from collections.abc import Callable, Mapping
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
class SlipTags:
    """The units of a text, and for each the shares of the parts of a slip."""

    units: Units
    shares: Shares


@of_texts(64)
def tag_slips(text: str) -> SlipTags | None:
    """What the network of slips says of each word; None if the text has too many, or none."""
    units = split_units(text, MOST_UNITS)
    return None if units is None else SlipTags(units, load_tagger("slips").estimate(units)[SLIP])


Worth = tuple[Units, Mapping[str, Shares]]
"""The units of a text, and by head the shares of each."""


@of_texts(64)
def _tag_worth(text: str) -> Worth | None:
    return tag_worth(load_tagger("worth"), text)


def tag_worth(network: Tagger, text: str) -> Worth | None:
    """What this network says of each word; None if the text has too many, or none."""
    units = split_units(text, MOST_UNITS)
    return None if units is None else (units, network.estimate(units))


def describe_sentence(
    text: str, begin: int, end: int, tag: Callable[[str], Worth | None] = _tag_worth
) -> tuple[float, ...]:
    """What the network of worth says of a sentence, read within its lines where those are not too long.

    Other lines may be pasted, and say nothing of what its speaker means.
    """
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", end)
    if tagged := tag(text[first : last if last >= 0 else len(text)]):
        return _describe_stretch(*tagged, begin - first, end - first)
    alone = tag(text[begin:end])
    return _describe_stretch(*alone, 0, end - begin) if alone else NOTHING_SAID


def _describe_stretch(units: Units, shares: Mapping[str, Shares], begin: int, end: int) -> tuple[float, ...]:
    """What the shares of units say of a stretch of their text.

    The mean and the largest log odds of its units that it is worth keeping, and the mean share of each type.
    """
    inside = [place for place in range(len(units)) if units.starts[place] < end and begin < units.ends[place]]
    if not inside:
        return NOTHING_SAID
    worth = np.clip(shares[WORTH][inside, 1], _LEAST, 1 - _LEAST)
    odds = np.log(worth / (1 - worth))
    return float(odds.mean()), float(odds.max()), *shares[TYPE][inside].mean(axis=0).tolist()
