# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
"""The wire: which API versions are spoken, and frames in and out, on aiokafka's own protocol structs.

aiokafka describes the client's side; a broker reads its requests and writes its responses with the same schemas. This
file is the only one that knows aiokafka's private modules, hence the pyright comments above and the exact version pin.
"""

import struct
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiokafka.errors import KafkaError
from aiokafka.protocol import admin, commit, coordination, fetch, group, metadata, offset, produce, transaction
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import calc_crc32c

from shared.batches import opened

API_VERSIONS_KEY = 18
SEQUENCES = 1 << 31
LARGEST = SEQUENCES - 1
_HEADER = struct.Struct(">hhih")

_SPOKEN: dict[int, list[Any]] = {
    0: [produce.ProduceRequest_v5, produce.ProduceRequest_v6, produce.ProduceRequest_v7],
    1: [fetch.FetchRequest_v4],
    2: [offset.OffsetRequest_v2, offset.OffsetRequest_v3],
    3: [metadata.MetadataRequest_v5],
    8: [commit.OffsetCommitRequest_v3],
    9: [commit.OffsetFetchRequest_v3],
    10: [coordination.FindCoordinatorRequest_v1],
    11: [group.JoinGroupRequest_v5],
    12: [group.HeartbeatRequest_v1],
    13: [group.LeaveGroupRequest_v1],
    14: [group.SyncGroupRequest_v3],
    15: [admin.DescribeGroupsRequest_v1, admin.DescribeGroupsRequest_v2],
    16: [admin.ListGroupsRequest_v1],
    18: [admin.ApiVersionRequest_v1, admin.ApiVersionRequest_v2],
    19: [admin.CreateTopicsRequest_v2, admin.CreateTopicsRequest_v3],
    20: [admin.DeleteTopicsRequest_v1, admin.DeleteTopicsRequest_v2, admin.DeleteTopicsRequest_v3],
    21: [admin.DeleteRecordsRequest_v0, admin.DeleteRecordsRequest_v1],
    22: [transaction.InitProducerIdRequest_v0],
    32: [admin.DescribeConfigsRequest_v1, admin.DescribeConfigsRequest_v2],
    37: [admin.CreatePartitionsRequest_v0, admin.CreatePartitionsRequest_v1],
}
_STRUCTS: dict[tuple[int, int], Any] = {(key, s.API_VERSION): s for key, structs in _SPOKEN.items() for s in structs}
_STRUCTS[API_VERSIONS_KEY, 0] = admin.ApiVersionRequest_v0

VERSION_RANGES: list[tuple[int, int, int]] = [
    (key, 0 if key == API_VERSIONS_KEY else structs[0].API_VERSION, structs[-1].API_VERSION)
    for key, structs in _SPOKEN.items()
]
"""(API key, lowest, highest version) for every request that is understood; within a range all fields are the same."""


class Code:
    """Kafka's error codes that this broker answers with."""

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
class Request:
    """One decoded request: its fields in schema order, and who sent it."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str
    connection: int
    body: tuple[Any, ...]


class UnsupportedRequestError(Exception):
    """A request of an API or version that this broker does not speak."""


def decode(frame: bytes, connection: int) -> Request:
    """The request in a frame (without its length); raises UnsupportedRequestError, or ValueError for a torn one.

    ApiVersions of an unknown version decodes as version -1: the answer then is the list and the version 0 layout.
    """
    key, version, correlation_id, name_length = _HEADER.unpack_from(frame)
    name_end = _HEADER.size + max(name_length, 0)
    client_id = frame[_HEADER.size : name_end].decode(errors="replace")
    schema = _STRUCTS.get((key, version))
    if schema is None:
        if key == API_VERSIONS_KEY:
            return Request(key, -1, correlation_id, client_id, connection, ())
        raise UnsupportedRequestError(f"API {key} version {version}")
    stream = BytesIO(frame)
    stream.seek(name_end)
    return Request(key, version, correlation_id, client_id, connection, schema.SCHEMA.decode(stream))


def encode(request: Request, response: tuple[Any, ...]) -> bytes:
    """The frame, length included, that answers `request`."""
    schema = _STRUCTS[request.api_key, max(request.version, 0)].RESPONSE_TYPE.SCHEMA
    payload: bytes = schema.encode(response)
    return struct.pack(">ii", len(payload) + 4, request.correlation_id) + payload


def crc32c(payload: bytes) -> int:
    """The CRC-32C that ends up in a record batch's header."""
    return int(calc_crc32c(payload))


BROKEN = (KafkaError, ValueError, IndexError, EOFError, OSError, struct.error)
"""What taking apart a batch raises that a client has made wrong."""


def first_record_since(batch: bytes, timestamp: int) -> tuple[int, int] | None:
    """(timestamp, offset) of the batch's first record at or after `timestamp` (ms); None if there is none.

    A batch that cannot be taken apart counts as one record, with its header's latest time.
    """
    records: Any = MemoryRecords(batch).next_batch()
    first: tuple[int, int] = (records.max_timestamp, records.base_offset)
    try:
        records = MemoryRecords(opened(batch)).next_batch()
        return next(((each.timestamp, each.offset) for each in records if each.timestamp >= timestamp), None)
    except BROKEN:
        return first


def later_records(batch: bytes, offset: int) -> bytes:
    """The batch without its records before `offset`, packed as it was; ValueError where it cannot be taken apart."""
    try:
        old: Any = MemoryRecords(batch).next_batch()
        records: Any = MemoryRecords(opened(batch)).next_batch()
        kept: list[Any] = [record for record in records if record.offset >= offset]
    except BROKEN as error:
        raise ValueError(f"a batch that cannot be read: {type(error).__name__}") from error
    gone = offset - old.base_offset
    sequence = (old.base_sequence + gone) % SEQUENCES if old.base_sequence >= 0 else old.base_sequence
    made = DefaultRecordBatchBuilder(
        2, old.compression_type, False, old.producer_id, old.producer_epoch, sequence, batch_size=LARGEST
    )
    for record in kept:
        made.append(record.offset - offset, record.timestamp, record.key, record.value, record.headers)
    return struct.pack(">q", offset) + bytes(made.build())[8:]
