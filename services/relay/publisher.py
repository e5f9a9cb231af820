"""The relay's producer: sends a batch in order and says what the broker acknowledged."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from schemas.topics import TOPICS
from shared import clock
from shared.bus.access import KafkaAccess
from shared.bus.dead_letters import DeadLetter
from shared.bus.shutdown import disconnect
from shared.domain.signatures import FIRST, HOUSE, SentRecord, sign
from shared.errors import TransientError

Message = tuple[str, bytes, bytes]
"""Topic, key, value."""
Headers = Sequence[tuple[str, bytes]]
PROBE_S = 2.0
INBOUND = frozenset(topic.name for topic in TOPICS if topic.inbound)
"""Topics whose records are signed."""
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

    async def send_all(self, messages: Sequence[Message], house_hash: str | None = None) -> list[Exception | None]:
        """By message: None once every replica has it, or why the broker will never take it.

        With the secret of the house those for topics that clients write are signed. Raises TransientError when the
        broker is away: then any of the messages may or may not have arrived.
        """
        await self.start()
        producer = self._producer
        assert producer  # noqa: S101 # start() has made it
        outcomes: list[Exception | None] = [None] * len(messages)
        waiting: list[tuple[int, asyncio.Future[object]]] = []
        try:
            for n, (topic, key, value) in enumerate(messages):
                try:
                    headers = sign_for_house(topic, key, value, house_hash) if topic in INBOUND and house_hash else ()
                    waiting.append((n, await producer.send(topic, value, key=key, headers=headers)))
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

    async def send_back(self, letter: DeadLetter, house_hash: str | None = None) -> Exception | None:
        """None once every replica has the dead letter on its topic again, or why the broker will never take it.

        It says who sent it as it did when it came; with the secret of the house, the house does.
        """
        await self.start()
        producer, record = self._producer, letter.record
        assert producer  # noqa: S101 # start() has made it
        try:
            await producer.send_and_wait(
                letter.topic.name,
                record.value or b"",
                key=record.key,
                timestamp_ms=letter.sent_ms if letter.sent_ms >= 0 else None,
                headers=list_headers(letter, house_hash),
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


def sign_for_house(topic: str, key: bytes, value: bytes, house_hash: str) -> Headers:
    """The headers of what services say there themselves, as of now."""
    now_ms = int(clock.now().timestamp() * 1000)
    return [*sign(SentRecord(topic, key, value, {}), HOUSE, house_hash, now_ms).items()]


def list_headers(letter: DeadLetter, house_hash: str | None) -> Headers:
    """By what a dead letter is known on its topic, and by what it says who sent it."""
    first = {FIRST: letter.first.encode()}
    if house_hash is None:
        return letter.signed_headers or [*first.items()]
    sent = SentRecord(letter.topic.name, letter.record.key, letter.record.value, first)
    return [*sign(sent, HOUSE, house_hash, max(0, letter.sent_ms)).items()]
