"""Retention bounds the embedded broker's disk, and offsets stay valid when the front of a log is deleted."""

import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from shared.embedded.broker import Broker, BrokerSettings
from tests.acceptance.broker.clients import consuming, create, eventually, send_all, take
from tests.acceptance.broker.wire import batch, produce

HOUR = 3_600_000
KILOBYTE = 1024


@pytest.fixture
async def broker(embedded: object, tmp_path: Path) -> AsyncGenerator[Broker]:
    """A broker in this process that checks for expired segments continuously; skipped like `embedded`."""
    broker = Broker(BrokerSettings(tmp_path / "own", retention_check_seconds=0.05, segment_bytes=8 * KILOBYTE))
    await broker.start()
    yield broker
    await broker.stop()


def disk(folder: Path) -> int:
    """The size of every segment file below the folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.log"))


async def test_a_topic_stays_within_its_retention_bytes(broker: Broker, tmp_path: Path) -> None:
    limit = 64 * KILOBYTE
    topic = await create(broker.bootstrap, "sized", retention_bytes=str(limit))
    await send_all(broker.bootstrap, topic, [b"%06d" % i + b"x" * 1000 for i in range(500)])
    await eventually(lambda: disk(tmp_path / "own") <= limit + 8 * KILOBYTE, "the oldest segments to go")
    async with consuming(broker.bootstrap) as consumer:
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        begin = (await consumer.beginning_offsets([place]))[place]
        assert (await consumer.end_offsets([place]))[place] == 500
        assert 500 - 72 <= begin <= 500 - 50
        records = await take(consumer, 500 - begin)
    assert [int((record.value or b"")[:6]) for record in records] == list(range(begin, 500))


async def test_no_message_outlives_the_retention_time(broker: Broker, tmp_path: Path) -> None:
    topic = await create(broker.bootstrap, "timed", retention_ms=str(HOUR))
    old = int(time.time() * 1000) - 2 * HOUR
    for _ in range(5):
        await produce(broker.bootstrap, topic, batch([b"old"], timestamp=old))
    await eventually(lambda: disk(tmp_path / "own") == 0, "expired messages to go")
    assert await produce(broker.bootstrap, topic, batch([b"new"], timestamp=old + 2 * HOUR)) == (0, 5)
    async with consuming(broker.bootstrap, topic) as consumer:
        assert [(record.offset, record.value) for record in await take(consumer, 1)] == [(5, b"new")]


async def test_offsets_are_never_reused_even_if_everything_expired(broker: Broker, tmp_path: Path) -> None:
    topic = await create(broker.bootstrap, "expired", retention_ms=str(HOUR))
    old = int(time.time() * 1000) - 2 * HOUR
    for _ in range(3):
        await produce(broker.bootstrap, topic, batch([b"old"], timestamp=old))
    await eventually(lambda: disk(tmp_path / "own") == 0, "expired messages to go")
    await broker.stop()
    await broker.start()
    assert await produce(broker.bootstrap, topic, batch([b"new"], timestamp=old + 2 * HOUR)) == (0, 3)


async def test_messages_are_found_across_many_segments(broker: Broker, tmp_path: Path) -> None:
    topic = await create(broker.bootstrap, "segments")
    await send_all(broker.bootstrap, topic, [b"%06d" % i + b"x" * 300 for i in range(400)], max_batch_size=2000)
    assert len(list((tmp_path / "own").rglob("*.log"))) > 10
    await broker.stop()
    await broker.start()
    async with consuming(broker.bootstrap) as consumer:
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        for offset in (0, 1, 57, 199, 398):
            consumer.seek(place, offset)
            assert [int((r.value or b"")[:6]) for r in await take(consumer, 2)] == [offset, offset + 1]
