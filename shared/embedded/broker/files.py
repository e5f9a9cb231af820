"""A limited set of open files, and atomic replacement of files."""

import os
from collections import OrderedDict
from pathlib import Path


class FilePool:
    """At most `limit` open files; the least recently used is closed first, and reopened when needed."""

    def __init__(self, limit: int = 256) -> None:
        self._limit = limit
        self._open: OrderedDict[Path, int] = OrderedDict()

    def descriptor(self, path: Path) -> int:
        """A descriptor for reading and writing `path`, valid until the next call; creates a missing file."""
        descriptor = self._open.get(path)
        if descriptor is None:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._open[path] = descriptor
            if len(self._open) > self._limit:
                os.close(self._open.popitem(last=False)[1])
        else:
            self._open.move_to_end(path)
        return descriptor

    def forget(self, path: Path) -> None:
        """Closes `path`; deleting it then frees its space."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Syncs and closes every file."""
        while self._open:
            descriptor = self._open.popitem()[1]
            os.fdatasync(descriptor)
            os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Replaces the content of `path` atomically: after a crash it has the new or the old content."""
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with memoryview(content) as rest:
            written = 0
            while written < len(content):
                written += os.write(descriptor, rest[written:])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Syncs created and deleted names in `folder`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
