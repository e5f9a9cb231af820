"""Models in a server's memory, and loads that continue without their callers.

A server aborts a load when its caller disconnects, so a caller that can wait only 150 ms would never load anything: the
load is a separate task that callers join and leave.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from shared.models.errors import MalformedAnswer, ModelUnavailable

T = TypeVar("T")

KEEP_ALIVE = "30m"
HELD_S = 25 * 60.0
"""The time after its last use for which a model counts as loaded; the server keeps it for `KEEP_ALIVE`."""
LOAD_S = 300.0
PATIENCE_S = 120.0
"""Missing a deadline during a load younger than this does not count against the server."""


@dataclass(frozen=True, slots=True)
class Size:
    """A model with a context length; a server holds one length per model at a time. None: its default."""

    model: str
    context: int | None = None


@dataclass(frozen=True, slots=True)
class _Use:
    size: Size
    at: float


@dataclass(frozen=True, slots=True)
class _Load:
    task: asyncio.Task[None]
    began: float


class Loads:
    """What one server is known to hold; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: dict[str, _Use] = {}
        self._loads: dict[Size, _Load] = {}

    async def run(self, size: Size, load: Callable[[], Awaitable[None]], call: Callable[[], Awaitable[T]]) -> T:
        """The call's result, made once the model is loaded; a load continues without its callers.

        ModelUnavailable: the model cannot be loaded, or takes longer than `LOAD_S`, or the call raises it.
        """
        if not self._holds(size):
            await self._join(self._loads.get(size) or self._begin(size, load))
        try:
            result = await call()
        except MalformedAnswer:
            self._note_use(size)
            raise
        except BaseException as error:
            if not (isinstance(error, ModelUnavailable) and error.reason == "bad_request"):
                self._used.pop(size.model, None)  # it may have been unloaded
            raise
        self._note_use(size)
        return result

    def is_loading(self, model: str | None) -> bool:
        """Whether the model has been loading, for less than the limit."""
        now = self._clock()
        return any(size.model == model and now - load.began < PATIENCE_S for size, load in self._loads.items())

    async def close(self) -> None:
        """Cancels all loads."""
        tasks = [each.task for each in self._loads.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note_use(self, size: Size) -> None:
        self._used[size.model] = _Use(size, self._clock())

    def _holds(self, size: Size) -> bool:
        use = self._used.get(size.model)
        return use is not None and use.size == size and self._clock() - use.at < HELD_S

    async def _join(self, load: _Load) -> None:
        await asyncio.wait({load.task})
        if load.task.cancelled():
            raise ModelUnavailable("not_configured", "closed")
        error = load.task.exception()
        if isinstance(error, ModelUnavailable):
            raise ModelUnavailable(error.reason, error.problem) from error  # each caller counts its own cost
        if error is not None:
            raise error

    def _begin(self, size: Size, load: Callable[[], Awaitable[None]]) -> _Load:
        async def run() -> None:
            try:
                async with asyncio.timeout(LOAD_S):
                    await load()
            except TimeoutError as error:
                raise ModelUnavailable("timeout", f"not loaded within {LOAD_S:g} s") from error
            self._note_use(size)

        def finish(task: asyncio.Task[None]) -> None:
            del self._loads[size]
            if not task.cancelled():
                task.exception()  # retrieved, even without a waiting caller

        begun = _Load(asyncio.create_task(run(), name=f"load {size.model}"), self._clock())
        self._loads[size] = begun
        begun.task.add_done_callback(finish)
        return begun
