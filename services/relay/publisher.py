"""The relay's producer: sends a batch in order and says what the broker acknowledged."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from shared.bus.access import KafkaAccess
from shared.bus.dead_letters import DeadLetter
from shared.bus.delivery import FIRST
from shared.bus.shutdown import disconnect
from shared.errors import TransientError

Message = tuple[str, bytes, bytes]
"""Topic, key, value."""
PROBE_S = 2.0
HOPELESS = (MessageSizeTooLargeError, RecordTooLargeError)


class Publisher:
    """An idempotent producer that is made anew after an error that it cannot mend itself."""

    def __init__(self, kafka: KafkaAccess) -> None:
        self.kafka = kafka
        self._arguments = kafka.make_arguments()
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connected, if it was not already."""
        self._producer = self._producer or await self.connect_producer()

    async def connect_producer(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            **self._arguments,
            acks="all",
            enable_idempotence=True,
            linger_ms=0,
            max_batch_size=262_144,
        )
        try:
            await producer.start()
        except KafkaError as error:
            with suppress(KafkaError):
                await producer.stop()
            raise TransientError(f"kafka: {error}") from error
        return producer

    async def answers(self) -> bool:
        """Whether the broker answers now."""
        producer = self._producer
        try:
            async with asyncio.timeout(PROBE_S):
                return producer is not None and bool((await producer.client.fetch_all_metadata()).brokers())
        except (KafkaError, TimeoutError):
            return False

    async def send_all(self, messages: Sequence[Message]) -> list[Exception | None]:
        """By message: None once every replica has it, or why the broker will never take it.

        Raises TransientError when the broker is away: then any of the messages may or may not have arrived.
        """
        await self.start()
        producer = self._producer
        assert producer  # noqa: S101 # start() has made it
        outcomes: list[Exception | None] = [None] * len(messages)
        waiting: list[tuple[int, asyncio.Future[object]]] = []
        try:
            for n, (topic, key, value) in enumerate(messages):
                try:
                    waiting.append((n, await producer.send(topic, value, key=key)))
                except HOPELESS as error:
                    outcomes[n] = error
            for n, sent in waiting:
                try:
                    await sent
                except HOPELESS as error:
                    outcomes[n] = error
        except KafkaError as error:
            # an idempotent producer may be stuck for good after an outage
            await self.stop()
            raise TransientError(f"kafka: {type(error).__name__}") from error
        return outcomes

    async def send_back(self, letter: DeadLetter) -> Exception | None:
        """None once every replica has the dead letter on its topic again, or why the broker will never take it."""
        await self.start()
        producer, record = self._producer, letter.record
        assert producer  # noqa: S101 # start() has made it
        try:
            await producer.send_and_wait(
                letter.topic.name,
                record.value or b"",
                key=record.key,
                timestamp_ms=letter.sent_ms if letter.sent_ms >= 0 else None,
                headers=[(FIRST, letter.first.encode())],
            )
        except HOPELESS as error:
            return error
        except KafkaError as error:
            await self.stop()
            raise TransientError(f"kafka: {type(error).__name__}") from error
        return None

    async def stop(self) -> None:
        """Disconnected; what was sent has been waited for."""
        producer, self._producer = self._producer, None
        await disconnect(producer)
