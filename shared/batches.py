# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""A record batch as it stands in a topic (format v2), opened without trusting who made it.

cramjam has no limit of its own: a batch of one megabyte may unpack to thirty gigabytes, so what comes out of it is
written into a space that cannot grow.
"""

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple

import cramjam
from aiokafka.record.util import calc_crc32c

HEADER = struct.Struct(">qiibIhiqqqhii")
PREFIX = 12
"""Bytes of the base offset and the length, which the length itself does not count."""
CHECKED_FROM = 21
"""The CRC covers everything after itself."""
FORMAT = 2
LARGEST = 32 << 20
"""Bytes that a batch may unpack to."""
CODEC_BITS = 0x07
CODECS = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
_LENGTH = struct.Struct(">i")
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_BYTES = 16


class UnreadableBatchError(ValueError):
    """The batch cannot be opened; the message says why, without a word of what is in it."""


class BatchHeader(NamedTuple):
    """The header of a batch, field by field."""

    base_offset: int
    length: int
    leader_epoch: int
    format: int
    crc: int
    attributes: int
    last_offset_delta: int
    first_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return PREFIX + self.length

    @property
    def next_offset(self) -> int:
        """The offset after the batch's last record."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def plausible(self) -> bool:
        """Whether its counts agree; what a damaged header says may not be followed."""
        return self.format == FORMAT and 0 < self.record_count == self.last_offset_delta + 1


def header_of(data: bytes | memoryview, position: int = 0) -> BatchHeader | None:
    """The header at `position`; None where what follows is too short for one."""
    return BatchHeader(*HEADER.unpack_from(data, position)) if len(data) - position >= HEADER.size else None


def split_batches(batches: bytes) -> Iterator[bytes]:
    """The batches that follow each other, each in its length; an unfinished last one is left out."""
    at = 0
    while len(batches) - at >= PREFIX:
        (length,) = _LENGTH.unpack_from(batches, at + 8)
        end = at + PREFIX + length
        if length < 0 or end > len(batches):
            return
        yield batches[at:end]
        at = end


def open_batch(batch: bytes) -> bytes:
    """The same batch with its records as they were before they were compressed; its CRC no longer counts.

    Batches of the formats before v2 come back as they are. UnreadableBatchError: its CRC does not match, its codec is
    unknown, its data are damaged or more than LARGEST bytes.
    """
    header = header_of(batch)
    if header is None or header.format < FORMAT:
        return batch
    if calc_crc32c(batch[CHECKED_FROM:]) != header.crc:
        raise UnreadableBatchError("its CRC does not match")
    codec = header.attributes & CODEC_BITS
    if not codec:
        return batch
    if codec not in CODECS:
        raise UnreadableBatchError(f"unknown codec {codec}")
    try:
        records = _unpack(codec, batch[HEADER.size :])
    except (cramjam.DecompressionError, ValueError, struct.error) as error:
        raise UnreadableBatchError(f"{CODECS[codec]} data that are damaged or larger than {LARGEST} bytes") from error
    length = HEADER.size - PREFIX + len(records)
    plain = header._replace(length=length, attributes=header.attributes & ~CODEC_BITS)
    return HEADER.pack(*plain) + records


def _unpack(codec: int, data: bytes) -> bytes:
    if codec == 2:
        return _unpack_snappy(data)
    unpack = {1: cramjam.gzip.decompress_into, 3: cramjam.lz4.decompress_into, 4: cramjam.zstd.decompress_into}[codec]
    with mmap.mmap(-1, LARGEST) as space:  # costs the pages that are written, unlike a bytearray
        return space[: unpack(data, space)]


def _unpack_snappy(data: bytes) -> bytes:
    """Java wraps snappy in blocks of its own (xerial), librdkafka does not; each block says how long it will be."""
    if not data.startswith(_XERIAL):
        return _unpack_block(data, LARGEST)
    parts: list[bytes] = []
    at, left = _XERIAL_BYTES, LARGEST
    while at < len(data):
        (size,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if not 0 < size <= len(data) - at:
            raise ValueError("a block longer than what is there")
        parts.append(_unpack_block(data[at : at + size], left))
        left -= len(parts[-1])
        at += size
    return b"".join(parts)


def _unpack_block(data: bytes, limit: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(data) > limit:
        raise ValueError("too large")
    return bytes(cramjam.snappy.decompress_raw(data))


def next_after(batch: bytes, offset: int) -> int:
    """Where reading goes on behind a batch that cannot be read at `offset`: its end, or one further if that is lost."""
    header = header_of(batch)
    return header.next_offset if header and header.plausible and header.next_offset >= offset else offset + 1
