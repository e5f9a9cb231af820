"""How many records are fetched together: as many as take about half a second, so that nobody waits long for another."""

from dataclasses import dataclass
from typing import Any

TARGET_S = 0.5
"""What is fetched later waits until all that was fetched together is done."""


@dataclass
class Pace:
    """`most` records while they are quick; fewer, down to `least`, while they are slow.

    At most twice as many as the last time: what was quick may have been another's.
    """

    most: int
    least: int
    records: int = 0
    served: frozenset[Any] = frozenset()
    """The partitions that the last of them came from."""

    def __post_init__(self) -> None:
        self.least = min(self.least, self.most)
        self.records = self.least

    def note(self, handled: int, took_s: float) -> None:
        """So many records took so long."""
        fitting = int(handled * TARGET_S / max(took_s, 0.001))
        self.records = max(self.least, min(self.most, fitting, 2 * self.records))
