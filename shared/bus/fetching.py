# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingSuperCall=false
"""How a consumer fetches: behind unreadable data, in batches of a fitting size, and whether it progresses.

One record represents an unreadable batch, or the rest of one, with its bytes and the error. Otherwise aiokafka raises
forever at the same position, and drops records of other partitions from the same call. It has no hook for this, so its
batch class is replaced here; a consumer without READ_ON keeps aiokafka's behaviour.
"""

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.consumer import fetcher
from aiokafka.errors import KafkaError
from aiokafka.record.memory_records import MemoryRecords

from shared.batches import UnreadableBatchError, header_of, next_after, open_batch, split_batches
from shared.metrics.delivery import PARTITIONS_STALLED
from shared.telemetry import LONGEST_WORK_S, logger

POLL_MS = 1_000
BEHIND_MS = 100
TARGET_S = 0.5
"""The target duration of a batch: records fetched later wait for its end."""
SLOW_S = 0.05
"""Slower records are not ordinary ones. Ordinary ones are fetched by the hundred: in batches of half a second, those of
500 users cost a third more CPU.
"""


@dataclass
class BatchPace:
    """A fetch size of `most` for fast records and fewer, down to `least`, for slow ones.

    It grows at most twofold per batch, because the fast records may have been a single user's.
    """

    most: int
    least: int
    records: int = 0
    served: frozenset[Any] = frozenset()
    """The partitions of the last batch."""

    def __post_init__(self) -> None:
        self.least = min(self.least, self.most)
        self.records = self.least

    def note(self, handled: int, took_s: float) -> None:
        """Records the duration of this many records."""
        slow = took_s > SLOW_S * handled
        fitting = int(handled * TARGET_S / took_s) if slow else self.most
        self.records = max(self.least, min(self.most, fitting, 2 * self.records))


async def fetch_records(consumer: AIOKafkaConsumer, pace: BatchPace, moved: Callable[[], None]) -> tuple[Any, ...]:
    """Records as soon as any have arrived; FastStream's own loop sleeps after every empty poll.

    Partitions not served the last time come first, so that one full partition does not delay the others.
    """
    moved()
    try:
        records_of: dict[TopicPartition, list[Any]] = {}
        for partition in sorted(consumer.assignment() - pace.served):
            if room := pace.records - sum(map(len, records_of.values())):
                records_of |= await consumer.getmany(partition, timeout_ms=0, max_records=room)
        if not records_of:
            records_of = await consumer.getmany(timeout_ms=POLL_MS, max_records=pace.records)
    except KafkaError as error:
        # FastStream pauses and continues without a report
        logger().warning("events_not_heard", error=type(error).__name__)
        raise
    pace.served = frozenset(records_of)
    return tuple(chain(*records_of.values()))


async def fetch_all_records(consumer: AIOKafkaConsumer, pace: BatchPace, moved: Callable[[], None]) -> tuple[Any, ...]:
    """The arrived records and those directly behind them: the client buffers only part of what the broker has."""
    records = list(await fetch_records(consumer, pace, moved))
    while records and (room := pace.records - len(records)) > 0:
        more = await consumer.getmany(timeout_ms=BEHIND_MS, max_records=room)
        if not more:
            break
        records += chain(*more.values())
    return tuple(records)


def list_assigned(subscriber: Any) -> list[TopicPartition]:
    consumer: AIOKafkaConsumer | None = subscriber.consumer
    return list(consumer.assignment()) if consumer else []  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType] # untyped


_Own = fetcher.PartitionRecords
_OwnMemory = MemoryRecords


def pass_through(value: bytes | None) -> bytes | None:
    """The value; a consumer with this deserializer continues behind unreadable batches."""
    return value


READ_ON: Mapping[str, Any] = {"value_deserializer": pass_through}
"""Options of a consumer that receives an UnreadableRecord instead of an exception."""


@dataclass
class UnreadableRecord(ConsumerRecord[bytes, bytes]):
    """Represents the unread part of a batch from `offset` on; `value` is the whole stored batch."""

    reason: str = ""
    next_offset: int = 0


class _Batches(_OwnMemory):
    """aiokafka's batches with access to their bytes."""

    def __init__(self, batches: bytes) -> None:
        super().__init__(batches)  # pyright: ignore[reportAbstractUsage] # its stub is a protocol
        self.batches = batches


class _Records(_Own):
    """The records of one partition; never raises because of their content."""

    def _unpack_records(self) -> Generator[ConsumerRecord[bytes, bytes], None, None]:
        for batch in split_batches(self._records.batches):
            try:
                yield from self._of_batch(_OwnMemory(open_batch(batch)).next_batch())
            except Exception as error:  # noqa: BLE001 # any content of a sender
                unreadable = self._stand_in(batch, error)
                self.next_fetch_offset = unreadable.next_offset
                yield unreadable

    def _of_batch(self, batch: Any) -> Iterator[ConsumerRecord[bytes, bytes]]:
        """The unread records; an offset outside the batch would misplace the reader, a repeated one
        would hide a record.
        """
        before = -1
        for record in () if batch.is_control_batch else batch:
            if not before < record.offset < batch.next_offset:
                raise UnreadableBatchError("the offsets of its records are not ascending")
            before = record.offset
            if record.offset >= self.next_fetch_offset:
                self.next_fetch_offset = record.offset + 1
                yield self._consumer_record(self._tp, record)
        self.next_fetch_offset = max(self.next_fetch_offset, batch.next_offset)

    def _stand_in(self, batch: bytes, error: Exception) -> UnreadableRecord:
        header, after = header_of(batch), next_after(batch, self.next_fetch_offset)
        why = (
            str(error)
            if isinstance(error, UnreadableBatchError)
            else f"its records do not fit ({type(error).__name__})"
        )
        return UnreadableRecord(
            topic=self._tp.topic,
            partition=self._tp.partition,
            offset=min(self.next_fetch_offset, after - 1),
            timestamp=header.max_timestamp if header else -1,
            timestamp_type=0,
            key=None,
            value=batch,
            checksum=None,
            serialized_key_size=-1,
            serialized_value_size=len(batch),
            headers=(),
            reason=f"batch cannot be read: {why}",
            next_offset=after,
        )


def _records_of(
    tp: Any, records: Any, aborted: Any, offset: int, key: Any, value: Any, *more: Any
) -> "fetcher.PartitionRecords":
    kind = _Records if value is pass_through else _Own
    return kind(tp, records, aborted, offset, key, value, *more)


fetcher.MemoryRecords = _Batches
fetcher.PartitionRecords = _records_of


# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false


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
