"""Compares stated confidence with observed correctness: Brier score, expected calibration error, reliability. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum

from services.cli.evaluate.received import After
from services.cli.evaluate.stated import Stated

BINS = 10
Belief = tuple[float, bool]
"""A confidence, and whether its statement is correct."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The statements within one interval of confidence: their number, mean confidence, and share of correct ones."""

    low: float
    high: float
    n: int
    stated: float
    observed: float


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """The calibration of some statements. `plain` is the Brier score of always stating the overall share of correct
    ones."""

    n: int
    stated: float
    observed: float
    brier: float
    plain: float
    ece: float
    ece_mass: float
    bins: tuple[Bin, ...]


def figures(beliefs: Sequence[Belief]) -> CalibrationFigures:
    """All figures of these statements; 0 if there are none."""
    equal = _cut(beliefs)
    so = _mean(right for _, right in beliefs)
    return CalibrationFigures(
        n=len(beliefs),
        stated=_mean(confidence for confidence, _ in beliefs),
        observed=so,
        brier=_mean((confidence - right) ** 2 for confidence, right in beliefs),
        plain=so * (1 - so),
        ece=_error(equal),
        ece_mass=_error(to_bins(beliefs)),
        bins=equal,
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fsum(found) / len(found) if found else 0.0


def _error(bins: Sequence[Bin]) -> float:
    """The weighted error of the bins."""
    total = sum(each.n for each in bins)
    return sum(each.n * abs(each.stated - each.observed) for each in bins) / total if total else 0.0


def _cut(beliefs: Sequence[Belief]) -> tuple[Bin, ...]:
    """Ten bins of equal width; the highest takes in 1. Empty ones are left out."""
    places = [[b for b in beliefs if _place(b[0]) == n] for n in range(BINS)]
    return tuple(_bin(each, n / BINS, (n + 1) / BINS) for n, each in enumerate(places) if each)


def _place(confidence: float) -> int:
    return min(BINS - 1, int(round(confidence, 6) * BINS))


def to_bins(beliefs: Sequence[Belief]) -> tuple[Bin, ...]:
    """Bins of a tenth of the statements or more: those of one confidence stay together, so that no order counts."""
    bins: list[Bin] = []
    heap: list[Belief] = []
    for _, same in groupby(sorted(beliefs), key=lambda b: b[0]):
        heap += same
        if len(heap) * BINS >= len(beliefs):
            bins.append(_bin(heap, heap[0][0], heap[-1][0]))
            heap = []
    return (*bins, _bin(heap, heap[0][0], heap[-1][0])) if heap else tuple(bins)


def _bin(beliefs: Sequence[Belief], low: float, high: float) -> Bin:
    return Bin(low, high, len(beliefs), _mean(c for c, _ in beliefs), _mean(right for _, right in beliefs))


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """One group of statements: as written, after receptions, and those of them that are still shown then."""

    before: CalibrationFigures
    after: CalibrationFigures
    shown: CalibrationFigures


def compare_groups(before: Sequence[Stated], after: Sequence[After]) -> dict[str, GroupComparison]:
    """The figures of all statements and of each group of them."""
    names = ["all", *sorted({group for each in before for group in each.groups})]
    return {name: compare_group(name, before, after) for name in names}


def compare_group(name: str, before: Sequence[Stated], after: Sequence[After]) -> GroupComparison:
    in_it = [each for each in after if name == "all" or name in each.stated.groups]
    return GroupComparison(
        before=figures([_belief(each) for each in before if name == "all" or name in each.groups]),
        after=figures([_belief(each.stated) for each in in_it]),
        shown=figures([_belief(each.stated) for each in in_it if each.shown]),
    )


def _belief(stated: Stated) -> Belief:
    return stated.confidence, stated.right
