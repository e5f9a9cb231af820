"""Who goes first inside a worker: events that were sent ahead of others have the process to themselves, not for long.

A topic that goes past another would win little if the worker went on with all that it had fetched from the other.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class Precedence:
    """While events that go first are at work, and for `moment_s` after, all others go on by one step a moment.

    The moment after is for what follows from them in other processes, and because who has just spoken is likely to
    speak again. The step a moment keeps others from standing still, however many go first one after the other.
    """

    def __init__(self, moment_s: float, clock: Callable[[], float]) -> None:
        self._moment_s = moment_s
        self._clock = clock
        self._first = 0
        self._first_until = float("-inf")
        self._stepped_at = float("-inf")
        self._stepping = asyncio.Lock()

    @contextmanager
    def go_first(self) -> Generator[None]:
        """Inside, what goes first is at work."""
        self.note_first()
        self._first += 1
        try:
            yield
        finally:
            self._first -= 1
            self.note_first()

    def note_first(self) -> None:
        """What goes first is at work here or elsewhere now."""
        now = self._clock()
        if not self._first and now >= self._first_until:
            self._stepped_at = now + self._moment_s
        self._first_until = now + self._moment_s

    async def wait(self) -> None:
        """It is the caller's turn for a step."""
        while (rest_s := self._rest_s()) > 0:  # noqa: ASYNC110 # time ends it too
            await asyncio.sleep(rest_s)
        self._stepped_at = self._clock()

    @asynccontextmanager
    async def take_step(self) -> AsyncGenerator[None]:
        """Inside, it is the caller's turn for a step, and nobody else's."""
        async with self._stepping:
            await self.wait()
            yield

    def _rest_s(self) -> float:
        now = self._clock()
        since_step = self._stepped_at + self._moment_s - now
        return since_step if self._first else min(since_step, self._first_until - now)


_BEHIND: ContextVar[Precedence | None] = ContextVar("behind", default=None)


@contextmanager
def stay_behind(precedence: Precedence | None) -> Generator[None]:
    """Inside, work gives way to what goes first; without a precedence it does not."""
    before = _BEHIND.set(precedence)
    try:
        yield
    finally:
        _BEHIND.reset(before)


async def give_way() -> None:
    """Before work of some length: what goes first has gone, or has had its moment."""
    if precedence := _BEHIND.get():
        await precedence.wait()


@asynccontextmanager
async def step() -> AsyncGenerator[None]:
    """Inside, a step of work that fills the processor: one at a time, so that what goes first waits for one at most."""
    if precedence := _BEHIND.get():
        async with precedence.take_step():
            yield
    else:
        yield
