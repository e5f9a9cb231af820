"""Users who tell stories over HTTP and Kafka while a fault lasts, and their accepted turns.

Every user tells one of a few fixed stories to its end, so that the memories can be compared with those of a user who
told it without a fault.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice

import httpx
import orjson
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas.topics import TURN_COMMIT
from tests.faults.rig import Rig
from tests.system import conversation
from tests.system.wait import wait_for

STORIES, TURNS = 8, 6
SHARES: tuple[tuple[conversation.Part, float], ...] = (
    ("new", 0.5), ("again", 0.12), ("corrects", 0.2), ("denies", 0.08), ("chatter", 0.1),
)  # fmt: skip
PAUSE_S = 0.7
"""A rate that a machine with two cores sustains beside other work."""
STOP_S = 60
TENANT = "faults"
SCRIPTS = [[said.text for said, _ in islice(conversation.turns(f"faults-{n}", SHARES), TURNS)] for n in range(STORIES)]
Codec = str | None


@dataclass
class Person:
    """A user with a story, and the acceptance time of each turn."""

    user_id: str
    story: int
    codec: Codec = None
    accepted: dict[str, float] = field(default_factory=dict[str, float])

    def body(self, n: int) -> dict[str, object]:
        """The n-th turn of the story."""
        said = [{"role": "user", "content": SCRIPTS[self.story][n]}]
        whose = {"tenant_id": TENANT, "user_id": self.user_id, "session_id": "s"}
        return {**whose, "messages": said, "idempotency_key": f"{self.user_id}-{n}"}


class Load:
    """Tellers, half of them over Kafka, each of which tells the stories of one user after the other."""

    numbers = count()

    def __init__(
        self, rig: Rig, *, tellers: int = 4, codecs: Sequence[Codec] = (None,), over_kafka: bool = True
    ) -> None:
        self._rig = rig
        self.people: list[Person] = []
        self._codecs = codecs
        self._stopping = False
        self._over_kafka = over_kafka
        self._tasks = [asyncio.create_task(self._tell(n)) for n in range(tellers)]

    @property
    def accepted(self) -> dict[str, float]:
        """The acceptance time of each turn, by idempotency key."""
        return {key: at for person in self.people for key, at in person.accepted.items()}

    async def _tell(self, teller: int) -> None:
        producer = None
        codec = self._codecs[teller // 2 % len(self._codecs)]
        try:
            while not self._stopping:
                number = next(self.numbers)
                person = Person(f"p{number}", number % STORIES, codec)
                self.people.append(person)
                if self._over_kafka and teller % 2:
                    producer = producer or await self._connect(codec)
                for n in range(TURNS):
                    await self._commit(person, n, producer if teller % 2 else None)
        finally:
            if producer:
                await producer.stop()

    async def _connect(self, codec: Codec) -> AIOKafkaProducer:
        while True:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._rig.bootstrap, acks="all", compression_type=codec, request_timeout_ms=5_000
            )
            try:
                await producer.start()
            except KafkaError:
                await producer.stop()
                await asyncio.sleep(0.1)
            else:
                return producer

    async def _commit(self, person: Person, n: int, producer: AIOKafkaProducer | None) -> None:
        body = person.body(n)
        while True:
            try:
                if producer:
                    key = f"{TENANT}:{person.user_id}".encode()
                    await producer.send_and_wait(TURN_COMMIT.name, orjson.dumps(body), key=key)
                    break
                answer = await self._rig.http.post("/v1/turns", json=body, timeout=10)
                if answer.status_code in (200, 201):
                    break
            except (httpx.HTTPError, KafkaError):
                pass
            await asyncio.sleep(0.1)
        person.accepted[body["idempotency_key"]] = time.monotonic()  # type: ignore[index]
        await asyncio.sleep(0.05 if self._stopping else PAUSE_S)

    async def reach(self, turns: int) -> None:
        """Waits until this many more turns are accepted."""
        goal = len(self.accepted) + turns
        await wait_for(lambda: len(self.accepted) >= goal, f"{turns} turns more")

    async def stop(self) -> None:
        """Finishes every story that was begun and starts no other."""
        self._stopping = True
        await asyncio.wait_for(asyncio.gather(*self._tasks), STOP_S)

    async def give_up(self) -> None:
        """Stops all stories where they are."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
