"""The source files that a flow executes: those with a called function."""

import inspect
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from shared.cache import forget_texts

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("schemas", "services", "shared"))
_watched: ContextVar[bool] = ContextVar("_watched", default=False)


class CallWatcher:
    """Traces the calls of this thread and of later threads, and records them on request."""

    def __init__(self) -> None:
        self._codes: set[CodeType] | None = None
        self._all_tasks = False
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def close(self) -> None:
        """Stops tracing."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if self._codes is not None and event == "call" and (self._all_tasks or _watched.get()):
            self._codes.add(frame.f_code)

    @contextmanager
    def entered_files(self, *, of_all_tasks: bool) -> Generator[list[str]]:
        """The files with a called function, complete at the end; code that runs on import does not count.

        Without `of_all_tasks` only calls of this task count, and of the tasks and threads that it starts. The memo of
        extracted texts is cleared, because services do not share it.
        """
        forget_texts()
        files: list[str] = []
        codes: set[CodeType] = set()
        self._codes, self._all_tasks = codes, of_all_tasks
        token = _watched.set(True)
        try:
            yield files
        finally:
            self._codes = None
            _watched.reset(token)
        functions = (code for code in codes if code.co_flags & inspect.CO_OPTIMIZED)
        named = {code.co_filename for code in functions if code.co_filename.startswith(PACKAGES)}
        files += sorted(str(Path(name).relative_to(ROOT)) for name in named)
