"""What is wanted beside a request and never waited for: loaded in the background, kept for a while, bounded."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from shared.errors import TransientError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[V]):
    value: V | None
    until: float


class BackgroundCache(Generic[K, V]):
    """Values by key; a load that fails or takes longer than `load_s` leaves none until it would be old."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        keep_s: float = 60.0,
        load_s: float = 1.0,
        most: int = 2000,
        at_once: int = 2,
    ) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._load_s = load_s
        self._most = most
        self._at_once = at_once
        self._kept: OrderedDict[K, _Kept[V]] = OrderedDict()
        self._running: dict[K, asyncio.Task[Any]] = {}

    def get(self, key: K, load: Callable[[], Awaitable[V]]) -> V | None:
        """What is there now, at once; where that is nothing or old, `load` begins, unless enough are under way."""
        known = self._kept.get(key)
        if (known is None or known.until <= self._clock()) and key not in self._running:
            self._begin(key, load)
        return known.value if known else None

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def forget(self, key: K) -> None:
        """Nothing is there of this key, nor of what is being loaded for it; it is loaded again when it is wanted."""
        self._kept.pop(key, None)
        if running := self._running.get(key):
            running.cancel()

    def clear(self) -> None:
        """Nothing is there."""
        for key in [*self._kept, *self._running]:
            self.forget(key)

    async def close(self) -> None:
        """Nothing is under way any more."""
        running = list(self._running.values())
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _begin(self, key: K, load: Callable[[], Awaitable[V]]) -> None:
        if len(self._running) >= self._at_once:
            return
        task = self._running[key] = asyncio.create_task(self._load(key, load))
        task.add_done_callback(lambda _: self._running.pop(key, None))

    async def _load(self, key: K, load: Callable[[], Awaitable[V]]) -> None:
        value: V | None = None
        try:
            async with asyncio.timeout(self._load_s):
                value = await load()
        except (TransientError, TimeoutError):
            pass
        self._kept[key] = _Kept(value, self._clock() + self._keep_s)
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
