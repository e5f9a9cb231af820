"""What is fetched once however many ask, and what is fetched beside a request and never waited for."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from cachetools import LRUCache, TTLCache

from shared.errors import TransientError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Calls under way, one for each key: whoever asks for the same meanwhile waits for the same call."""

    def __init__(self) -> None:
        self._running: dict[K, asyncio.Task[V]] = {}

    def __len__(self) -> int:
        return len(self._running)

    def count(self, concerns: Callable[[K], bool]) -> int:
        """How many calls are under way whose key is of these."""
        return sum(map(concerns, self._running))

    def find(self, key: K) -> asyncio.Task[V] | None:
        """The call that is under way."""
        return self._running.get(key)

    def start(self, key: K, call: Coroutine[Any, Any, V], name: str | None = None) -> asyncio.Task[V]:
        """The call, under way from now on, also where whoever asked goes away."""

        def end(task: asyncio.Task[V]) -> None:
            del self._running[key]
            if not task.cancelled():
                task.exception()  # looked at, even where nobody waits for it any more

        task = self._running[key] = asyncio.create_task(call, name=name)
        task.add_done_callback(end)
        return task

    def cancel(self, concerns: Callable[[K], bool]) -> None:
        """The calls whose key is of these are broken off."""
        for key, task in self._running.items():
            if concerns(key):
                task.cancel()

    async def close(self) -> None:
        """Nothing is under way any more."""
        running = list(self._running.values())
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


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
        self._load_s = load_s
        self._at_once = at_once
        self._kept: LRUCache[K, V | None] = LRUCache(most)
        self._fresh: TTLCache[K, None] = TTLCache(most, keep_s, clock)
        self._loads = SingleFlight[K, None]()

    def get(self, key: K, load: Callable[[], Awaitable[V]]) -> V | None:
        """What is there now, at once; where that is nothing or old, `load` begins, unless enough are under way."""
        if key not in self._fresh and self._loads.find(key) is None and len(self._loads) < self._at_once:
            self._loads.start(key, self._load(key, load))
        return self._kept.get(key)

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def forget(self, key: K) -> None:
        """Nothing is there of this key, nor of what is being loaded for it; it is loaded again when it is wanted."""
        self._kept.pop(key, None)
        self._fresh.pop(key, None)
        self._loads.cancel(lambda loaded: loaded == key)

    def clear(self) -> None:
        """Nothing is there."""
        self._kept.clear()
        self._fresh.clear()
        self._loads.cancel(lambda _: True)

    async def close(self) -> None:
        """Nothing is under way any more."""
        await self._loads.close()

    async def _load(self, key: K, load: Callable[[], Awaitable[V]]) -> None:
        value: V | None = None
        try:
            async with asyncio.timeout(self._load_s):
                value = await load()
        except (TransientError, TimeoutError):
            pass
        self._kept[key] = value
        self._fresh[key] = None
