"""Ownership of a data folder: a lock that ends with its holder, even after kill -9."""

import fcntl
import os
from pathlib import Path
from typing import IO


class OwnedError(Exception):
    """Another live process holds the lock; `owner` is its pid, or "unknown"."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"held by process {owner}")
        self.owner = owner


def claim(path: Path) -> IO[str]:
    """The held lock, which names our pid in the file; close it to release. Raises OwnedError."""
    lock = path.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise OwnedError(path.read_text().strip() or "unknown") from error
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock
