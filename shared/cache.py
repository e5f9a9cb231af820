"""Values that this process keeps for a while, bounded in number; an erasure ends what is kept of texts and of users."""

import re
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar, cast
from urllib import parse

from cachetools import TTLCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")
MOST = 20_000
_texts: list[Any] = []


def of_texts(most: int) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """A function of texts whose last `most` answers are kept in this process, until `forget_texts`."""

    def keep_answers(answer: Callable[P, V]) -> Callable[P, V]:
        made = lru_cache(maxsize=most)(answer)
        _texts.append(made)
        return cast("Callable[P, V]", made)

    return keep_answers


def forget_texts() -> None:
    """No text of anybody is kept by functions of texts: an erasure cannot tell whose they were.

    Nor is one by the library: `re` keeps the last patterns that it has compiled, some of them of words that somebody
    said, and `urllib` the last addresses.
    """
    for each in _texts:
        each.cache_clear()
    re.purge()
    parse.clear_cache()  # pyright: ignore[reportUnknownMemberType,reportAttributeAccessIssue] # typeshed has it not


def kept_texts() -> int:
    """How many answers are kept."""
    return sum(each.cache_info().currsize for each in _texts)


class BoundedMemo(Generic[V]):
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


@dataclass(slots=True)
class _Owned(Generic[K, V]):
    epoch: int
    values: TTLCache[K, V]


class UserCache(Generic[K, V]):
    """Values by owner and key, each for `keep_s`; at most `most`, and of one owner `most_each`; none where that is 0.

    Where there are too many, an owner's longest unused makes room, and then whoever was not there for longest.
    Values are of the epoch in which the user's words were read: nothing of an older one is found or added.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        keep_s: float = 60.0,
        most: int = 20_000,
        most_each: int = 200,
    ) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._most_each = min(most_each, most)
        self._owned: TTLCache[Hashable, _Owned[K, V]] = TTLCache(most, keep_s, clock, lambda own: len(own.values) or 1)

    def __len__(self) -> int:
        return sum(map(self.count, self._owned))

    def count(self, owner: Hashable) -> int:
        """How many values of the owner are kept."""
        own = self._owned.get(owner)
        return sum(1 for _ in own.values) if own else 0

    def get(self, owner: Hashable, epoch: int, key: K, work_out: Callable[[], V]) -> V:
        """The value; worked out, and kept, where it is not known."""
        own = self._owned.get(owner)
        if own is not None and own.epoch == epoch and key in own.values:
            return own.values[key]
        value = work_out()
        self.put(owner, epoch, key, value)
        return value

    def find(self, owner: Hashable, key: K) -> V | None:
        """The value, if it is kept; the caller knows that it still holds."""
        own = self._owned.get(owner)
        return own.values.get(key) if own else None

    def put(self, owner: Hashable, epoch: int, key: K, value: V) -> None:
        """The value takes the place of what was kept, unless something of the owner was erased since this epoch."""
        own = self._owned.get(owner)
        if own is None or own.epoch < epoch:
            own = self._make_room(epoch)
        if own.epoch == epoch and self._most_each > 0:
            own.values[key] = value
            self._owned[owner] = own

    def forget(self, owner: Hashable, epoch: int) -> None:
        """Nothing from before this epoch of the owner is kept, nor what is being worked out of it just now."""
        own = self._owned.get(owner)
        if (own is None or own.epoch < epoch) and self._most_each > 0:
            self._owned[owner] = self._make_room(epoch)

    def drop(self, owner: Hashable) -> None:
        """Nothing of the owner is kept; what comes next is."""
        self._owned.expire()
        self._owned.pop(owner, None)

    def drop_old(self) -> None:
        """What was kept for its time is gone."""
        self._owned.expire()
        for own in self._owned.values():
            own.values.expire()

    def clear(self) -> None:
        """Nothing is kept of anybody."""
        self._owned.clear()

    def _make_room(self, epoch: int) -> _Owned[K, V]:
        return _Owned(epoch, TTLCache(self._most_each, self._keep_s, self._clock))
