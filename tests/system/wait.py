"""Waits for a condition; tests let time pass only here."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 120.0
"""The time that a busy machine may need for work that an idle one does at once."""
IN_TIME_S = 10.0
"""An answer within this time was not waited for until the deadline; a slow service in tests takes
three times as long.
"""


async def wait_for(condition: Callable[[], Awaitable[T] | T], what: str = "", deadline_s: float = PATIENCE_S) -> T:
    """The first truthy result of `condition`; AssertionError with the last result after the time limit.

    A call in progress at the deadline gets ten more seconds.
    """
    until = time.monotonic() + deadline_s
    pause = 0.005
    answer: T | None = None
    while True:
        try:
            async with asyncio.timeout(until + 10 - time.monotonic()):
                found = condition()
                answer = await found if isawaitable(found) else found
        except TimeoutError:
            raise AssertionError(f"{what or condition!r}: no answer at all; the last before: {answer!r}") from None
        if answer:
            return answer
        assert time.monotonic() < until, f"{what or condition!r} within {deadline_s} s; last: {answer!r}"
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.1)
