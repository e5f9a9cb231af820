"""Committed offsets: a map in memory and a journal of JSON lines on disk, rewritten when it has grown."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from shared.embedded.broker.files import replace_file

REWRITE_BEYOND = 4 << 20

Place = tuple[str, int]
"""A topic and a partition."""
Commit = tuple[str, int, int, str]
"""A topic, a partition, the next offset, and the client's note."""


class CommittedOffsets:
    """The offsets of each group; a commit is in the journal when `commit` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets: dict[str, dict[Place, tuple[int, str]]] = {}
        self._load()
        self._rewrite()

    def groups(self) -> list[str]:
        """Every group that has committed offsets."""
        return list(self._offsets)

    def of(self, group: str) -> dict[Place, tuple[int, str]]:
        """Offset and note by topic and partition; empty for an unknown group."""
        return self._offsets.get(group, {})

    def commit(self, group: str, commits: Iterable[Commit]) -> None:
        """Commits these offsets of the group."""
        lines = bytearray()
        for topic, partition, offset, note in commits:
            self._offsets.setdefault(group, {})[topic, partition] = (offset, note)
            lines += _line(group, topic, partition, offset, note)
        os.write(self._descriptor, lines)
        self._size += len(lines)
        if self._size > self._rewrite_at:
            self._rewrite()

    def forget_topic(self, topic: str) -> None:
        """Deletes all groups' offsets in this topic."""
        for offsets in self._offsets.values():
            for place in [place for place in offsets if place[0] == topic]:
                del offsets[place]
        self._rewrite()

    def close(self) -> None:
        """Syncs and closes the journal."""
        os.fdatasync(self._descriptor)
        os.close(self._descriptor)

    def _load(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as journal:
            for line in journal:
                try:
                    group, topic, partition, offset, note = json.loads(line)
                except ValueError:  # empty, or truncated
                    continue
                self._offsets.setdefault(group, {})[topic, partition] = (offset, note)

    def _rewrite(self) -> None:
        """Rewrites the journal with each offset once; the next rewrite is due when it has grown by
        four times that size.
        """
        lines = bytearray()
        for group, offsets in self._offsets.items():
            for (topic, partition), (offset, note) in offsets.items():
                lines += _line(group, topic, partition, offset, note)
        replace_file(self._path, bytes(lines))
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._size = len(lines)
        self._rewrite_at = max(REWRITE_BEYOND, 5 * len(lines))


def _line(group: str, topic: str, partition: int, offset: int, note: str) -> bytes:
    """Starts with its newline, so that a line truncated by a crash or a full disk does not corrupt the next."""
    return b"\n" + json.dumps([group, topic, partition, offset, note]).encode()
