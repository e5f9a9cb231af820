# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Detects a consumer without progress: a partition with new records whose offset does not advance."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from shared.loops import LONGEST_WORK_S
from shared.metrics.delivery import PARTITIONS_STALLED
from shared.telemetry import logger

LOOK_S = 2.0
"""The time within which an available broker returns end offsets."""
LOOKS = 6
"""The number of checks within the stall time."""


class Progress:
    """For each partition of a consumer with unread records, the time since which its offset has not advanced."""

    def __init__(self, service: str, topic: str, stall_s: float, clock: Callable[[], float]) -> None:
        self._service = service
        self._topic = topic
        self._stall_s = stall_s
        self._clock = clock
        self._open: dict[TopicPartition, int] = {}
        self._failed = False
        self._stood: dict[TopicPartition, tuple[int, float]] = {}
        self._stalled: set[TopicPartition] = set()
        PARTITIONS_STALLED.labels(service, topic).set(0)

    @property
    def stalled(self) -> frozenset[TopicPartition]:
        """The partitions that were stalled at the last check."""
        return frozenset(self._stalled)

    def take(self, records: Iterable[Any]) -> None:
        """Starts the handling of these records."""
        for record in records:
            place = TopicPartition(record.topic, record.partition)
            self._open[place] = min(self._open.get(place, record.offset), record.offset)

    def finish(self) -> None:
        """The records were handled."""
        self._open.clear()
        self._failed = False

    def fail(self) -> None:
        """The records failed and will be redelivered."""
        self._failed = True

    async def watch(self, consumer: Callable[[], AIOKafkaConsumer | None]) -> None:
        """Checks until cancelled, several times within the stall time."""
        while True:
            await asyncio.sleep(self._stall_s / LOOKS)
            await self._look(consumer())

    async def _look(self, consumer: AIOKafkaConsumer | None) -> None:
        places = sorted(consumer.assignment()) if consumer else []
        if not consumer or not places:
            return
        try:
            async with asyncio.timeout(LOOK_S):
                ends = await consumer.end_offsets(places)
                reached = {place: await consumer.position(place) for place in places}
        except (KafkaError, TimeoutError):
            return  # the broker is unavailable, or a rebalance is in progress: others report that
        self.note(reached, ends)

    def note(self, reached: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> None:
        """Updates the stalled partitions, given positions and end offsets."""
        now = self._clock()
        limit = LONGEST_WORK_S if self._open and not self._failed else self._stall_s
        self._open = {place: offset for place, offset in self._open.items() if place in reached}
        stood: dict[TopicPartition, tuple[int, float]] = {}
        for place, position in reached.items():
            at = min(position, self._open.get(place, position))
            before, since = self._stood.get(place, (-1, now))
            stood[place] = (at, since if before == at < ends[place] else now)
        self._stood = stood
        self._tell({place for place, (_, since) in stood.items() if now - since > limit}, ends)

    def _tell(self, stalled: set[TopicPartition], ends: Mapping[TopicPartition, int]) -> None:
        for place in stalled - self._stalled:
            logger().error("partition_stalled", **self.name_place(place), offset=self._stood[place][0], end=ends[place])
        for place in self._stalled - stalled:
            logger().info("partition_moves", **self.name_place(place))
        self._stalled = stalled
        PARTITIONS_STALLED.labels(self._service, self._topic).set(len(stalled))

    def name_place(self, place: TopicPartition) -> dict[str, Any]:
        return {"service": self._service, "topic": place.topic, "partition": place.partition}
