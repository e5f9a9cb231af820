"""Record batches (format v2) as the broker sees them: a header to read and check, and opaque records."""

import struct
from typing import NamedTuple

from shared.batches import CHECKED_FROM, FORMAT, HEADER, PREFIX
from shared.embedded.broker.protocol import crc32c

OFFSET = struct.Struct(">q")


class Header(NamedTuple):
    """The header of one batch; timestamps in ms, `size` in bytes with the header."""

    base_offset: int
    size: int
    crc: int
    last_offset_delta: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def next_offset(self) -> int:
        """The offset after the batch's last record."""
        return self.base_offset + self.last_offset_delta + 1


def read_header(data: bytes | memoryview, position: int = 0) -> Header | None:
    """The header at `position`; None where no whole, sane header of format v2 stands."""
    if len(data) - position < HEADER.size:
        return None
    base, length, _, magic, crc, _, delta, _, max_timestamp, pid, epoch, sequence, count = HEADER.unpack_from(
        data, position
    )
    if magic != FORMAT or length < HEADER.size - PREFIX or delta < 0 or count < 1 or base < 0:
        return None
    return Header(base, PREFIX + length, crc, delta, max_timestamp, pid, epoch, sequence, count)


def sound(batch: bytes, header: Header) -> bool:
    """Whether the batch is as long as its header says and its CRC-32C matches."""
    return len(batch) == header.size and crc32c(batch[CHECKED_FROM:]) == header.crc
