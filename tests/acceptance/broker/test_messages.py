"""Consumers read what producers write."""

import asyncio
import time

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import MessageSizeTooLargeError
from aiokafka.structs import OffsetAndTimestamp

from tests.acceptance.broker.clients import consuming, create, eventually, producing, send_all, take, unique

pytestmark = pytest.mark.kafka


async def test_each_partition_preserves_order(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("order"), 3)
    async with producing(bootstrap, linger_ms=2) as producer:
        acks = [await producer.send(topic, b"%d" % i, key=b"k%d" % (i % 10)) for i in range(1000)]
        await asyncio.gather(*acks)
    async with consuming(bootstrap, topic) as consumer:
        records = await take(consumer, 1000)
    assert sorted(int(record.value or b"") for record in records) == list(range(1000))
    for partition in range(3):
        here = [record for record in records if record.partition == partition]
        assert [record.offset for record in here] == list(range(len(here)))
        assert [int(record.value or b"") for record in here] == sorted(int(record.value or b"") for record in here)


async def test_keys_headers_timestamps_and_nulls_are_preserved(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("fields"))
    headers = [("a", b"1"), ("a", b""), ("ключ", "值".encode())]
    now = int(time.time() * 1000)
    async with producing(bootstrap) as producer:
        await producer.send_and_wait(topic, b"value", key=b"key", headers=headers, timestamp_ms=now)
        await producer.send_and_wait(topic, None, key=b"key")
        await producer.send_and_wait(topic, b"", key=None)
    async with consuming(bootstrap, topic) as consumer:
        full, tombstone, empty = await take(consumer, 3)
    assert (full.key, full.value, list(full.headers), full.timestamp) == (b"key", b"value", headers, now)
    assert (tombstone.key, tombstone.value, list(tombstone.headers)) == (b"key", None, [])
    assert (empty.key, empty.value) == (None, b"")


@pytest.mark.parametrize("codec", ["gzip"])
async def test_compressed_batches_are_stored(bootstrap: str, codec: str) -> None:
    topic = await create(bootstrap, unique("codec"))
    await send_all(bootstrap, topic, [b"x" * 500] * 50, compression_type=codec, linger_ms=20)
    async with consuming(bootstrap, topic) as consumer:
        assert [record.value for record in await take(consumer, 50)] == [b"x" * 500] * 50


async def test_a_message_larger_than_the_fetch_limit_is_delivered(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("large"))
    await send_all(bootstrap, topic, [b"a" * 300_000, b"b"])
    async with consuming(bootstrap, topic, max_partition_fetch_bytes=1000, fetch_max_bytes=1000) as consumer:
        assert [len(record.value or b"") for record in await take(consumer, 2)] == [300_000, 1]


async def test_a_message_over_the_topics_limit_is_refused_and_the_next_accepted(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("limit"), max_message_bytes="20000")
    async with producing(bootstrap) as producer:
        with pytest.raises(MessageSizeTooLargeError):
            await producer.send_and_wait(topic, b"x" * 50_000)
        metadata = await producer.send_and_wait(topic, b"x" * 5000)
    assert metadata.offset == 0


async def test_a_message_wakes_a_waiting_reader_at_once(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("wake"))
    async with producing(bootstrap) as producer, consuming(bootstrap, topic, fetch_max_wait_ms=10_000) as consumer:
        await producer.send_and_wait(topic, b"first")
        await take(consumer, 1)
        waits: list[float] = []
        for _ in range(5):
            reading = asyncio.create_task(consumer.getone())
            await asyncio.sleep(0.1)  # the fetch now waits in the broker
            sent = time.monotonic()
            await producer.send_and_wait(topic, b"next")
            await asyncio.wait_for(reading, 60)
            waits.append(time.monotonic() - sent)
    assert sorted(waits)[2] < 2, waits


async def test_an_idempotent_producer_writes_each_message_once_in_order(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("idempotent"))
    values = [b"%d" % i for i in range(2000)]
    await send_all(bootstrap, topic, values, enable_idempotence=True, linger_ms=1)
    async with consuming(bootstrap, topic) as consumer:
        assert [record.value for record in await take(consumer, 2000)] == values
        end = await consumer.end_offsets([TopicPartition(topic, 0)])
    assert end == {TopicPartition(topic, 0): 2000}


async def test_a_timestamp_finds_the_first_later_message(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("times"))
    place = TopicPartition(topic, 0)
    start = int(time.time() * 1000) - 60_000
    async with producing(bootstrap, linger_ms=50) as producer:
        acks = [await producer.send(topic, b"x", timestamp_ms=start + 100 * i, partition=0) for i in range(50)]
        await asyncio.gather(*acks)
    async with consuming(bootstrap) as consumer:
        found = await consumer.offsets_for_times({place: start + 1950})
        assert found[place] == OffsetAndTimestamp(20, start + 2000)
        assert (await consumer.offsets_for_times({place: start - 5}))[place] == OffsetAndTimestamp(0, start)
        assert (await consumer.offsets_for_times({place: start + 10_000}))[place] is None


async def test_a_consumer_can_seek_to_any_offset(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("seek"))
    place = TopicPartition(topic, 0)
    await send_all(bootstrap, topic, [b"%d" % i for i in range(20)])
    async with consuming(bootstrap) as consumer:
        consumer.assign([place])
        consumer.seek(place, 15)
        assert (await take(consumer, 1))[0].value == b"15"
        await consumer.seek_to_beginning(place)
        assert (await take(consumer, 1))[0].value == b"0"
        await consumer.seek_to_end(place)
        assert await consumer.position(place) == 20
        await send_all(bootstrap, topic, [b"20"])
        assert (await take(consumer, 1))[0].value == b"20"


@pytest.mark.parametrize(("reset", "expected"), [("earliest", b"old"), ("latest", b"new")])
async def test_auto_offset_reset_sets_the_start_of_a_new_group(bootstrap: str, reset: str, expected: bytes) -> None:
    topic = await create(bootstrap, unique("reset"))
    await send_all(bootstrap, topic, [b"old"])
    async with consuming(bootstrap, topic, group_id=unique("group"), auto_offset_reset=reset) as consumer:
        await eventually(lambda: bool(consumer.assignment()), "an assignment")
        await consumer.position(TopicPartition(topic, 0))
        await send_all(bootstrap, topic, [b"new"])
        assert (await take(consumer, 1))[0].value == expected


async def test_an_offset_beyond_the_end_is_reset(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("range"))
    await send_all(bootstrap, topic, [b"only"])
    async with consuming(bootstrap) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), 1000)
        assert (await take(consumer, 1))[0].value == b"only"


async def test_producing_without_acks_delivers(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("noacks"))
    await send_all(bootstrap, topic, [b"%d" % i for i in range(10)], acks=0)
    async with consuming(bootstrap, topic) as consumer:
        assert len(await take(consumer, 10)) == 10
