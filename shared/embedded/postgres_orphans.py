"""Servers on a data folder whose owner was killed."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def clear(data: Path, timeout: float = 30.0) -> bool:
    """Stops servers on `data` and removes a stale postmaster.pid; False if one outlasts `timeout`.

    Call it only while holding the owner's lock. A running postmaster is asked to shut down; backends whose postmaster
    was killed exit on their own. postmaster.pid is deleted once no process uses the folder, because its pid may be
    reused.
    """
    if not PROC.joinpath("self").exists():
        return True  # without /proc, PostgreSQL's own check of postmaster.pid must suffice
    with suppress(ProcessLookupError, PermissionError):
        postmaster = _recorded_postmaster(data)
        if postmaster in list_server_pids(data):
            os.kill(postmaster, signal.SIGINT)
    deadline = time.monotonic() + timeout
    while list_server_pids(data):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    (data / "postmaster.pid").unlink(missing_ok=True)
    return True


def list_server_pids(data: Path) -> set[int]:
    """The pids of the PostgreSQL processes whose working directory is `data`, in which all of them stay."""
    folder = str(data.resolve())
    pids: set[int] = set()
    for entry in PROC.iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and str(entry.joinpath("cwd").readlink()) == folder and _is_postgres(entry):
                pids.add(int(entry.name))
    return pids


def _is_postgres(process: Path) -> bool:
    """Whether the process is a running server (a zombie only waits to be reaped)."""
    name, _, rest = process.joinpath("stat").read_text().rpartition(")")
    return name.endswith("(postgres") and not rest.strip().startswith("Z")


def _recorded_postmaster(data: Path) -> int:
    try:
        return int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return -1
