"""After a crash the embedded broker has everything that it acknowledged, and clients continue."""

import asyncio
import contextlib
import shutil
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from shared.embedded.broker_process import BrokerError, EmbeddedBroker
from tests.acceptance.broker.clients import consuming, create, eventually, producing, send_all, take, unique
from tests.acceptance.broker.wire import batch, produce


def segments(broker: EmbeddedBroker, topic: str, partition: int = 0) -> list[Path]:
    """The partition's files, oldest first."""
    return sorted((broker.data / "topics" / topic / str(partition)).glob("*.log"))


async def test_every_acknowledged_message_and_commit_survives_kill_9(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "survivors", 2)
    acked: set[bytes] = set()

    async def send(number: int) -> None:
        value = b"%d" % number
        await producer.send_and_wait(topic, value, partition=number % 2)
        acked.add(value)

    async with producing(embedded.bootstrap, linger_ms=1, enable_idempotence=True) as producer:
        async with consuming(embedded.bootstrap, topic, group_id="survivors") as consumer:
            await asyncio.gather(*(send(number) for number in range(500)))
            await take(consumer, 500)
            await consumer.commit()
            committed = {place: await consumer.committed(place) for place in consumer.assignment()}
        in_flight = [asyncio.create_task(send(number)) for number in range(500, 3000)]
        await eventually(lambda: len(acked) > 800, "some messages in flight")
        embedded.kill()
        embedded.start()
        await asyncio.gather(*in_flight)
    async with consuming(embedded.bootstrap, topic) as consumer:
        records = await take(consumer, 3000)
        ends = await consumer.end_offsets([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    assert sorted(int(record.value or b"") for record in records) == list(range(3000))
    assert sum(ends.values()) == 3000, "an idempotent producer wrote something twice"
    async with consuming(embedded.bootstrap, topic, group_id="survivors") as consumer:
        assert {place: await consumer.committed(place) for place in committed} == committed


async def test_a_repeated_batch_is_recognised_after_kill_9(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "repeated")
    data = batch([b"a", b"b"], 77, 0, 0)
    assert await produce(embedded.bootstrap, topic, data) == (0, 0)
    embedded.kill()
    embedded.start()
    assert await produce(embedded.bootstrap, topic, data) == (0, 0)
    assert await produce(embedded.bootstrap, topic, batch([b"c"], 77, 0, 2)) == (0, 2)


@pytest.mark.parametrize("damage", ["torn", "garbage", "flipped"])
async def test_the_log_is_truncated_at_the_first_corrupt_batch(embedded: EmbeddedBroker, damage: str) -> None:
    topic = await create(embedded.bootstrap, "damaged")
    for number in range(10):
        assert await produce(embedded.bootstrap, topic, batch([b"%d" % number])) == (0, number)
    embedded.kill()
    (segment,) = segments(embedded, topic)
    content = segment.read_bytes()
    length = len(content) // 10
    if damage == "torn":
        segment.write_bytes(content[:-5])
    elif damage == "garbage":
        segment.write_bytes(content[: 9 * length] + b"\0" * 100)
    else:
        segment.write_bytes(content[: 10 * length - 2] + b"\xff" + content[10 * length - 1 :])
    embedded.start()
    assert segment.stat().st_size == 9 * length
    assert await produce(embedded.bootstrap, topic, batch([b"new"])) == (0, 9)
    async with consuming(embedded.bootstrap, topic) as consumer:
        assert [record.value for record in await take(consumer, 10)] == [b"%d" % i for i in range(9)] + [b"new"]


async def test_a_torn_line_in_the_offsets_journal_loses_only_that_line(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "journal")
    place = TopicPartition(topic, 0)
    await send_all(embedded.bootstrap, topic, [b"x"] * 10)
    for offset in (3, 4):
        async with consuming(embedded.bootstrap, group_id="journal") as consumer:
            consumer.assign([place])
            await consumer.commit({place: offset})
    embedded.kill()
    journal = embedded.data / "offsets.jsonl"
    journal.write_bytes(journal.read_bytes()[:-3])
    embedded.start()
    async with consuming(embedded.bootstrap, group_id="journal") as consumer:
        consumer.assign([place])
        assert await consumer.committed(place) == 3
        await consumer.commit({place: 9})
        embedded.kill()
        embedded.start()
        assert await consumer.committed(place) == 9


async def test_group_members_continue_after_the_broker_was_killed(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "members", 2)
    await send_all(embedded.bootstrap, topic, [b"%d" % i for i in range(10)])
    async with consuming(embedded.bootstrap, topic, group_id="members", heartbeat_interval_ms=300) as consumer:
        await take(consumer, 10)
        await consumer.commit()
        embedded.kill()
        embedded.start()
        await send_all(embedded.bootstrap, topic, [b"after"])
        assert [record.value for record in await take(consumer, 1)] == [b"after"]
        await eventually(lambda: _commits(consumer), "a commit in the new generation")


async def _commits(consumer: object) -> bool:
    with contextlib.suppress(KafkaError):
        await consumer.commit()  # type: ignore[attr-defined]
        return True
    return False


async def test_a_member_that_lost_its_id_does_not_delay_the_others(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "forgotten", 2)
    options = {"group_id": "forgotten", "heartbeat_interval_ms": 100, "session_timeout_ms": 30_000}
    async with (
        consuming(embedded.bootstrap, topic, **options) as one,
        consuming(embedded.bootstrap, topic, **options) as two,
    ):
        await eventually(lambda: [len(member.assignment()) for member in (one, two)] == [1, 1], "equal shares")
        before = one._coordinator.generation
        two._coordinator.reset_generation()  # as aiokafka does when a commit coincides with a rebalance
        await eventually(lambda: one._coordinator.generation > before, "the next generation", 5)
        await eventually(lambda: [len(member.assignment()) for member in (one, two)] == [1, 1], "equal shares", 5)


async def test_clients_continue_after_the_data_was_deleted(embedded: EmbeddedBroker) -> None:
    topic = unique("wiped")
    async with (
        producing(embedded.bootstrap, enable_idempotence=True, metadata_max_age_ms=500) as producer,
        consuming(embedded.bootstrap, topic, group_id="wiped", heartbeat_interval_ms=300) as consumer,
    ):
        for number in range(20):
            await producer.send_and_wait(topic, b"old %d" % number)
        await take(consumer, 20)
        await consumer.commit()
        embedded.stop()
        shutil.rmtree(embedded.data)
        embedded.start()
        for number in range(3):
            await producer.send_and_wait(topic, b"new %d" % number)
        assert [record.value for record in await take(consumer, 3)] == [b"new 0", b"new 1", b"new 2"]


async def test_a_second_broker_on_the_same_folder_is_refused(embedded: EmbeddedBroker) -> None:
    second = EmbeddedBroker(embedded.data)
    with pytest.raises(BrokerError, match=f"process {embedded.pid}"):
        second.start()


async def test_a_stopped_broker_leaves_a_consistent_folder(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "whole")
    await send_all(embedded.bootstrap, topic, [b"%d" % i for i in range(100)])
    embedded.stop()
    embedded.start()
    async with consuming(embedded.bootstrap, topic) as consumer:
        assert len(await take(consumer, 100)) == 100
    assert "log_cut" not in embedded.log.read_text()
