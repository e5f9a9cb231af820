"""Kafka clients for the tests, with short timeouts; each is closed at the end of its test."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.system.wait import PATIENCE_S

DEADLINE = PATIENCE_S


def unique(what: str) -> str:
    """A unique name for a topic or group."""
    return f"test.{what}.{uuid.uuid4().hex[:12]}"


@asynccontextmanager
async def producing(bootstrap: str, **options: Any) -> AsyncGenerator[AIOKafkaProducer]:
    """A started producer."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, **options)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@asynccontextmanager
async def consuming(bootstrap: str, *topics: str, **options: Any) -> AsyncGenerator[AIOKafkaConsumer]:
    """A started consumer that reads from the beginning and does not commit automatically unless asked to."""
    consumer = AIOKafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        **{
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "metadata_max_age_ms": 1000,
            "retry_backoff_ms": 10,
            **options,
        },
    )
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def administering(bootstrap: str) -> AsyncGenerator[AIOKafkaAdminClient]:
    """A started admin client."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def create(bootstrap: str, topic: str, partitions: int = 1, **configs: str) -> str:
    """The name of a topic that exists and accepts writes. Underscores in option names stand for dots."""
    given = {key.replace("_", "."): value for key, value in configs.items()}
    async with administering(bootstrap) as admin:
        response = await admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=given)])
        assert [error for _, error, *_ in response.topic_errors] == [0], response
    async with producing(bootstrap) as producer:
        await eventually(lambda: _has_leaders(producer, topic, partitions), "the topic to have leaders")
    return topic


async def _has_leaders(producer: AIOKafkaProducer, topic: str, partitions: int) -> bool:
    return len(await producer.partitions_for(topic)) == partitions


async def send_all(bootstrap: str, topic: str, values: list[bytes], partition: int = 0, **options: Any) -> None:
    """All values are acknowledged, in order, in one partition."""
    async with producing(bootstrap, **options) as producer:
        acks = [await producer.send(topic, value, partition=partition) for value in values]
        await asyncio.gather(*acks)


async def take(consumer: AIOKafkaConsumer, count: int, seconds: float = DEADLINE) -> list[ConsumerRecord]:
    """The next `count` records. Fails after `seconds` and shows the records received so far."""
    records: list[ConsumerRecord] = []
    deadline = time.monotonic() + seconds
    while len(records) < count:
        left = deadline - time.monotonic()
        assert left > 0, f"{len(records)} of {count} records came within {seconds} s"
        batches = await consumer.getmany(timeout_ms=int(min(left, 0.5) * 1000) + 1, max_records=count - len(records))
        records += [record for batch in batches.values() for record in batch]
    return records


async def eventually(condition: Callable[[], Awaitable[bool] | bool], what: str, seconds: float = DEADLINE) -> None:
    """Waits until the condition holds. Fails after `seconds` and names `what`."""
    deadline = time.monotonic() + seconds
    while True:
        held = condition()
        if held if isinstance(held, bool) else await held:
            return
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        await asyncio.sleep(0.02)
