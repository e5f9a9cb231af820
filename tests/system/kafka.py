"""Reads and writes records of topics with a plain client."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.envelope import Envelope
from schemas.topics import (
    ANALYSIS_AHEAD,
    ANALYSIS_PROPOSED,
    ERASURE_REQUESTED,
    FEEDBACK_RECORDED,
    OBSERVATION_AHEAD,
    OBSERVATION_RECORDED,
    OBSERVATION_URGENT,
    TURN_AHEAD,
    TURN_COMMIT,
    TURN_COMMITTED,
    TURN_EXTRACT,
)
from shared.bus.fetching import READ_ON
from tests.system.wait import wait_for

QUICK: Mapping[str, Any] = {"fetch_max_wait_ms": 20, "retry_backoff_ms": 10}
Headers = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Stored:
    """A record of a topic, with the fields that the product's code needs."""

    topic: str
    partition: int = 0
    offset: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = field(default_factory=tuple)
    timestamp: int = 0

    @property
    def envelope(self) -> Envelope:
        """The event in it."""
        return Envelope.model_validate_json(self.value or b"")


async def read(bootstrap: str, *topics: str) -> list[Stored]:
    """Every record of these topics up to their current ends, by partition in order; unreadable batches as bytes."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, auto_offset_reset="earliest", **QUICK, **READ_ON
    )
    await consumer.start()
    try:
        places: list[TopicPartition] = []
        for topic in topics:
            numbers = await consumer._client._wait_on_metadata(topic)  # no public method before assignment
            places += [TopicPartition(topic, number) for number in sorted(numbers)]
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        found: list[Stored] = []
        async with asyncio.timeout(60):
            while any([await consumer.position(place) < ends[place] for place in places]):
                for records in (await consumer.getmany(timeout_ms=50)).values():
                    found += [
                        Stored(r.topic, r.partition, r.offset, r.key, r.value, tuple(r.headers), r.timestamp)
                        for r in records
                    ]
        return found
    finally:
        await consumer.stop()


async def of_tenant(bootstrap: str, tenant: str, *topics: str) -> list[Stored]:
    """The records of these topics that concern this tenant."""
    mark = f'"{tenant}"'.encode()
    return [r for r in await read(bootstrap, *topics) if mark in (r.value or b"").replace(b'": "', b'":"')]


async def publish(bootstrap: str, records: Iterable[Stored], *, dated: bool = False) -> None:
    """Writes the records to their topics again, in this order; `dated` with their timestamps, else
    with the current time.
    """
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, acks="all")
    await producer.start()
    try:
        sent = [
            await producer.send(
                r.topic, r.value, key=r.key, headers=list(r.headers), timestamp_ms=r.timestamp if dated else None
            )
            for r in records
        ]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


GROUPS = {
    topic.name: topic.consumers[0].group
    for topic in (
        TURN_COMMIT,
        TURN_COMMITTED,
        TURN_AHEAD,
        TURN_EXTRACT,
        OBSERVATION_RECORDED,
        OBSERVATION_AHEAD,
        OBSERVATION_URGENT,
        ANALYSIS_PROPOSED,
        ANALYSIS_AHEAD,
        FEEDBACK_RECORDED,
        ERASURE_REQUESTED,
    )
}
"""The topics that workers consume, with their groups."""


async def behind(bootstrap: str, topics: Iterable[str] = GROUPS) -> dict[str, int]:
    """The number of unacknowledged records of each topic that has any."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False, **QUICK)
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await consumer.start()
    await admin.start()
    try:
        lags: dict[str, int] = {}
        for topic in topics:
            places = [TopicPartition(topic, n) for n in await consumer._client._wait_on_metadata(topic)]
            known = await admin.list_consumer_group_offsets(GROUPS[topic], partitions=places)
            committed = {place: each.offset for place, each in known.items() if each.offset >= 0}
            ends, starts = await consumer.end_offsets(places), await consumer.beginning_offsets(places)
            lags[topic] = sum(ends[place] - committed.get(place, starts[place]) for place in places)
        return {topic: lag for topic, lag in lags.items() if lag > 0}
    finally:
        await admin.close()
        await consumer.stop()


async def caught_up(bootstrap: str) -> None:
    """Waits until the workers have acknowledged every record of all their topics."""

    async def all_read() -> bool:
        return not await behind(bootstrap)

    await wait_for(all_read, "the workers have read everything")
