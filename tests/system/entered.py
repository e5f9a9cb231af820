"""Which files of the product a flow runs through: those of which it calls a function."""

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
    """Sees the calls of this thread and of those that begin from now on, and notes them when it is asked to."""

    def __init__(self) -> None:
        self._codes: set[CodeType] | None = None
        self._all_tasks = False
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def close(self) -> None:
        """It sees nothing more."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if self._codes is not None and event == "call" and (self._all_tasks or _watched.get()):
            self._codes.add(frame.f_code)

    @contextmanager
    def entered_files(self, *, of_all_tasks: bool) -> Generator[list[str]]:
        """The files, at the end, of which a function was called; what runs because of an import is no call.

        Without `of_all_tasks` only what this task calls is counted, and the tasks and threads that it begins. What
        texts were read as before is forgotten: services do not share that.
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
