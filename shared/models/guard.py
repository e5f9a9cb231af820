"""Protects every call to a model server: a deadline, fast retries within it, and a circuit breaker.

Five failures within five minutes open the breaker; one probe after five minutes decides.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_any, stop_before_delay

from shared.models.errors import MalformedAnswer, ModelUnavailable

State = Literal["closed", "open", "half_open"]


class Breaker:
    """Admits calls while the server seems available; `clock` gives monotonic seconds."""

    def __init__(
        self, clock: Callable[[], float], *, failures: int = 5, window_s: float = 300.0, cooldown_s: float = 300.0
    ) -> None:
        self._clock = clock
        self._limit = failures
        self._window_s = window_s
        self._cooldown_s = cooldown_s
        self._failed_at: deque[float] = deque(maxlen=failures)
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> State:
        """The state for a call made now."""
        if self._opened_at is None:
            return "closed"
        return "half_open" if self._clock() - self._opened_at >= self._cooldown_s else "open"

    def admit(self) -> bool:
        """Whether a call may be sent; when half open, one at a time."""
        state = self.state
        if state == "closed":
            return True
        if state == "open" or self._probing:
            return False
        self._probing = True
        return True

    def note_success(self) -> None:
        """The server answered: closes and resets the breaker."""
        self._opened_at = None
        self._probing = False
        self._failed_at.clear()

    def note_failure(self) -> None:
        """The server failed: counts a failure, or restarts the cooldown after a failed probe."""
        now = self._clock()
        self._failed_at.append(now)
        full = len(self._failed_at) == self._limit and now - self._failed_at[0] <= self._window_s
        if self._opened_at is not None or full:
            self._opened_at = now
        self._probing = False

    def doubtful(self) -> None:
        """The call proved nothing: it does not count, but a probe must succeed to close the circuit."""
        if self._opened_at is not None and self._probing:
            self.note_failure()

    def note_abandoned(self) -> None:
        """The caller went away: if it was the probe, another may be sent."""
        self._probing = False


T = TypeVar("T")

RETRY_DELAYS_S = (0.1, 0.5, 2.0)
"""Delays between attempts of one call, each plus or minus a fifth."""

SHORT_DEADLINE_S = 2.0
"""Missing a shorter deadline, or one during a load, does not count against the server."""


class Guard:
    """Keeps one kind of call to one server within its deadline, and stops calls to an unavailable server.

    `loading` says whether the model is being loaded now.
    """

    def __init__(
        self,
        breaker: Breaker,
        delays_s: Sequence[float] = RETRY_DELAYS_S,
        loading: Callable[[], bool] = lambda: False,
    ) -> None:
        self.breaker = breaker
        self._delays_s = tuple(delays_s)
        self._loading = loading

    async def run(self, call: Callable[[], Awaitable[T]], *, deadline_s: float, once: bool = False) -> T:
        """The call's result, or the reason why there is none; retries, of which `once` has none,
        stay within the deadline.
        """
        if not self.breaker.admit():
            raise ModelUnavailable("circuit_open")
        try:
            async with asyncio.timeout(deadline_s):
                result = await call() if once else await self.call_with_retries(call, deadline_s)
        except TimeoutError as error:
            self._timed_out(deadline_s)
            raise ModelUnavailable("timeout", f"{deadline_s:g} s") from error
        except ModelUnavailable as error:
            self.breaker.doubtful() if error.reason == "bad_request" else self.breaker.note_failure()
            raise
        except MalformedAnswer:
            self.breaker.doubtful()
            raise
        except BaseException:
            self.breaker.note_abandoned()
            raise
        self.breaker.note_success()
        return result

    def _timed_out(self, deadline_s: float) -> None:
        if deadline_s < SHORT_DEADLINE_S or self._loading():
            self.breaker.note_abandoned()
        else:
            self.breaker.note_failure()

    async def call_with_retries(self, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        retrying = AsyncRetrying(
            stop=stop_any(stop_after_attempt(len(self._delays_s) + 1), stop_before_delay(deadline_s)),
            wait=self._wait_s,
            retry=retry_if_exception(_retried_at_once),
            reraise=True,
        )

        async def once() -> T:
            return await call()

        return await retrying(once)

    def _wait_s(self, state: RetryCallState) -> float:
        return wait_s(state.attempt_number, self._delays_s)


def wait_s(failed_attempts: int, delays_s: Sequence[float] = RETRY_DELAYS_S) -> float:
    """The delay after this many failed attempts, plus or minus a fifth."""
    delay = delays_s[min(failed_attempts, len(delays_s)) - 1] if delays_s else 0.0
    return delay * random.uniform(0.8, 1.2)  # noqa: S311 # jitter, not a secret


def _retried_at_once(error: BaseException) -> bool:
    return isinstance(error, ModelUnavailable) and error.retried_at_once
