"""Servers that an earlier, killed owner left running on a data folder."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def clear(data: Path, timeout: float = 30.0) -> bool:
    """No server runs on `data` any more and no stale postmaster.pid is left; False if one outlasts `timeout`.

    Call it only while holding the owner's lock. A left postmaster is asked to shut down; backends whose postmaster
    was killed leave on their own. postmaster.pid goes once nobody works in the folder: its pid may be reused by now.
    """
    if not PROC.joinpath("self").exists():
        return True  # without /proc, PostgreSQL's own check of postmaster.pid has to do
    with suppress(ProcessLookupError, PermissionError):
        postmaster = _recorded_postmaster(data)
        if postmaster in working_in(data):
            os.kill(postmaster, signal.SIGINT)
    deadline = time.monotonic() + timeout
    while working_in(data):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    (data / "postmaster.pid").unlink(missing_ok=True)
    return True


def working_in(data: Path) -> set[int]:
    """The pids of the PostgreSQL processes whose working directory is `data`: each of its processes stays there."""
    folder = str(data.resolve())
    pids: set[int] = set()
    for entry in PROC.iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and str(entry.joinpath("cwd").readlink()) == folder and _is_postgres(entry):
                pids.add(int(entry.name))
    return pids


def _is_postgres(process: Path) -> bool:
    """Whether the process is a server that still runs (a zombie waits only to be collected)."""
    name, _, rest = process.joinpath("stat").read_text().rpartition(")")
    return name.endswith("(postgres") and not rest.strip().startswith("Z")


def _recorded_postmaster(data: Path) -> int:
    try:
        return int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return -1
