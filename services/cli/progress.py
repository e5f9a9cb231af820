"""Progress on standard error of whatever takes longer than a second: bars on a terminal, lines elsewhere."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from services.cli.output import err

Say = Callable[[str, int, int], None]
"""Gets the current task, its progress and its total."""
PATIENCE_S = 1.0
LINE_EVERY_S = 2.0


@contextmanager
def show_progress(what: str, *, quiet: bool) -> Generator[Say]:
    """The function to call with progress; until its first call, `what` is shown as running."""
    if quiet:
        yield lambda what, done, total: None
        return
    show = _show_bars if err.is_terminal else _show_lines
    with show(what) as say:
        yield say


@contextmanager
def show_work(what: str, *, quiet: bool) -> Generator[None]:
    """Shows progress of a task that takes longer than a second."""
    if quiet:
        yield
        return
    status = err.status(what) if err.is_terminal else None
    began = time.monotonic()
    show = status.start if status else lambda: err.print(f"{what} ...", markup=False)
    timer = threading.Timer(PATIENCE_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if status:
            status.stop()
        elif time.monotonic() - began > LINE_EVERY_S + PATIENCE_S:
            err.print(f"{what}: {time.monotonic() - began:.1f} s", markup=False)


@contextmanager
def _show_bars(what: str) -> Generator[Say]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        first: TaskID | None = bar.add_task(what, total=None)
        tasks: dict[str, TaskID] = {}

        def say(what: str, done: int, total: int) -> None:
            nonlocal first
            if first is not None:
                bar.remove_task(first)
                first = None
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield say


@contextmanager
def _show_lines(what: str) -> Generator[Say]:
    began = time.monotonic()
    latest = began
    named = ""

    def say(what: str, done: int, total: int) -> None:
        """One line where something begins, one where it ends, and not too many between."""
        nonlocal latest, named
        now = time.monotonic()
        if now - began < PATIENCE_S or (what == named and done < total and now - latest < LINE_EVERY_S):
            return
        if what == named and done >= total and now - latest < 0.1:
            return
        latest, named = now, what
        err.print(f"{what} {done}/{total} ({now - began:.0f} s)", markup=False)

    with show_work(what, quiet=False):
        yield say
