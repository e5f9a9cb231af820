"""Administration of records: reads topics without a group, deletes up to an offset, copies to the end."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IncompatibleBrokerVersion,
    KafkaError,
    MessageSizeTooLargeError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnsupportedVersionError,
)

from schemas.topics import DEAD_LETTER_BYTES, SWEEP_MS
from shared.bus.access import KafkaAccess
from shared.bus.fetching import READ_ON
from shared.bus.record_owner import COPIED
from shared.bus.shutdown import disconnect
from shared.errors import TransientError

WAIT_S = 30.0
"""A broker that does not respond for this long is unavailable."""
FETCH_MS = 20
"""The fetch wait: waiting for more records in one partition would delay the others."""
POLL_MS = 1_000
AT_ONCE = 500
EMBEDDED = "smartbrain-embedded"
"""The embedded broker's cluster id: data that it deletes leaves the disk at once."""
FOREVER = datetime.max.replace(tzinfo=UTC)
DEFAULT_SEGMENT_MS = 7 * 24 * 3_600_000

NEVER = (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IncompatibleBrokerVersion,
    MessageSizeTooLargeError,
    NotImplementedError,  # aiokafka and the broker have no common version
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnsupportedVersionError,
)
"""Error codes of permanent refusals."""

Span = tuple[int, int]
"""The first offset, and the one after the last."""
Found = ConsumerRecord[bytes, bytes]


class UnwillingError(Exception):
    """The broker permanently refuses this; the message gives the reason."""


@dataclass(frozen=True)
class RetentionConfig:
    """The retention of a topic; `retention_ms` None means forever."""

    retention_ms: int | None
    segment_ms: int

    def is_expired(self, written_ms: int, now_ms: int) -> bool:
        """Whether a record of that time has expired."""
        return self.retention_ms is not None and written_ms + self.retention_ms < now_ms

    def find_removal_time(self, written_ms: int) -> datetime:
        """The time at which a record of that time has left every disk, whatever is written beside it."""
        if self.retention_ms is None:
            return FOREVER
        try:
            return datetime.fromtimestamp(0, UTC) + timedelta(
                milliseconds=written_ms + self.retention_ms + self.segment_ms + SWEEP_MS
            )
        except OverflowError:
            return FOREVER


@asynccontextmanager
async def open_topic_admin(kafka: KafkaAccess) -> AsyncGenerator["TopicAdmin"]:
    """The topics of a broker; TransientError if it is unavailable, now or later."""
    arguments = kafka.make_arguments()
    admin = AIOKafkaAdminClient(**arguments)
    consumer = AIOKafkaConsumer(
        **arguments,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=FETCH_MS,
        retry_backoff_ms=FETCH_MS,  # the first query of each topic fails without metadata
        **READ_ON,
    )
    opened = TopicAdmin(arguments, admin, consumer)
    try:
        await admin.start()
        await consumer.start()
        await opened.look()
        yield opened
    except (KafkaError, TimeoutError) as error:
        raise TransientError(f"kafka: {type(error).__name__}: {error}") from error
    finally:
        await opened.close()


class TopicAdmin:
    """The topics of one broker; nothing here creates one."""

    def __init__(self, arguments: Mapping[str, Any], admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer) -> None:
        self._arguments = arguments
        self._admin = admin
        self._consumer = consumer
        self._producer: AIOKafkaProducer | None = None
        self._partitions: dict[str, list[int]] = {}
        self.keeps_bytes = True

    async def look(self) -> None:
        """The existing topics, and whether deleted bytes stay on disk, as they do on Apache Kafka."""
        self.keeps_bytes = (await self._admin.describe_cluster()).get("cluster_id") != EMBEDDED
        self._partitions = {
            str(topic["topic"]): sorted(int(each["partition"]) for each in topic["partitions"])
            for topic in await self._admin.describe_topics()
        }

    async def close(self) -> None:
        """Disconnects."""
        await disconnect(self._producer, self._consumer)
        with suppress(KafkaError):
            await self._admin.close()

    async def spans(self, topics: Iterable[str]) -> dict[TopicPartition, Span]:
        """The readable offsets of the existing ones of these topics, by partition; a span may be empty."""
        places = [TopicPartition(topic, number) for topic in topics for number in self._partitions.get(topic, [])]
        if not places:
            return {}
        self._consumer.assign(places)  # queried singly, each waits for the metadata of its topic
        self._consumer.pause(*places)
        starts = await self._consumer.beginning_offsets(places)
        ends = await self._consumer.end_offsets(places)
        return {place: (starts[place], ends[place]) for place in places}

    async def since(self, spans: Mapping[TopicPartition, Span], moment_ms: int) -> dict[TopicPartition, int]:
        """By partition the first offset of that time or later, or the end."""
        if not spans:
            return {}
        found = await self._consumer.offsets_for_times(dict.fromkeys(spans, max(moment_ms, 0)))
        return {place: min(at.offset, end) if (at := found.get(place)) else end for place, (_, end) in spans.items()}

    async def load_committed(self, group: str) -> dict[TopicPartition, int]:
        """The group's offsets; UnwillingError without the right to read them."""
        try:
            offsets = await self._admin.list_consumer_group_offsets(group)
        except NEVER as error:
            raise UnwillingError(f"{group}: {type(error).__name__}") from error
        return {place: told.offset for place, told in offsets.items()}

    async def read(self, spans: Mapping[TopicPartition, Span]) -> AsyncIterator[Sequence[Found]]:
        """Every record of these spans in partition order, in chunks."""
        ends = {place: end for place, (start, end) in spans.items() if start < end}
        if not ends:
            return
        self._consumer.assign(list(ends))
        for place in ends:
            self._consumer.seek(place, spans[place][0])
        last = asyncio.get_running_loop().time()
        while ends:
            batches = await self._consumer.getmany(*ends, timeout_ms=POLL_MS, max_records=AT_ONCE)
            for place, records in batches.items():
                yield [record for record in records if record.offset < ends[place]]
            for place in list(ends):
                async with asyncio.timeout(WAIT_S):
                    if await self._consumer.position(place) >= ends[place]:
                        del ends[place]
                        self._consumer.pause(place)
            if batches:
                last = asyncio.get_running_loop().time()
            elif asyncio.get_running_loop().time() - last > WAIT_S:
                raise TransientError("kafka: no records below the end offset")

    async def drop(self, place: TopicPartition, offset: int) -> None:
        """Deletes the records before the offset; UnwillingError if the broker refuses."""
        try:
            await self._admin.delete_records({place: RecordsToDelete(offset)})
        except NEVER as error:
            raise UnwillingError(f"{place.topic}/{place.partition}: {type(error).__name__}") from error

    async def copy(self, place: TopicPartition, span: Span, keep: Callable[[Found], bool], now_ms: int) -> int:
        """Copies the records to keep from the span to the end of the partition; their number.

        They keep key, value, headers and timestamp, and get a header with the time of the copy. UnwillingError: not all
        were copied.
        """
        copied = 0
        async for records in self.read({place: span}):
            copied_records = [record for record in records if keep(record)]
            try:
                await self._send_all(copied_records, (COPIED, str(now_ms).encode()))
            except NEVER as error:
                raise UnwillingError(f"{place.topic}/{place.partition}: {type(error).__name__}") from error
            copied += len(copied_records)
        return copied

    async def _send_all(self, records: Sequence[Found], mark: tuple[str, bytes]) -> None:
        producer = self._producer
        if producer is None:
            # not idempotent: after a refusal it could send nothing else
            producer = self._producer = AIOKafkaProducer(
                **self._arguments, acks="all", max_request_size=2 * DEAD_LETTER_BYTES
            )
            await producer.start()
        sent = [(record, await _send(producer, record, [*drop_marks(record), mark])) for record in records]
        for record, acknowledged in sent:
            try:
                await acknowledged
            except MessageSizeTooLargeError:  # it had the maximum size: the additional header is too much
                await (await _send(producer, record, drop_marks(record)))

    async def load_retention(self, topics: Mapping[str, RetentionConfig]) -> dict[str, RetentionConfig]:
        """The retention of each topic: from its configuration, or the given one without the right to read it."""
        asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics if name in self._partitions]
        declared: dict[str, RetentionConfig] = {}
        for reply in await self._admin.describe_configs(asked) if asked else ():
            for error, _, _, name, entries in reply.resources:  # pyright: ignore[reportAttributeAccessIssue] # untyped
                if not error:
                    declared[name] = to_retention({key: value for key, value, *_ in entries})
        return {**topics, **declared}


def to_retention(configs: Mapping[str, Any]) -> RetentionConfig:
    retention = int(configs.get("retention.ms") or -1)
    deleted = "delete" in str(configs.get("cleanup.policy") or "delete")
    segment = int(configs.get("segment.ms") or DEFAULT_SEGMENT_MS)
    return RetentionConfig(retention if deleted and retention >= 0 else None, segment)


def drop_marks(record: Found) -> list[tuple[str, bytes]]:
    return [(name, value) for name, value in record.headers if name != COPIED]


async def _send(producer: AIOKafkaProducer, record: Found, headers: list[tuple[str, bytes]]) -> asyncio.Future[Any]:
    value = b"" if record.value is None and record.key is None else record.value  # an empty record cannot be sent
    return await producer.send(
        record.topic,
        value,
        key=record.key,
        partition=record.partition,
        timestamp_ms=record.timestamp if record.timestamp >= 0 else None,
        headers=headers,
    )
