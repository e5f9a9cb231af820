"""Request and reply over Kafka with the headers reply_to and correlation_id."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from schemas.topics import COMPOSE_REPLY, Topic
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Record
from shared.bus.fetching import READ_ON, Progress, UnreadableRecord
from shared.bus.shutdown import disconnect
from shared.domain.signatures import SentRecord
from shared.errors import TransientError
from shared.telemetry import frames, logger

FETCH_WAIT_MS = 250
SEND_S = 2.0
"""Longer than an available broker needs; a missing reply topic is given up after this time."""
COMMIT_S = 5.0
"""Longer than an available broker needs to commit an offset."""
PLACE_EVERY_S = 1.0
"""The interval between a replier's commits."""
TRIES = 5
"""The number of attempts to set an unreadable batch aside; then the replier continues for the sake of others."""
DIGITS = 15
"""The maximum number of digits of a partition or a time in ms."""


@dataclass(frozen=True)
class Request:
    """One received request. `deadline` is in seconds since the epoch; later nobody waits."""

    record: Record
    value: bytes
    correlation_id: str
    reply_to: str
    reply_partition: int | None
    deadline: float | None

    @property
    def expired(self) -> bool:
        """Whether the requester has stopped waiting."""
        return self.deadline is not None and time.time() > self.deadline


Answer = Callable[[Request], Awaitable[bytes]]
SetAside = Callable[[UnreadableRecord], Awaitable[None]]
Sign = Callable[[SentRecord], Mapping[str, bytes]]
"""All headers of a record, its signature included."""


def request_of(record: Record) -> Request:
    """The request in a record's headers and value; invalid headers count as absent."""
    headers = dict(record.headers)
    return Request(
        record=record,
        value=record.value or b"",
        correlation_id=_text(headers, "correlation_id") or "",
        reply_to=_text(headers, "reply_to") or COMPOSE_REPLY.name,
        reply_partition=_number(headers, "reply_partition"),
        deadline=None if (ms := _number(headers, "deadline_ms")) is None else ms / 1000,
    )


def _text(headers: Mapping[str, bytes], name: str) -> str | None:
    try:
        return headers[name].decode() or None
    except (KeyError, UnicodeDecodeError, AttributeError):  # a header may be null
        return None


def _number(headers: Mapping[str, bytes], name: str) -> int | None:
    text = _text(headers, name)
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= DIGITS else None


class Replier:
    """Answers one request topic with bounded concurrency, in a raw loop that is ten times faster than a framework's."""

    def __init__(
        self,
        kafka: KafkaAccess,
        topic: Topic,
        group: str,
        answer: Answer,
        set_aside: SetAside,
        *,
        stall_s: float = 60.0,
        at_once: int = 32,
    ) -> None:
        self._arguments = kafka.make_arguments()
        self._topic = topic
        self._group = group
        self._answer = answer
        self._set_aside = set_aside
        self._progress = Progress("compose", topic.name, stall_s, time.monotonic)
        self._at_once = at_once
        self._places = asyncio.Semaphore(at_once)
        self._running: set[asyncio.Task[None]] = set()
        self._consumer: AIOKafkaConsumer | None = None
        self._producer: AIOKafkaProducer | None = None
        self._loop: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._moved = False

    async def start(self) -> None:
        """Starts receiving; waiting requests are answered within their deadlines."""
        self._producer = AIOKafkaProducer(**self._arguments, linger_ms=0, acks=1)
        self._consumer = AIOKafkaConsumer(
            self._topic.name,
            **self._arguments,
            group_id=self._group,
            auto_offset_reset="earliest",
            # before it rejoins its group, aiokafka would try forever to commit to partitions that are gone
            enable_auto_commit=False,
            fetch_max_wait_ms=FETCH_WAIT_MS,
            heartbeat_interval_ms=1_000,
            **READ_ON,
        )
        await self._producer.start()
        await self._consumer.start()
        self._loop = asyncio.create_task(self._listen())
        self._keeper = asyncio.create_task(self._keep_place())
        self._watcher = asyncio.create_task(self._progress.watch(lambda: self._consumer))

    @property
    def ready(self) -> bool:
        """Whether the loop runs, has partitions and progresses in each."""
        alive = self._loop is not None and not self._loop.done() and not self._progress.stalled
        return alive and self._consumer is not None and bool(self._consumer.assignment())

    async def stop(self) -> None:
        """Stops receiving, and first answers requests in progress."""
        for task in (self._loop, self._keeper, self._watcher):
            if task:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._running:
            await asyncio.wait(self._running, timeout=20)
        await self._commit()
        await disconnect(self._consumer, self._producer)

    async def _listen(self) -> None:
        assert self._consumer  # noqa: S101 # start() has set it
        while True:
            try:
                batches = await self._consumer.getmany(timeout_ms=1000, max_records=self._at_once)
            except KafkaError as error:
                logger().warning("requests_not_heard", error=type(error).__name__)
                await asyncio.sleep(0.5)
                continue
            self._moved = self._moved or bool(batches)
            for records in batches.values():
                for record in records:
                    if isinstance(record, UnreadableRecord):
                        await self._pass(record)
                        continue
                    await self._places.acquire()
                    task = asyncio.create_task(self._reply(record))
                    self._running.add(task)
                    task.add_done_callback(self._over)

    async def _pass(self, record: UnreadableRecord) -> None:
        for tries in range(1, TRIES + 1):
            try:
                await self._set_aside(record)
            except TransientError as error:
                logger().warning("batch_not_set_aside", topic=record.topic, offset=record.offset, reason=str(error))
                await asyncio.sleep(SEND_S * tries / TRIES)
            else:
                return
        logger().error("batch_lost", topic=record.topic, partition=record.partition, offset=record.offset)

    async def _keep_place(self) -> None:
        while True:
            await asyncio.sleep(PLACE_EVERY_S)
            await self._commit()

    async def _commit(self) -> None:
        """Commits the position, so that records are not read again after a restart; if the broker
        refuses, they may be.
        """
        if not self._moved or self._consumer is None:
            return
        self._moved = False
        try:
            async with asyncio.timeout(COMMIT_S):
                await self._consumer.commit()
        except (KafkaError, TimeoutError) as error:
            logger().warning("place_not_kept", topic=self._topic.name, error=type(error).__name__)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._places.release()
        self._running.discard(task)

    async def _reply(self, record: "ConsumerRecord[bytes, bytes]") -> None:
        request = request_of(cast("Record", record))
        if request.expired:
            logger().info("request_expired", correlation_id=request.correlation_id)
            return
        try:
            await self.send(request, await self._answer(request))
        except Exception as error:  # noqa: BLE001 # nothing awaits this, so an error would be lost
            logger().error("reply_broke", correlation_id=request.correlation_id, **frames(error))

    def send_soon(self, request: Request, body: bytes) -> None:
        """Sends the answer in the background; `stop` waits for it."""
        task = asyncio.create_task(self.send(request, body))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def send(self, request: Request, body: bytes) -> None:
        """Sends the answer to the address in the request; a failing reply topic is logged."""
        assert self._producer  # noqa: S101 # start() has set it
        correlation = request.correlation_id.encode()
        try:
            async with asyncio.timeout(SEND_S):
                await self._producer.send_and_wait(
                    request.reply_to,
                    body,
                    key=correlation,
                    partition=request.reply_partition,
                    headers=[("correlation_id", correlation)],
                )
        except (KafkaError, AssertionError, ValueError, TimeoutError) as error:
            logger().warning("reply_not_sent", correlation_id=request.correlation_id, error=type(error).__name__)


class Asker:
    """Sends requests over Kafka and waits for answers: one reply partition, one future per request."""

    def __init__(self, kafka: KafkaAccess, reply: Topic = COMPOSE_REPLY, sign: Sign | None = None) -> None:
        self._kafka = kafka
        self._reply = reply
        self._sign = sign
        self._waiting: dict[bytes, asyncio.Future[bytes]] = {}
        self._partition = 0
        self._producer: AIOKafkaProducer | None = None
        self._consumer: AIOKafkaConsumer | None = None
        self._loop: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Positions the consumer at the end of its reply partition before the first request.

        ConfigurationError: Kafka refuses the connection; TransientError: it is unavailable.
        """
        await self._kafka.check()
        arguments = self._kafka.make_arguments()
        self._producer = AIOKafkaProducer(**arguments, linger_ms=0, acks="all")
        self._consumer = AIOKafkaConsumer(
            **arguments,
            enable_auto_commit=False,
            auto_offset_reset="latest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
            **READ_ON,
        )
        try:
            await self._producer.start()
            await self._consumer.start()
            partitions = sorted(await self._producer.partitions_for(self._reply.name))
            self._partition = random.choice(partitions)  # noqa: S311 # spreads clients
            place = TopicPartition(self._reply.name, self._partition)
            self._consumer.assign([place])
            await self._consumer.seek_to_end(place)
            await self._consumer.position(place)
        except KafkaError as error:
            await self.stop()
            raise TransientError(f"kafka: {error}") from error
        self._loop = asyncio.create_task(self._listen())

    async def stop(self) -> None:
        """Disconnects; open requests get no answer."""
        if self._loop:
            self._loop.cancel()
            with suppress(asyncio.CancelledError):
                await self._loop
        await disconnect(self._consumer, self._producer)

    async def _listen(self) -> None:
        assert self._consumer  # noqa: S101 # start() has set it
        async for record in self._consumer:
            correlation = dict(record.headers).get("correlation_id", b"")
            waiter = self._waiting.pop(correlation, None)
            if waiter and not waiter.done():
                waiter.set_result(record.value or b"")

    async def ask(self, topic: Topic, value: bytes, *, key: str | None = None, timeout_s: float = 5.0) -> bytes:
        """The answer's bytes; TransientError if none arrived in time or the broker is unavailable."""
        assert self._producer  # noqa: S101 # start() has set it
        correlation = uuid4().hex.encode()
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[correlation] = waiter
        headers = {
            "correlation_id": correlation,
            "reply_to": self._reply.name.encode(),
            "reply_partition": str(self._partition).encode(),
            "deadline_ms": str(int((time.time() + timeout_s) * 1000)).encode(),
        }
        sent = SentRecord(topic.name, key.encode() if key else correlation, value, headers)
        signed_headers = [*(self._sign(sent) if self._sign else headers).items()]
        try:
            async with asyncio.timeout(timeout_s):
                await self._producer.send(topic.name, value, key=sent.key, headers=signed_headers)
                return await waiter
        except TimeoutError as error:
            raise TransientError(f"no answer within {timeout_s} s") from error
        except KafkaError as error:
            raise TransientError(f"kafka: {error}") from error
        finally:
            self._waiting.pop(correlation, None)
