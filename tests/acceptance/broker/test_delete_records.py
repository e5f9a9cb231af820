"""Records below an offset are deleted: readers no longer receive them and continue at the new start."""

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete
from aiokafka.errors import OffsetOutOfRangeError, PolicyViolationError

from tests.acceptance.broker.clients import administering, consuming, create, producing, send_all, take, unique

pytestmark = pytest.mark.kafka


async def delete_before(bootstrap: str, topic: str, offset: int) -> int:
    """The first offset of partition 0 after the deletion."""
    place = TopicPartition(topic, 0)
    async with administering(bootstrap) as admin:
        return (await admin.delete_records({place: RecordsToDelete(offset)}))[place]


async def values(bootstrap: str, topic: str, count: int) -> list[tuple[int, bytes]]:
    """Offset and value of the first `count` records."""
    async with consuming(bootstrap, topic) as consumer:
        return [(record.offset, record.value or b"") for record in await take(consumer, count)]


@pytest.mark.parametrize("codec", [None, "gzip"])
async def test_records_can_be_deleted_up_to_the_middle_of_a_batch(bootstrap: str, codec: str | None) -> None:
    topic = await create(bootstrap, unique("front"))
    await send_all(bootstrap, topic, [b"%d" % n for n in range(10)], linger_ms=50, compression_type=codec)
    assert await delete_before(bootstrap, topic, 4) == 4
    async with consuming(bootstrap) as consumer:
        place = TopicPartition(topic, 0)
        assert await consumer.beginning_offsets([place]) == {place: 4}
        assert await consumer.end_offsets([place]) == {place: 10}
    assert await values(bootstrap, topic, 6) == [(n, b"%d" % n) for n in range(4, 10)]


async def test_remaining_records_keep_key_headers_and_timestamp(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("kept"))
    headers = [("x-error", "größer".encode()), ("empty", b"")]
    async with producing(bootstrap, linger_ms=50) as producer:
        first = await producer.send(topic, b"gone", key=b"a", timestamp_ms=1_700_000_000_000, partition=0)
        second = await producer.send(
            topic, b"kept", key=b"b", timestamp_ms=1_700_000_000_500, partition=0, headers=headers
        )
        third = await producer.send(topic, None, key=b"c", timestamp_ms=1_700_000_000_900, partition=0)
        for each in (first, second, third):
            await each
    await delete_before(bootstrap, topic, 1)
    async with consuming(bootstrap, topic) as consumer:
        kept, empty = await take(consumer, 2)
    assert (kept.offset, kept.key, kept.value, list(kept.headers)) == (1, b"b", b"kept", headers)
    assert (kept.timestamp, empty.timestamp) == (1_700_000_000_500, 1_700_000_000_900)
    assert (empty.offset, empty.key, empty.value) == (2, b"c", None)


async def test_all_records_can_be_deleted_and_offsets_continue(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("all"))
    await send_all(bootstrap, topic, [b"old"] * 5)
    assert await delete_before(bootstrap, topic, -1) == 5
    await send_all(bootstrap, topic, [b"new"])
    assert await values(bootstrap, topic, 1) == [(5, b"new")]


async def test_a_repeated_or_lower_deletion_changes_nothing_and_one_beyond_the_end_is_refused(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("again"))
    await send_all(bootstrap, topic, [b"%d" % n for n in range(5)])
    assert await delete_before(bootstrap, topic, 3) == 3
    assert await delete_before(bootstrap, topic, 3) == 3
    assert await delete_before(bootstrap, topic, 0) == 3
    with pytest.raises(OffsetOutOfRangeError):
        await delete_before(bootstrap, topic, 6)
    assert await values(bootstrap, topic, 2) == [(3, b"3"), (4, b"4")]


async def test_a_compacted_topic_is_refused(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("compacted"), cleanup_policy="compact")
    async with producing(bootstrap) as producer:
        for n in range(2):
            await producer.send_and_wait(topic, b"x", key=b"%d" % n)
    with pytest.raises(PolicyViolationError):
        await delete_before(bootstrap, topic, 1)


async def test_a_reader_below_the_new_start_continues_there(bootstrap: str) -> None:
    topic, group = await create(bootstrap, unique("below")), unique("group")
    place = TopicPartition(topic, 0)
    await send_all(bootstrap, topic, [b"%d" % n for n in range(10)])
    async with consuming(bootstrap, topic, group_id=group) as consumer:
        await take(consumer, 2)
        await consumer.commit({place: 2})
    await delete_before(bootstrap, topic, 6)
    async with consuming(bootstrap, topic, group_id=group) as consumer:
        assert [record.offset for record in await take(consumer, 4)] == [6, 7, 8, 9]
        await consumer.commit()
        assert await consumer.committed(place) == 10


async def test_reading_a_deleted_offset_is_out_of_range(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("range"))
    await send_all(bootstrap, topic, [b"%d" % n for n in range(10)])
    await delete_before(bootstrap, topic, 6)
    async with consuming(bootstrap, auto_offset_reset="none") as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), 5)
        with pytest.raises(OffsetOutOfRangeError):
            await take(consumer, 1)


async def test_a_timestamp_before_the_new_start_finds_the_new_start(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("since"))
    place = TopicPartition(topic, 0)
    async with producing(bootstrap) as producer:
        for n in range(6):
            await producer.send_and_wait(topic, b"x", timestamp_ms=1_700_000_000_000 + n, partition=0)
    await delete_before(bootstrap, topic, 3)
    async with consuming(bootstrap) as consumer:
        found = (await consumer.offsets_for_times({place: 1_700_000_000_001}))[place]
    assert found is not None
    assert (found.offset, found.timestamp) == (3, 1_700_000_000_003)


async def test_an_idempotent_producer_continues_after_its_records_were_deleted(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("idempotent"))
    async with producing(bootstrap, enable_idempotence=True, linger_ms=20) as producer:
        for sent in [await producer.send(topic, b"%d" % n, partition=0) for n in range(6)]:
            await sent
        await delete_before(bootstrap, topic, 3)
        assert (await producer.send_and_wait(topic, b"6", partition=0)).offset == 6
    assert await values(bootstrap, topic, 4) == [(n, b"%d" % n) for n in range(3, 7)]
