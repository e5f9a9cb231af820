"""The wire protocol: supported API versions, and request and response frames, with aiokafka's protocol structs.

aiokafka describes the client's side; a broker reads its requests and writes its responses with the same schemas. Only
this file uses aiokafka's private modules, hence the pyright comments above and the exact version pin.
"""

import struct
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiokafka.errors import KafkaError
from aiokafka.protocol import admin, commit, coordination, fetch, group, metadata, offset, produce, transaction
from aiokafka.protocol.types import Array, Boolean, Int8, Int16, Int32, Int64, Schema
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import calc_crc32c

from shared.batches import CHECKED_FROM, FORMAT, HEADER, PREFIX, BatchHeader, header_of, open_batch

API_VERSIONS_KEY = 18
ABSENT = {"allow_auto_topic_creation": True}
"""Defaults of fields that old requests lack, where they differ from the empty value of the type."""
EMPTY: dict[Any, Any] = {Boolean: False, Int8: 0, Int16: 0, Int32: 0, Int64: 0}
SEQUENCES = 1 << 31
LARGEST = SEQUENCES - 1
_HEADER = struct.Struct(">hhih")


def _versions(module: Any, name: str, first: int, *layouts: int) -> tuple[int, list[Any]]:
    """The versions from `first` on, each with the request that has its layout; aiokafka omits some."""
    return first, [getattr(module, f"{name}Request_v{number}") for number in layouts]


_SPOKEN: dict[int, tuple[int, list[Any]]] = {
    0: _versions(produce, "Produce", 3, 3, 4, 5, 6, 7),
    1: _versions(fetch, "Fetch", 4, 4),
    2: _versions(offset, "Offset", 1, 1, 2, 3),
    3: _versions(metadata, "Metadata", 0, 0, 1, 2, 3, 4, 5),
    8: _versions(commit, "OffsetCommit", 2, 2, 3),
    9: _versions(commit, "OffsetFetch", 1, 1, 2, 3),
    10: _versions(coordination, "FindCoordinator", 0, 0, 1),
    11: _versions(group, "JoinGroup", 0, 0, 1, 2, 2, 2, 5),
    12: _versions(group, "Heartbeat", 0, 0, 1),
    13: _versions(group, "LeaveGroup", 0, 0, 1),
    14: _versions(group, "SyncGroup", 0, 0, 1, 1, 3),
    15: _versions(admin, "DescribeGroups", 0, 0, 1, 2),
    16: _versions(admin, "ListGroups", 0, 0, 1, 1),
    18: _versions(admin, "ApiVersion", 0, 0, 1, 2),
    19: _versions(admin, "CreateTopics", 0, 0, 1, 2, 3, 3),
    20: _versions(admin, "DeleteTopics", 0, 0, 1, 2, 3),
    21: _versions(admin, "DeleteRecords", 0, 0, 1),
    22: _versions(transaction, "InitProducerId", 0, 0, 0),
    32: _versions(admin, "DescribeConfigs", 1, 1, 2),
    37: _versions(admin, "CreatePartitions", 0, 0, 1),
}
_STRUCTS: dict[tuple[int, int], Any] = {
    (key, first + n): struct for key, (first, structs) in _SPOKEN.items() for n, struct in enumerate(structs)
}
_NEWEST: dict[int, Any] = {key: structs[-1] for key, (_, structs) in _SPOKEN.items()}

VERSION_RANGES: list[tuple[int, int, int]] = [
    (key, first, first + len(structs) - 1) for key, (first, structs) in _SPOKEN.items()
]
"""(API key, lowest, highest version) of every supported request; handlers know only the highest."""


class Code:
    """Kafka's error codes that this broker returns."""

    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    MESSAGE_TOO_LARGE = 10
    INVALID_TOPIC = 17
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_CONFIG = 40
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE = 45
    DUPLICATE_SEQUENCE = 46
    INVALID_PRODUCER_EPOCH = 47
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    STORAGE_ERROR = 56
    FENCED_INSTANCE_ID = 82
    INVALID_RECORD = 87


@dataclass(frozen=True)
class KafkaRequest:
    """One decoded request: its fields in schema order, and its sender."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str
    connection: int
    body: tuple[Any, ...]


class UnsupportedRequestError(Exception):
    """A request of an unsupported API or version."""


def decode(frame: bytes, connection: int) -> KafkaRequest:
    """The request in a frame (without its length); raises UnsupportedRequestError, or ValueError for a truncated one.

    ApiVersions of an unknown version is decoded as version -1: the response then is the list and the version 0 layout.
    """
    key, version, correlation_id, name_length = _HEADER.unpack_from(frame)
    name_end = _HEADER.size + max(name_length, 0)
    client_id = frame[_HEADER.size : name_end].decode(errors="replace")
    schema = _STRUCTS.get((key, version))
    if schema is None:
        if key == API_VERSIONS_KEY:
            return KafkaRequest(key, -1, correlation_id, client_id, connection, ())
        raise UnsupportedRequestError(f"API {key} version {version}")
    stream = BytesIO(frame)
    stream.seek(name_end)
    body = fit_layout(schema.SCHEMA.decode(stream), schema.SCHEMA, _NEWEST[key].SCHEMA)
    return KafkaRequest(key, version, correlation_id, client_id, connection, body)


def encode(request: KafkaRequest, response: tuple[Any, ...]) -> bytes:
    """The response frame, with length, for `request` in its version."""
    schema = _STRUCTS[request.api_key, max(request.version, 0)].RESPONSE_TYPE.SCHEMA
    payload: bytes = schema.encode(fit_layout(response, _NEWEST[request.api_key].RESPONSE_TYPE.SCHEMA, schema))
    return struct.pack(">ii", len(payload) + 4, request.correlation_id) + payload


def fit_layout(value: Any, given: Any, wanted: Any) -> Any:
    """Converts fields from the layout `given` to `wanted` by name; fields of only one of them are omitted or empty."""
    if given is wanted or value is None:
        return value
    if isinstance(wanted, Schema):
        parts = {name: (part, field) for name, part, field in zip(given.names, value, given.fields, strict=True)}
        return tuple(
            fit_layout(*parts[name], field) if name in parts else ABSENT.get(name, EMPTY.get(field))
            for name, field in zip(wanted.names, wanted.fields, strict=True)
        )
    return [fit_layout(each, given.array_of, wanted.array_of) for each in value] if isinstance(wanted, Array) else value


def crc32c(payload: bytes) -> int:
    """The CRC-32C in a record batch's header."""
    return int(calc_crc32c(payload))


BROKEN = (KafkaError, ValueError, IndexError, EOFError, OSError, struct.error)
"""The errors of parsing an invalid batch of a client."""


def first_record_since(batch: bytes, timestamp: int) -> tuple[int, int] | None:
    """(timestamp, offset) of the batch's first record at or after `timestamp` (ms); None if there is none.

    A batch that cannot be parsed counts as one record, with its header's latest time.
    """
    records: Any = MemoryRecords(batch).next_batch()
    first: tuple[int, int] = (records.max_timestamp, records.base_offset)
    try:
        records = MemoryRecords(open_batch(batch)).next_batch()
        return next(((each.timestamp, each.offset) for each in records if each.timestamp >= timestamp), None)
    except BROKEN:
        return first


def later_records(batch: bytes, offset: int) -> bytes:
    """The batch without its records before `offset`, compressed as before; ValueError if it cannot be parsed."""
    try:
        old: Any = MemoryRecords(batch).next_batch()
        records: Any = MemoryRecords(open_batch(batch)).next_batch()
        later: list[Any] = [record for record in records if record.offset >= offset]
    except BROKEN as error:
        raise ValueError(f"a batch that cannot be read: {type(error).__name__}") from error
    gone = offset - old.base_offset
    sequence = (old.base_sequence + gone) % SEQUENCES if old.base_sequence >= 0 else old.base_sequence
    builder = DefaultRecordBatchBuilder(
        2, old.compression_type, False, old.producer_id, old.producer_epoch, sequence, batch_size=LARGEST
    )
    for record in later:
        builder.append(record.offset - offset, record.timestamp, record.key, record.value, record.headers)
    return struct.pack(">q", offset) + bytes(builder.build())[8:]


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
