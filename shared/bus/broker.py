"""The broker connection of workers: FastStream batches, acknowledged once their effects are durable."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError
from faststream import AckPolicy
from faststream.exceptions import IncorrectState
from faststream.kafka import KafkaBroker, KafkaMessage

from schemas.topics import AHEAD, DEAD_LETTER_BYTES, Topic, name_dead_letter
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Delivered, Delivery, Fuse, GiveUp, Handle, Precedence, Record, headers_of
from shared.bus.fetching import (
    READ_ON,
    BatchPace,
    Progress,
    UnreadableRecord,
    fetch_all_records,
    fetch_records,
    list_assigned,
)
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.catalogue import show_from_start
from shared.metrics.delivery import CONSUMER_LAG, EVENTS_CONSUMED, EVENTS_DEAD_LETTERED, HANDLER_SECONDS
from shared.policy import DeliveryPolicy
from shared.telemetry import LONGEST_WORK_S, Loops, logger

REST_S = 2.0
"""The pause of a consumer before a failed batch is redelivered."""
MAX_POLL_INTERVAL_MS = int(LONGEST_WORK_S * 1_000)
"""A slower handler counts as dead: model calls and retries stay far below."""

PROBE_S = 2.0
FETCH_WAIT_MS = 500
"""A broker answers a fetch as soon as it has records; the wait only sets how often it is asked without result."""

Accept = Callable[[Sequence[Record]], Awaitable[None]]


class Bus:
    """The consumers and the producer of one process."""

    def __init__(self, kafka: KafkaAccess, policy: DeliveryPolicy) -> None:
        self._policy = policy
        self._broker = KafkaBroker(
            kafka.servers,
            acks="all",
            enable_idempotence=True,
            linger_ms=2,
            max_request_size=DEAD_LETTER_BYTES,
            ack_policy=AckPolicy.NACK_ON_ERROR,
            graceful_timeout=20,
            logger=None,
        )
        # FastStream would group them by its own criteria
        self._broker._connection_kwargs.update(kafka.make_arguments())  # pyright: ignore[reportPrivateUsage]
        self._subscribers: list[tuple[str, str, Any]] = []
        self._progress: list[Progress] = []
        self._watching: list[asyncio.Task[None]] = []
        self._fuses: list[Fuse] = []
        self._precedence = Precedence(policy.others_first_s, time.monotonic)
        self.gives_way = False
        """Whether it reads events that others go past."""
        self._loops = Loops(policy.stalled_after_s)

    def consume(
        self,
        topic: Topic,
        *,
        service: str,
        handle: Handle,
        give_up: GiveUp,
        batch: int | None = None,
        newest_first: bool = False,
    ) -> None:
        """Delivers the topic's events to `handle` by user, at least once, and permanently failing ones to `give_up`.

        The service uses the consumer group that the topic names for it.

        `batch` limits how many are fetched together: a slow handler must finish them before it counts as dead. With
        `newest_first` that many are fetched however slow they are, newest first, for a handler that skips old ones.
        """

        async def handle_and_move(subject: Subject, events: Sequence[Delivered]) -> None:
            await handle(subject, events)
            self._loops.move(topic.name)

        fuse = self.new_fuse()
        behind = self._precedence if topic.name in AHEAD else None
        self.gives_way = self.gives_way or behind is not None
        delivery = Delivery(service, topic, handle_and_move, give_up, self.set_aside, self._policy, fuse, behind)
        first = self._precedence.go_first if topic.ahead_of else nullcontext

        async def accept(records: Sequence[Record]) -> None:
            with first():
                await delivery.accept(sorted(records, key=lambda each: -each.timestamp) if newest_first else records)

        group = topic.group_of(service)
        self.consume_raw(topic, service=service, group=group, accept=accept, batch=batch, steady=newest_first)

    def new_fuse(self) -> Fuse:
        """A fuse that `ready` reports."""
        self._fuses.append(Fuse(self._policy, time.monotonic))
        return self._fuses[-1]

    def consume_raw(
        self,
        topic: Topic,
        *,
        service: str,
        group: str,
        accept: Accept,
        batch: int | None = None,
        steady: bool = False,
    ) -> None:
        """Delivers the topic's raw records to `accept`; if it raises, all of them are redelivered.

        Unreadable batches are set aside as bytes. With `steady` the fetch size ignores the handling time.
        """
        progress = Progress(service, topic.name, self._policy.stall_s, time.monotonic)
        most = batch or self._policy.batch
        pace = BatchPace(most, least=most if steady else self._policy.handler_concurrency if batch else 1)
        subscriber = self._broker.subscriber(
            topic.name,
            group_id=group,
            batch=True,
            max_records=batch or self._policy.batch,
            fetch_max_wait_ms=FETCH_WAIT_MS,
            auto_offset_reset="earliest",
            max_poll_interval_ms=MAX_POLL_INTERVAL_MS,
            session_timeout_ms=10_000,
            heartbeat_interval_ms=1_000,
            no_reply=True,
            parser=_tolerant,  # pyright: ignore[reportArgumentType] # FastStream's type for batch parsers is that of single ones
            decoder=leave_undecoded,  # pyright: ignore[reportArgumentType]
        )

        async def receive(message: KafkaMessage) -> None:
            records = cast("Sequence[Record]", message.raw_message)
            progress.take(records)
            began = time.monotonic()
            try:
                with self._loops.work(topic.name):
                    await self._accept(service, records, accept)
                pace.note(len(records), time.monotonic() - began)
                progress.finish()
            except Exception as error:
                progress.fail()
                logger().warning(
                    "batch_delivered_again", topic=topic.name, error=type(error).__name__, detail=str(error)
                )
                await asyncio.sleep(REST_S)
                raise

        subscriber(receive)
        subscriber._connection_args.update(READ_ON)  # pyright: ignore[reportPrivateUsage] # FastStream does not forward a deserializer
        moved = partial(self._loops.move, topic.name)
        fetched = partial(fetch_all_records if steady else fetch_records, pace=pace, moved=moved)
        subscriber.get_msg = fetched  # pyright: ignore[reportAttributeAccessIssue] # as above
        for counter in (EVENTS_CONSUMED, EVENTS_DEAD_LETTERED, HANDLER_SECONDS):
            show_from_start(counter, [(service, topic.name)])
        self._subscribers.append((service, topic.name, subscriber))
        self._progress.append(progress)

    async def _accept(self, service: str, records: Sequence[Record], accept: Accept) -> None:
        readable = [record for record in records if not isinstance(record, UnreadableRecord)]
        if readable:
            await accept(readable)
        for record in records:
            if isinstance(record, UnreadableRecord):
                await self.set_unreadable_aside(service, record)

    def note_ahead(self) -> None:
        """Gives precedence to events on fast topics in another process."""
        self._precedence.note_first()

    async def start(self) -> None:
        """Connects and starts consuming."""
        await self._broker.start()
        for (_, name, subscriber), progress in zip(self._subscribers, self._progress, strict=True):
            self._loops.move(name)
            watching = progress.watch(partial(getattr, subscriber, "consumer"))
            self._watching.append(asyncio.create_task(watching))

    @property
    def stalled(self) -> list[str]:
        """The topics whose consumers neither poll nor finish records."""
        return self._loops.stalled

    async def stop(self) -> None:
        """Finishes and acknowledges the work in progress, then closes the connections."""
        for task in self._watching:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._watching.clear()
        await self._broker.stop()

    async def set_unreadable_aside(self, service: str, record: UnreadableRecord) -> None:
        """Writes the whole batch as bytes to the dead-letter topic; raises TransientError on failure."""
        await self.set_aside(cast("Record", record), record.reason)
        EVENTS_DEAD_LETTERED.labels(service, record.topic).inc()
        where = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        logger().error("batch_unreadable", **where, next_offset=record.next_offset, reason=record.reason)

    async def set_aside(self, record: Record, reason: str) -> None:
        """Writes the record to its dead-letter topic; raises TransientError on failure.

        A record too large even for that topic is replaced by its size and hash.
        """
        value, headers = record.value or b"", headers_of(record, reason)
        if isinstance(record, UnreadableRecord):
            headers["x-batch"] = f"{record.offset}-{record.next_offset - 1}"
        try:
            await self._bury(record, value, headers)
        except (MessageSizeTooLargeError, RecordTooLargeError):
            digest = {"x-value-bytes": str(len(value)), "x-value-sha256": hashlib.sha256(value).hexdigest()}
            await self._bury(record, b"", headers | digest)

    async def _bury(self, record: Record, value: bytes, headers: dict[str, str]) -> None:
        try:
            await self._broker.publish(value, topic=name_dead_letter(record.topic), key=record.key, headers=headers)
        except (MessageSizeTooLargeError, RecordTooLargeError):
            raise
        except (KafkaError, IncorrectState) as error:
            raise TransientError(f"dead-letter topic: {error}") from error

    async def ready(self) -> dict[str, bool]:
        """Whether the broker responds, each topic's consumer has partitions and progresses, and no fuse is open."""
        state = {
            name: bool(list_assigned(subscriber)) and not progress.stalled
            for (_, name, subscriber), progress in zip(self._subscribers, self._progress, strict=True)
        }
        state["kafka"] = await self._answers()
        if self._fuses:
            state["fuse"] = not any(fuse.blown for fuse in self._fuses)
        return state

    async def _answers(self) -> bool:
        # not over a consumer's connection, where the request would wait behind a fetch
        return await self._broker.ping(PROBE_S)

    async def measure_lag(self) -> None:
        """Updates the lag gauges with what the consumers know."""
        for service, name, subscriber in self._subscribers:
            consumer: AIOKafkaConsumer | None = subscriber.consumer
            lag = 0
            for partition in list_assigned(subscriber):
                high = consumer.highwater(partition) if consumer else None
                if consumer and high is not None:
                    lag += max(0, high - await consumer.position(partition))
            CONSUMER_LAG.labels(service, name).set(lag)


async def _tolerant(records: tuple[Any, ...], original: Callable[[Any], Awaitable[KafkaMessage]]) -> KafkaMessage:
    """Drops headers that are not text, because FastStream would refuse the whole batch."""
    return await original(tuple(replace(r, headers=tuple(h for h in r.headers if _is_text(h[1]))) for r in records))


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except (UnicodeDecodeError, AttributeError):
        return False
    return True


async def leave_undecoded(message: KafkaMessage) -> bytes:
    return b""
