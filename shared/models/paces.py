"""How long calls of a kind usually take: a moving figure, so that what cannot be in time is not begun."""

import time
from collections.abc import Callable
from dataclasses import dataclass

RISE = 0.5
FALL = 0.1
"""A slower call counts at once, a quicker one little by little: the figure leans to the slow side."""
LATE = 1.5
"""A call that was given up would have taken longer than it was given, by how much nobody knows."""
HALF_LIFE_S = 30.0
"""What nobody measures is forgotten by halves, so that a slow server is tried again in time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds for one piece of work, and when that was last measured."""

    each_s: float
    at: float


class Paces:
    """The paces of one process; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Pace] = {}

    def usual_s(self, kind: str, pieces: int) -> float:
        """What so many pieces may be expected to take; 0 where nothing is known."""
        known = self._known.get(kind)
        if known is None:
            return 0.0
        return pieces * known.each_s * 0.5 ** ((self._clock() - known.at) / HALF_LIFE_S)

    def took(self, kind: str, pieces: int, seconds: float) -> None:
        """A call of so many pieces was answered after so long."""
        measured = seconds / max(pieces, 1)
        known = self._known.get(kind)
        if known is not None:
            measured = known.each_s + (measured - known.each_s) * (RISE if measured > known.each_s else FALL)
        self._known[kind] = Pace(measured, self._clock())

    def gave_up(self, kind: str, pieces: int, seconds: float) -> None:
        """A call of so many pieces had no answer after so long."""
        known = self._known.get(kind)
        least = LATE * seconds / max(pieces, 1)
        self._known[kind] = Pace(max(least, known.each_s if known else 0.0), self._clock())
