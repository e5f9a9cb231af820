"""Record batches (format v2): the broker reads and checks their header; the records are opaque."""

import struct

from shared.batches import CHECKED_FROM, FORMAT, HEADER, PREFIX, BatchHeader, header_of
from shared.embedded.broker.protocol import crc32c

OFFSET = struct.Struct(">q")


def read_header(data: bytes | memoryview, position: int = 0) -> BatchHeader | None:
    """The header at `position`; None without a complete, plausible header of format v2."""
    header = header_of(data, position)
    if header is None or header.format != FORMAT or header.length < HEADER.size - PREFIX:
        return None
    return header if header.last_offset_delta >= 0 and header.record_count >= 1 and header.base_offset >= 0 else None


def sound(batch: bytes, header: BatchHeader) -> bool:
    """Whether the batch has the length in its header and its CRC-32C matches."""
    return len(batch) == header.size and crc32c(batch[CHECKED_FROM:]) == header.crc
