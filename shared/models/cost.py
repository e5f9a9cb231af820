"""The cost of questions to a model, counted during the call, so that a failed call is counted too."""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests that went out, tokens read and written, and seconds from the first to the end."""

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
    """Adds up the requests of one question; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._so_far = Spent()
        self._under_way = 0

    def note_sent(self, estimate: int) -> None:
        """A request is on its way; its prompt is about so many tokens."""
        self._so_far = replace(self._so_far, calls=self._so_far.calls + 1)
        self._under_way = estimate

    def note_answered(self, tokens_in: int, tokens_out: int) -> None:
        """The request came back, with the server's own count."""
        now = self._so_far
        self._so_far = replace(now, tokens_in=now.tokens_in + tokens_in, tokens_out=now.tokens_out + tokens_out)
        self._under_way = 0

    def note_failed(self) -> None:
        """The request was not worked on."""
        self._under_way = 0

    def total(self) -> Spent:
        """What was spent until now; a prompt that nobody waited for any longer was read all the same."""
        now = self._so_far
        return replace(now, tokens_in=now.tokens_in + self._under_way, seconds=max(self._clock() - self._began, 0.0))
