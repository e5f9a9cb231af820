"""Batches that are damaged, repeated or out of sequence."""

import time

import pytest
from aiokafka import TopicPartition

from tests.acceptance.broker.clients import consuming, create, producing, unique
from tests.acceptance.broker.wire import (
    CORRUPT_MESSAGE,
    INVALID_PRODUCER_EPOCH,
    INVALID_TIMESTAMP,
    OUT_OF_ORDER_SEQUENCE,
    batch,
    produce,
)

pytestmark = pytest.mark.kafka


def some_producer() -> int:
    """An unused producer id."""
    return time.time_ns() // 1000


async def test_a_damaged_batch_is_refused(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("damaged"))
    data = bytearray(batch([b"payload"]))
    data[-3] ^= 0xFF
    assert (await produce(bootstrap, topic, bytes(data)))[0] == CORRUPT_MESSAGE
    assert await produce(bootstrap, topic, batch([b"payload"])) == (0, 0)


async def test_a_batch_from_the_future_is_refused(bootstrap: str) -> None:
    topic, day_ms = await create(bootstrap, unique("future")), 24 * 3600 * 1000
    later = int(time.time() * 1000) + day_ms
    assert (await produce(bootstrap, topic, batch([b"later"], timestamp=later)))[0] == INVALID_TIMESTAMP
    assert (await produce(bootstrap, topic, batch([b"never"], timestamp=2**62)))[0] == INVALID_TIMESTAMP
    assert await produce(bootstrap, topic, batch([b"before"], timestamp=later - 2 * day_ms)) == (0, 0)


async def test_a_repeated_batch_is_acknowledged_and_stored_once(bootstrap: str) -> None:
    topic, producer = await create(bootstrap, unique("again")), some_producer()
    first, second = batch([b"a", b"b"], producer, 0, 0), batch([b"c"], producer, 0, 2)
    assert await produce(bootstrap, topic, first) == (0, 0)
    assert await produce(bootstrap, topic, second) == (0, 2)
    assert await produce(bootstrap, topic, first) == (0, 0)
    assert await produce(bootstrap, topic, second) == (0, 2)
    async with consuming(bootstrap) as consumer:
        assert list((await consumer.end_offsets([TopicPartition(topic, 0)])).values()) == [3]


async def test_a_sequence_gap_and_an_old_epoch_are_refused(bootstrap: str) -> None:
    topic, producer = await create(bootstrap, unique("gap")), some_producer()
    assert await produce(bootstrap, topic, batch([b"a"], producer, 1, 0)) == (0, 0)
    assert (await produce(bootstrap, topic, batch([b"c"], producer, 1, 2)))[0] == OUT_OF_ORDER_SEQUENCE
    assert (await produce(bootstrap, topic, batch([b"b"], producer, 0, 1)))[0] == INVALID_PRODUCER_EPOCH
    assert await produce(bootstrap, topic, batch([b"b"], producer, 1, 1)) == (0, 1)


async def test_a_sequence_wraps_around_after_its_largest_number(bootstrap: str) -> None:
    topic, producer = await create(bootstrap, unique("wrap")), some_producer()
    last = 2**31 - 1
    assert await produce(bootstrap, topic, batch([b"a"], producer, 0, last)) == (0, 0)
    assert await produce(bootstrap, topic, batch([b"b"], producer, 0, 0)) == (0, 1)


async def test_every_producer_id_is_unique(bootstrap: str) -> None:
    async with (
        producing(bootstrap, enable_idempotence=True) as one,
        producing(bootstrap, enable_idempotence=True) as two,
    ):
        ids = {client._txn_manager.producer_id for client in (one, two)}
    assert len(ids) == 2
