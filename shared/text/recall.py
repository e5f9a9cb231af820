"""What was worked out from texts lately, by their hashes: the same memories stand in package after package."""

from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")
MOST = 20_000


class Recall(Generic[V]):
    """Values that say nothing of the texts they were worked out from; all are let go when there are too many."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[int, V] = {}

    def get(self, of: Hashable) -> V | None:
        """The value, if it is still known."""
        return self._known.get(hash(of))

    def put(self, of: Hashable, value: V) -> V:
        """The value is known from now on."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[hash(of)] = value
        return value

    def clear(self) -> None:
        """Nothing is known from now on."""
        self._known.clear()
