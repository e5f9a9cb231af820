"""A circuit breaker: five failures in five minutes open it, one probe after five minutes decides."""

from collections import deque
from collections.abc import Callable
from typing import Literal

State = Literal["closed", "open", "half_open"]


class Breaker:
    """Admits calls while the other side seems alive; `clock` gives monotonic seconds."""

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
        """What a call made now would meet."""
        if self._opened_at is None:
            return "closed"
        return "half_open" if self._clock() - self._opened_at >= self._cooldown_s else "open"

    def admit(self) -> bool:
        """Whether a call may go out; when half open, one at a time may."""
        state = self.state
        if state == "closed":
            return True
        if state == "open" or self._probing:
            return False
        self._probing = True
        return True

    def note_success(self) -> None:
        """The other side answered: closed again, the past forgotten."""
        self._opened_at = None
        self._probing = False
        self._failed_at.clear()

    def note_failure(self) -> None:
        """The other side is not well: one more failure, or a probe lost and the wait starts anew."""
        now = self._clock()
        self._failed_at.append(now)
        full = len(self._failed_at) == self._limit and now - self._failed_at[0] <= self._window_s
        if self._opened_at is not None or full:
            self._opened_at = now
        self._probing = False

    def doubtful(self) -> None:
        """The call proved nothing: it does not count, except that a probe must succeed to close the circuit."""
        if self._opened_at is not None and self._probing:
            self.note_failure()

    def note_abandoned(self) -> None:
        """The caller went away: if it was the probe, another may go."""
        self._probing = False
