"""How many records are fetched together: slow ones by as few as take half a second, so that nobody waits long."""

from dataclasses import dataclass
from typing import Any

TARGET_S = 0.5
"""What is fetched later waits until all that was fetched together is done."""
SLOW_S = 0.05
"""A record that takes so long is no ordinary one. Ordinary ones are worth fetching by the hundred: cut into batches of
half a second, those of 500 users cost a third more CPU."""


@dataclass
class BatchPace:
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
        slow = took_s > SLOW_S * handled
        fitting = int(handled * TARGET_S / took_s) if slow else self.most
        self.records = max(self.least, min(self.most, fitting, 2 * self.records))
