"""The usual duration of calls of each kind, a moving estimate, so that calls that cannot finish in time are skipped."""

import time
from collections.abc import Callable
from dataclasses import dataclass

RISE = 0.5
FALL = 0.1
"""A slower call counts fully, a faster one gradually: the estimate is conservative."""
LATE = 1.5
"""An abandoned call would have taken longer than its deadline, by an unknown amount."""
HALF_LIFE_S = 30.0
"""The half-life of an estimate without measurements, so that a slow server is tried again in time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds per unit of work, and the time of the last measurement."""

    each_s: float
    at: float


class Paces:
    """The estimates of one process; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Pace] = {}

    def usual_s(self, kind: str, pieces: int) -> float:
        """The expected duration of this many units; 0 without measurements."""
        known = self._known.get(kind)
        if known is None:
            return 0.0
        return pieces * known.each_s * 0.5 ** ((self._clock() - known.at) / HALF_LIFE_S)

    def took(self, kind: str, pieces: int, seconds: float) -> None:
        """Records that a call with this many units took this long."""
        measured = seconds / max(pieces, 1)
        known = self._known.get(kind)
        if known is not None:
            measured = known.each_s + (measured - known.each_s) * (RISE if measured > known.each_s else FALL)
        self._known[kind] = Pace(measured, self._clock())

    def gave_up(self, kind: str, pieces: int, seconds: float) -> None:
        """Records that a call with this many units had no answer after this time."""
        known = self._known.get(kind)
        least = LATE * seconds / max(pieces, 1)
        self._known[kind] = Pace(max(least, known.each_s if known else 0.0), self._clock())
