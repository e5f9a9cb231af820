"""One segment: an append-only file of record batches, with a sparse index in memory."""

import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

from shared.batches import BatchHeader
from shared.embedded.broker.files import FilePool, replace_file, sync_folder
from shared.embedded.broker.protocol import HEADER, OFFSET, later_records, read_header, sound

INDEX_INTERVAL = 4096  # bytes of log per index entry
READ_AHEAD = 64 << 10


class Segment:
    """The batches from `base` up to `next_offset`, stored in `<base>.log`; timestamps in ms, -1 while it is empty."""

    def __init__(self, folder: Path, base: int, pool: FilePool) -> None:
        self.path = folder / f"{base:020d}.log"
        self.base = base
        self.next_offset = base
        self.size = 0
        self.first_timestamp = -1
        self.max_timestamp = -1
        self._folder = folder
        self._pool = pool
        self._index_offsets = array("q")
        self._index_positions = array("q")
        self._indexed_until = -INDEX_INTERVAL

    def append(self, batch: bytes, header: BatchHeader) -> None:
        """Appends `batch` at the offset in `header`; after an OSError nothing of it remains."""
        descriptor = self._pool.descriptor(self.path)
        parts = [OFFSET.pack(header.base_offset), memoryview(batch)[OFFSET.size :]]
        try:
            written = os.pwritev(descriptor, parts, self.size)
            if written != header.size:
                raise OSError(f"short write of {written} of {header.size} bytes to {self.path}")
        except OSError:
            os.ftruncate(descriptor, self.size)
            raise
        self._count(header)

    def recover(self, seen: Callable[[BatchHeader], None]) -> bool:
        """Indexes the file and passes each batch to `seen`; False if it was truncated at the first corrupt batch."""
        length = self.path.stat().st_size
        while self.size < length:
            header, batch = self._batch_at(self.size)
            if header is None or not sound(batch, header) or header.base_offset != self.next_offset:
                os.ftruncate(self._pool.descriptor(self.path), self.size)
                return False
            self._count(header)
            seen(header)
        return True

    def tail(self, offset: int) -> bytes:
        """The data from `offset` on, which must be here; ValueError if its batch cannot be parsed."""
        position = self.position_of(offset)
        header, batch = self._batch_at(position)
        if header is not None and header.base_offset < offset:
            shorter = later_records(batch, offset)
            fresh = read_header(shorter)
            if fresh is None or fresh.next_offset != header.next_offset:
                raise ValueError("a batch with an inconsistent number of records")
            batch = shorter
        after = position + header.size if header else self.size
        return batch + self._pread(self.size - after, after)

    def begun_at(self, offset: int, tail: bytes) -> "Segment":
        """Replaces this segment with one that starts at `offset` with `tail`; a crash leaves one of the two."""
        self._pool.forget(self.path)
        replace_file(self.path, tail)
        named_by_content(self.path)
        segment = Segment(self._folder, offset, self._pool)
        segment.recover(lambda _: None)
        return segment

    def read(self, offset: int, limit: int) -> bytes:
        """Complete batches from the one with `offset` on, about `limit` bytes but at least one;
        `offset` must be here.
        """
        position = self.position_of(offset)
        chunk = self._pread(limit, position)
        end = 0
        while (header := read_header(chunk, end)) is not None and end + header.size <= len(chunk):
            end += header.size
        if end == 0:  # the first batch is larger than the limit
            return self._batch_at(position)[1]
        return chunk[:end]

    def position_of(self, offset: int) -> int:
        """The position of the batch that contains `offset`."""
        entry = bisect_right(self._index_offsets, offset) - 1
        for header, position in self.headers(self._index_positions[entry] if entry >= 0 else 0):
            if header.next_offset > offset:
                return position
        return self.size

    def headers(self, position: int = 0) -> Iterator[tuple[BatchHeader, int]]:
        """Every batch header from `position` on, with its position."""
        chunk, start = b"", position
        while position < self.size:
            header = read_header(chunk, position - start)
            if header is None:
                chunk, start = self._pread(READ_AHEAD, position), position
                header = read_header(chunk)
                if header is None:
                    return
            yield header, position
            position += header.size

    def delete(self) -> None:
        """Deletes the file."""
        self._pool.forget(self.path)
        self.path.unlink(missing_ok=True)

    def batch_at(self, position: int) -> bytes:
        """The complete batch at `position`."""
        return self._batch_at(position)[1]

    def _batch_at(self, position: int) -> tuple[BatchHeader | None, bytes]:
        header = read_header(self._pread(HEADER.size, position))
        return header, self._pread(header.size, position) if header else b""

    def _pread(self, size: int, position: int) -> bytes:
        return os.pread(self._pool.descriptor(self.path), size, position)

    def _count(self, header: BatchHeader) -> None:
        if self.size - self._indexed_until >= INDEX_INTERVAL:
            self._index_offsets.append(header.base_offset)
            self._index_positions.append(self.size)
            self._indexed_until = self.size
        self.size += header.size
        self.next_offset = header.next_offset
        if self.first_timestamp < 0:
            self.first_timestamp = header.max_timestamp
        self.max_timestamp = max(self.max_timestamp, header.max_timestamp)


def named_by_content(path: Path) -> Path:
    """The segment file under the name of its first offset, which changes when its front is deleted."""
    with path.open("rb") as file:
        header = read_header(file.read(HEADER.size))
        if header is None or header.base_offset <= int(path.stem):
            return path
        file.seek(0)
        if not sound(file.read(header.size), header):
            return path
    renamed = path.with_name(f"{header.base_offset:020d}.log")
    path.rename(renamed)
    sync_folder(path.parent)
    return renamed
