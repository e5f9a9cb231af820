"""The log of one partition: segments on disk, appended at the end, deleted from the front."""

import asyncio
import logging
import shutil
import time
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from shared.batches import BatchHeader
from shared.embedded.broker.files import FilePool, sync_folder
from shared.embedded.broker.producers import Producers
from shared.embedded.broker.protocol import Code, first_record_since, read_header, sound
from shared.embedded.broker.segment import Segment, named_by_content

_log = logging.getLogger("smartbrain.broker")
WEEK_MS = 7 * 24 * 3600 * 1000
AHEAD_MS = 3600 * 1000
"""The maximum lead of a record's timestamp, as in Kafka: a record from the future would never expire."""


@dataclass(frozen=True)
class Limits:
    """Retention and limits of a partition; -1 for retention_ms means forever.

    A segment spans at most `segment_ms`; it is deleted as a whole, so its oldest records stay up to that much longer.
    """

    retention_ms: int
    retention_bytes: int
    segment_bytes: int
    max_message_bytes: int
    segment_ms: int = WEEK_MS


@dataclass(frozen=True)
class Appended:
    """The result of an append: an error code, or the offset of the first record."""

    error: int
    base_offset: int = -1


class PartitionLog:
    """Offsets `start_offset` up to (not including) `end_offset`; appended records survive this process."""

    def __init__(self, folder: Path, limits: Limits, pool: FilePool) -> None:
        self.limits = limits
        self.producers = Producers()
        self._folder = folder
        self._pool = pool
        self._segments: list[Segment] = []
        self._waiting: set[asyncio.Future[None]] = set()
        self._recover()

    @property
    def start_offset(self) -> int:
        """The first offset that exists."""
        return self._segments[0].base if self._segments else 0

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._segments[-1].next_offset if self._segments else 0

    @property
    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(segment.size for segment in self._segments)

    def append(self, batch: bytes) -> Appended:
        """Stores the batch once, in order, and wakes every waiting reader; or the error that refuses it."""
        header = read_header(batch)
        if header is None or not sound(batch, header):
            return Appended(Code.CORRUPT_MESSAGE)
        if header.record_count != header.last_offset_delta + 1:
            return Appended(Code.INVALID_RECORD)
        if header.size > self.limits.max_message_bytes:
            return Appended(Code.MESSAGE_TOO_LARGE)
        if header.max_timestamp > time.time() * 1000 + AHEAD_MS:
            return Appended(Code.INVALID_TIMESTAMP)
        verdict = self.producers.judge(header)
        if verdict.error or verdict.stored_at is not None:
            return Appended(verdict.error, -1 if verdict.stored_at is None else verdict.stored_at)
        header = header._replace(base_offset=self.end_offset)
        try:
            self._store(batch, header)
        except OSError as error:
            _log.error("append_failed folder=%s error=%s", self._folder, error)
            return Appended(Code.STORAGE_ERROR)
        self.producers.remember(header)
        self.wake()
        return Appended(Code.NONE, header.base_offset)

    def read(self, offset: int, limit: int) -> bytes:
        """Complete batches from the one with `offset` on, about `limit` bytes; empty at the end of the log."""
        if offset >= self.end_offset:
            return b""
        return self._segment_of(offset).read(offset, limit)

    def offset_since(self, timestamp: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record at or after `timestamp` (ms); None if none is that recent."""
        for segment in self._segments:
            if segment.max_timestamp < timestamp:
                continue
            for header, position in segment.headers():
                if header.max_timestamp >= timestamp:
                    return first_record_since(segment.batch_at(position), timestamp)
        return None

    def expire(self, now_ms: int | None = None) -> None:
        """Deletes whole segments beyond the limit of time or size; offsets are never reused."""
        now = int(time.time() * 1000) if now_ms is None else now_ms
        oldest_kept = now - self.limits.retention_ms if self.limits.retention_ms >= 0 else -1
        while self._segments and self._segments[0].size and self._segments[0].max_timestamp < oldest_kept:
            self._delete_first()
        excess = self.size - self.limits.retention_bytes
        while self.limits.retention_bytes >= 0 and len(self._segments) > 1 and excess >= self._segments[0].size:
            excess -= self._segments[0].size
            self._delete_first()

    def delete_before(self, offset: int) -> int:
        """Removes everything before `offset` (-1: the end) from all files, and informs readers; or
        the error that refuses it.
        """
        wanted = self.end_offset if offset == -1 else offset
        if not 0 <= wanted <= self.end_offset:
            return Code.OFFSET_OUT_OF_RANGE
        if wanted <= self.start_offset:
            return Code.NONE
        try:
            holder = self._segment_of(wanted)
            tail = holder.tail(wanted) if holder.base < wanted < self.end_offset else None
            while self._segments[0].base < wanted and self._segments[0].next_offset <= wanted:
                self._delete_first()
            if tail is not None:
                self._segments[0] = self._segments[0].begun_at(wanted, tail)
            sync_folder(self._folder)
        except (OSError, ValueError) as error:
            _log.error("delete_failed folder=%s error=%s", self._folder, error)
            return Code.STORAGE_ERROR if isinstance(error, OSError) else Code.INVALID_RECORD
        self.wake()
        return Code.NONE

    def watch(self, future: asyncio.Future[None]) -> None:
        """Completes `future` at the next append here; it may watch several partitions."""
        self._waiting.add(future)

    def unwatch(self, future: asyncio.Future[None]) -> None:
        """Stops watching with `future`."""
        self._waiting.discard(future)

    def wake(self) -> None:
        """Wakes every waiting reader."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def delete(self) -> None:
        """Deletes the partition's files, and wakes its readers, which then notice."""
        for segment in self._segments:
            segment.delete()
        self._segments = []
        shutil.rmtree(self._folder, ignore_errors=True)
        self.wake()

    def _store(self, batch: bytes, header: BatchHeader) -> None:
        if not self._segments or (self._segments[-1].size and self.is_full(self._segments[-1], header)):
            self._roll()
            self.expire()
        self._segments[-1].append(batch, header)

    def is_full(self, segment: Segment, header: BatchHeader) -> bool:
        too_old = header.max_timestamp - segment.first_timestamp > self.limits.segment_ms
        return too_old or segment.size + header.size > self.limits.segment_bytes

    def _roll(self) -> None:
        """Starts a new last segment, whose name records the next offset."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        segment = Segment(self._folder, self.end_offset, self._pool)
        segment.path.touch(mode=0o600)
        self._segments.append(segment)

    def _delete_first(self) -> None:
        if len(self._segments) == 1:
            self._roll()
        self._segments.pop(0).delete()

    def _segment_of(self, offset: int) -> Segment:
        return self._segments[max(bisect_right(self._segments, offset, key=lambda segment: segment.base) - 1, 0)]

    def _recover(self) -> None:
        """Reads every batch; truncates the log at the first corrupt one, because nothing after it can be in order."""
        for unfinished in self._folder.glob("*.new"):
            unfinished.unlink()
        paths = sorted(self._folder.glob("*.log"))
        paths[:1] = map(named_by_content, paths[:1])
        for number, path in enumerate(paths):
            segment = Segment(self._folder, int(path.stem), self._pool)
            in_order = not self._segments or segment.base == self.end_offset
            whole = in_order and segment.recover(self.producers.remember)
            if in_order:
                self._segments.append(segment)
            if not whole:
                rest = paths[number + 1 :] if in_order else paths[number:]
                _log.warning("log_cut folder=%s at_offset=%d files_dropped=%d", path.parent, self.end_offset, len(rest))
                for dropped in rest:
                    dropped.unlink()
                return
