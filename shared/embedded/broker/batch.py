"""Record batches (format v2) as the broker sees them: a header to read and check, and opaque records."""

import struct

from shared.batches import CHECKED_FROM, FORMAT, HEADER, PREFIX, BatchHeader, header_of
from shared.embedded.broker.protocol import crc32c

OFFSET = struct.Struct(">q")


def read_header(data: bytes | memoryview, position: int = 0) -> BatchHeader | None:
    """The header at `position`; None where no whole, sane header of format v2 stands."""
    header = header_of(data, position)
    if header is None or header.format != FORMAT or header.length < HEADER.size - PREFIX:
        return None
    return header if header.last_offset_delta >= 0 and header.record_count >= 1 and header.base_offset >= 0 else None


def sound(batch: bytes, header: BatchHeader) -> bool:
    """Whether the batch is as long as its header says and its CRC-32C matches."""
    return len(batch) == header.size and crc32c(batch[CHECKED_FROM:]) == header.crc
