"""Requests with messages: Produce, Fetch, ListOffsets, DeleteRecords, InitProducerId."""

import asyncio
from typing import Any

from shared.embedded.broker.log import PartitionLog
from shared.embedded.broker.protocol import Code, KafkaRequest
from shared.embedded.broker.state import BrokerState

EARLIEST = -2
LATEST = -1
NO_THROTTLE = 0

Response = tuple[Any, ...]
FetchedPartition = tuple[int, int, int, int, list[Any], bytes]


def produce(state: BrokerState, request: KafkaRequest) -> Response | None:
    """Stores or refuses every partition's batch separately; no response with acks=0."""
    _, acks, _, topics = request.body
    answer: list[Any] = []
    for topic, partitions in topics:
        stored: list[Any] = []
        for number, batch in partitions:
            log = state.topics.partition(topic, number)
            if log is None:
                stored.append((number, Code.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1))
            else:
                result = log.append(batch or b"")
                stored.append((number, result.error, result.base_offset, -1, log.start_offset))
        answer.append((topic, stored))
    return None if acks == 0 else (answer, NO_THROTTLE)


async def fetch(state: BrokerState, request: KafkaRequest) -> Response:
    """The available records if they suffice; otherwise more records as soon as they arrive, or the available ones at
    the end of the wait.
    """
    _, max_wait_ms, min_bytes, max_bytes, _, topics = request.body
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max_wait_ms / 1000
    while True:
        answer, size, watched = _read(state, topics, max_bytes)
        if watched is None or size >= min_bytes or loop.time() >= deadline:
            return NO_THROTTLE, answer
        await wait_for_append(watched, deadline)


def _read(state: BrokerState, topics: list[Any], max_bytes: int) -> tuple[list[Any], int, list[PartitionLog] | None]:
    """The response so far, its size, and the logs to wait for: None if an error must be returned at once."""
    answer: list[Any] = []
    size = 0
    watched: list[PartitionLog] = []
    failed = False
    for topic, partitions in topics:
        fetched: list[FetchedPartition] = []
        for number, offset, limit in partitions:
            log = state.topics.partition(topic, number)
            error, end, batches = _read_partition(log, offset, min(limit, max_bytes - size))
            fetched.append((number, error, end, end, [], batches))
            size += len(batches)
            failed = failed or error != Code.NONE
            if log is not None:
                watched.append(log)
        answer.append((topic, fetched))
    return answer, size, None if failed else watched


def _read_partition(log: PartitionLog | None, offset: int, limit: int) -> tuple[int, int, bytes]:
    if log is None:
        return Code.UNKNOWN_TOPIC_OR_PARTITION, -1, b""
    if not log.start_offset <= offset <= log.end_offset:
        return Code.OFFSET_OUT_OF_RANGE, log.end_offset, b""
    return Code.NONE, log.end_offset, log.read(offset, limit) if limit > 0 else b""


async def wait_for_append(logs: list[PartitionLog], deadline: float) -> None:
    """Waits for an append to one of the logs, or the deadline (loop time)."""
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()
    timer = loop.call_at(deadline, lambda: None if woken.done() else woken.set_result(None))
    for log in logs:
        log.watch(woken)
    try:
        await woken
    finally:
        timer.cancel()
        for log in logs:
            log.unwatch(woken)


def list_offsets(state: BrokerState, request: KafkaRequest) -> Response:
    """The first, the next, or the first offset since a time, per partition; -1 if no record is that recent."""
    _, _, topics = request.body
    answer: list[Any] = []
    for topic, partitions in topics:
        found = [(number, *_offset_at(state.topics.partition(topic, number), at)) for number, at in partitions]
        answer.append((topic, found))
    return NO_THROTTLE, answer


def _offset_at(log: PartitionLog | None, timestamp: int) -> tuple[int, int, int]:
    if log is None:
        return Code.UNKNOWN_TOPIC_OR_PARTITION, -1, -1
    if timestamp == LATEST:
        return Code.NONE, -1, log.end_offset
    if timestamp == EARLIEST:
        return Code.NONE, -1, log.start_offset
    found_at, offset = log.offset_since(timestamp) or (-1, -1)
    return Code.NONE, found_at, offset


def delete_records(state: BrokerState, request: KafkaRequest) -> Response:
    """Deletes each partition's records before an offset, on disk too; its new start or an error."""
    topics, _ = request.body
    answer = [
        (topic, [(number, *_delete_before(state, topic, number, offset)) for number, offset in partitions])
        for topic, partitions in topics
    ]
    return NO_THROTTLE, answer


def _delete_before(state: BrokerState, name: str, number: int, offset: int) -> tuple[int, int]:
    topic, log = state.topics.get(name), state.topics.partition(name, number)
    if topic is None or log is None:
        return -1, Code.UNKNOWN_TOPIC_OR_PARTITION
    if "delete" not in topic.configs.get("cleanup.policy", "delete"):
        return -1, Code.POLICY_VIOLATION
    error = log.delete_before(offset)
    return -1 if error else log.start_offset, error


def init_producer_id(state: BrokerState, request: KafkaRequest) -> Response:
    """A new id for an idempotent producer; transactions are not supported."""
    transactional_id, _ = request.body
    if transactional_id:
        return NO_THROTTLE, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1
    return NO_THROTTLE, Code.NONE, state.new_producer_id(), 0
