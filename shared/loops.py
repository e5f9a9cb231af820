"""When each loop of a service last moved: one that stands still has stalled, though its process lives."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

LONGEST_WORK_S = 1800.0
"""So long a loop may be at one piece of work: models are slow, and the broker takes a slower consumer for dead too."""


class Loops:
    """The loops of one service by name; `rest_s` is the longest that one may rest between two moves."""

    def __init__(self, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest_s = rest_s
        self._clock = clock
        self._moved: dict[str, float] = {}
        self._at_work: set[str] = set()

    def move(self, loop: str) -> None:
        """The loop has moved just now; from its first move on it is expected to."""
        self._moved[loop] = self._clock()

    @contextmanager
    def work(self, loop: str) -> Generator[None]:
        """Inside, the loop works: it may take longer than a rest."""
        self.move(loop)
        self._at_work.add(loop)
        try:
            yield
        finally:
            self._at_work.discard(loop)
            self.move(loop)

    @property
    def stalled(self) -> list[str]:
        """The loops that have stood still for too long, in order."""
        now = self._clock()
        longest = {loop: LONGEST_WORK_S if loop in self._at_work else self._rest_s for loop in self._moved}
        return sorted(loop for loop, at in self._moved.items() if now - at > longest[loop])
