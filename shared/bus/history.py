"""Reads a topic from its first record to its last, once, without a consumer group."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import cast

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.topics import Topic
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Record
from shared.bus.fetching import READ_ON
from shared.errors import TransientError

WAIT_MS = 1_000
SILENCE = 30
"""The number of empty polls before the end of the topic after which the broker counts as unavailable."""


async def answers(kafka: KafkaAccess) -> bool:
    """Whether a broker is configured and responds."""
    consumer = AIOKafkaConsumer(**kafka.make_arguments(), enable_auto_commit=False)
    try:
        await consumer.start()
        return bool(await consumer.topics())
    except KafkaError:
        return False
    finally:
        await consumer.stop()


@dataclass
class History:
    """Whether the topic exists, and how many records it has ever had, expired ones included."""

    there: bool = False
    written: int = 0


async def read(kafka: KafkaAccess, topic: Topic, history: History) -> AsyncGenerator[Record, None]:
    """Every current record of the topic; `history` receives its state. TransientError: the broker is unavailable."""
    consumer = AIOKafkaConsumer(
        **kafka.make_arguments(), enable_auto_commit=False, auto_offset_reset="earliest", **READ_ON
    )
    try:
        await consumer.start()
        if topic.name not in await consumer.topics():
            return
        # a subscription without a group has every partition
        consumer.subscribe([topic.name])
        while not consumer.assignment():  # noqa: ASYNC110 # aiokafka offers no event
            await asyncio.sleep(0.01)
        partitions = sorted(consumer.assignment())
        ends = cast("dict[TopicPartition, int]", await consumer.end_offsets(partitions))
        starts = cast("dict[TopicPartition, int]", await consumer.beginning_offsets(partitions))
        history.there, history.written = True, sum(ends.values())
        left = {each for each in partitions if starts[each] < ends[each]}
        for each in partitions:
            consumer.seek(each, starts[each])
        silent = 0
        while left:
            batch = await consumer.getmany(*left, timeout_ms=WAIT_MS)
            silent = 0 if batch else silent + 1
            if silent > SILENCE:
                raise TransientError(f"{topic.name}: the broker returns no more records")
            for records in batch.values():
                for record in records:
                    yield cast("Record", record)
            left = {each for each in left if await consumer.position(each) < ends[each]}
    except KafkaError as error:
        raise TransientError(f"{topic.name}: {type(error).__name__}") from error
    finally:
        await consumer.stop()
