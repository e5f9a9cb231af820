"""What was worked out from a user's words lately: whose it is, is known, and an erasure of the user ends it."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shared.domain.subjects import Subject

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Owned(Generic[K, V]):
    epoch: int
    values: OrderedDict[K, V] = field(default_factory=OrderedDict[K, V])
    until: float = 0.0


class UserCache(Generic[K, V]):
    """Values by user and key, each user's for `keep_s` after the last was added, of at most `most` users.

    They are of the epoch in which the words were read: nothing of an older one is found or added.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        keep_s: float = 60.0,
        most: int = 500,
        most_each: int = 200,
    ) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._most = most
        self._most_each = most_each
        self._owned: OrderedDict[Subject, _Owned[K, V]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(owned.values) for owned in self._owned.values())

    def count(self, owner: Subject) -> int:
        """How many values of the user are kept."""
        owned = self._owned.get(owner)
        return len(owned.values) if owned else 0

    def get(self, owner: Subject, epoch: int, key: K, work_out: Callable[[], V]) -> V:
        """The value; worked out, and kept, where it is not known."""
        self.drop_old()
        owned = self._owned.get(owner)
        if owned is not None and owned.epoch == epoch and key in owned.values:
            return owned.values[key]
        value = work_out()
        self.put(owner, epoch, key, value)
        return value

    def find(self, owner: Subject, key: K) -> V | None:
        """The value, if it is kept; the caller knows that it still holds."""
        self.drop_old()
        owned = self._owned.get(owner)
        return owned.values.get(key) if owned else None

    def put(self, owner: Subject, epoch: int, key: K, value: V) -> None:
        """The value takes the place of what was kept, unless something of the user was erased since this epoch."""
        owned = self._owned.get(owner)
        if owned is None or owned.epoch < epoch:
            owned = self._owned[owner] = _Owned(epoch)
        if owned.epoch == epoch:
            self._keep(owner, owned, key, value)

    def _keep(self, owner: Subject, owned: _Owned[K, V], key: K, value: V) -> None:
        owned.values[key] = value
        if len(owned.values) > self._most_each:
            owned.values.popitem(last=False)
        owned.until = self._clock() + self._keep_s
        self._owned.move_to_end(owner)
        if len(self._owned) > self._most:
            self._owned.popitem(last=False)

    def forget(self, owner: Subject, epoch: int) -> None:
        """Nothing from before this epoch of the user is kept, nor what is being worked out of it just now."""
        owned = self._owned.get(owner)
        if owned is None or owned.epoch < epoch:
            self._owned[owner] = _Owned(epoch, until=self._clock() + self._keep_s)
            self._owned.move_to_end(owner)

    def drop_old(self) -> None:
        """What was kept for its time is gone; those who were added to last stand last."""
        now = self._clock()
        while self._owned and next(iter(self._owned.values())).until <= now:
            self._owned.popitem(last=False)

    def clear(self) -> None:
        """Nothing is kept of anybody."""
        self._owned.clear()
