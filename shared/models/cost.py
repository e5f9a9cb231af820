"""The cost of model calls, counted during the call, so that a failed call is counted too."""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Spent:
    """Sent requests, tokens read and written, and seconds from the first request to the end."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Both directions together."""
        return self.tokens_in + self.tokens_out


NOTHING_SPENT = Spent()


class Meter:
    """Adds up the requests of one call; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._so_far = Spent()
        self._under_way = 0

    def note_sent(self, estimate: int) -> None:
        """A request is sent; its prompt has about this many tokens."""
        self._so_far = replace(self._so_far, calls=self._so_far.calls + 1)
        self._under_way = estimate

    def note_answered(self, tokens_in: int, tokens_out: int) -> None:
        """The response arrived, with the server's own count."""
        now = self._so_far
        self._so_far = replace(now, tokens_in=now.tokens_in + tokens_in, tokens_out=now.tokens_out + tokens_out)
        self._under_way = 0

    def note_failed(self) -> None:
        """The request was not processed."""
        self._under_way = 0

    def total(self) -> Spent:
        """The cost so far; a prompt whose caller stopped waiting was still read."""
        now = self._so_far
        return replace(now, tokens_in=now.tokens_in + self._under_way, seconds=max(self._clock() - self._began, 0.0))
