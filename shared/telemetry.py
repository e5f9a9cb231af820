"""What a service reports about itself: logs without user text, and loops that stand still. No metrics."""

import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO, cast

import structlog
from prometheus_client import CONTENT_TYPE_LATEST

METRICS_TYPE = CONTENT_TYPE_LATEST
"""As what /metrics is declared and sent."""


def configure_logs(level: str = "info", *, human: bool = False, stream: TextIO | None = None) -> None:
    """From here on logs go to standard error or `stream`: JSON lines, or readable ones for a person at a terminal."""
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=colours) if human else structlog.processors.JSONRenderer()
    )
    stamp = "%Y-%m-%d %H:%M:%S" if human else "iso"
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt=stamp, utc=not human),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda *_: structlog.PrintLogger(
            stream or sys.stderr
        ),  # as it is then: a caller may have replaced it
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=stream or sys.stderr, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("aiokafka").setLevel(logging.ERROR)


def frames(error: BaseException) -> dict[str, str]:
    """What broke and where, as log fields: never the message, which may quote what a user said."""
    where = traceback.extract_tb(error.__traceback__)[-6:]
    return {
        "error": type(error).__name__,
        "at": " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in where),
    }


def logger() -> structlog.typing.FilteringBoundLogger:
    """A logger: a fixed event name, then fields; never user text, never a secret."""
    return cast("structlog.typing.FilteringBoundLogger", structlog.get_logger())


LONGEST_WORK_S = 1800.0
"""So long a loop may be at one piece of work: models are slow, and the broker takes a slower consumer for dead too."""


class Loops:
    """The loops of one service by name; `rest_s` is the longest that one may rest between two moves."""

    def __init__(self, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest_s = rest_s
        self._clock = clock
        self._moved: dict[str, float] = {}
        self._at_work: set[str] = set()

    def move(self, loop: str) -> None:
        """The loop has moved just now; from its first move on it is expected to."""
        self._moved[loop] = self._clock()

    @contextmanager
    def work(self, loop: str) -> Generator[None]:
        """Inside, the loop works: it may take longer than a rest."""
        self.move(loop)
        self._at_work.add(loop)
        try:
            yield
        finally:
            self._at_work.discard(loop)
            self.move(loop)

    @property
    def stalled(self) -> list[str]:
        """The loops that have stood still for too long, in order."""
        now = self._clock()
        longest = {loop: LONGEST_WORK_S if loop in self._at_work else self._rest_s for loop in self._moved}
        return sorted(loop for loop, at in self._moved.items() if now - at > longest[loop])
