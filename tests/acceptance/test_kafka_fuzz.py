"""Random records in every codec: none stalls a partition; each becomes a turn, an answer or a dead letter."""

import os
import random
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import orjson
import pytest
from prometheus_client import REGISTRY

from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, TURN_COMMIT
from tests.acceptance.broker.wire import CODECS, Sent, altered, batch_of, produce_all
from tests.long import often
from tests.system.invariants import broken
from tests.system.kafka import caught_up, read
from tests.system.person import somebody
from tests.system.running import System
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
ROUNDS, RECORDS = often(10, short=1), often(2_000, short=400)
APACHE = bool(os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"))
SAID = ("I prefer green tea.", "我住在杭州。", "ok", "My dog is called Rex 🐕.", "不要提醒我。", "x" * 300)
PARTITIONS = 12
LARGEST = 200_000


@dataclass
class Chance:
    """Random records of one tenant, so that their results can be counted."""

    random: random.Random
    tenant: str = field(default_factory=somebody)

    def turn(self) -> bytes:
        """A valid turn."""
        user, session = f"u{self.random.randrange(20)}", f"s{self.random.randrange(3)}"
        message = {"role": self.random.choice(["user", "assistant"]), "content": self.random.choice(SAID)}
        body = {"tenant_id": self.tenant, "user_id": user, "session_id": session, "messages": [message]}
        return orjson.dumps({**body, "idempotency_key": somebody()})

    def question(self) -> bytes:
        """A request for a package."""
        asked = {"tenant_id": self.tenant, "user_id": "u1", "session_id": "s1", "user_message": "What do I drink?"}
        return orjson.dumps({**asked, "deadline_ms": 20_000})

    def value(self, good: bytes) -> bytes | None:
        """The valid value, or a corrupted one."""
        match self.random.randrange(9):
            case 0 | 1:
                return good
            case 2:
                return None
            case 3:
                return self.random.randbytes(self.random.choice([0, 1, 30, 3_000]))
            case 4:
                return good[: self.random.randrange(len(good))]
            case 5:
                place = self.random.randrange(len(good))
                return good[:place] + self.random.randbytes(1) + good[place + 1 :]
            case 6:
                return b"[" * self.random.randrange(2_000) + good
            case 7:
                fields = orjson.loads(good)
                fields[self.random.choice(list(fields))] = self.random.choice(
                    [None, 7, [], {}, "", "\x00", True, -1e300]
                )
                return orjson.dumps(fields)
            case _:
                if self.random.random() < 0.9:
                    return b"null"
                return self.random.randbytes(3) * self.random.randrange(LARGEST // 3)

    def header(self) -> tuple[str, bytes | None]:
        """A known or unknown header with a valid or invalid value."""
        name = self.random.choice(["deadline_ms", "reply_partition", "x", "", "键", "x-error", "x-batch"])
        number = self.random.choice([b"", b"-1", b"\xff", b"9" * 30, None])
        # a deadline in the past gets no answer, and an invalid reply partition loses the answer
        return name, None if name in ("deadline_ms", "reply_partition") else number

    def record(self, value: bytes | None, *more: tuple[str, bytes]) -> Sent:
        """The record with a random key, random headers and a timestamp within the topic's retention."""
        key = self.random.choice([None, b"", b"k", f"{self.tenant}:u1".encode(), self.random.randbytes(20)])
        headers = [self.header() for _ in range(self.random.randrange(4))]
        at = int(time.time() * 1000) - self.random.choice([0, 60_000])
        return at, key, value, [*headers, *more]

    def packed(self, records: list[Sent]) -> list[bytes]:
        """The records in batches of random size and codec."""
        made: list[bytes] = []
        while records:
            size = self.random.choice([1, 2, 7, 30])
            made.append(batch_of(records[:size], self.random.choice([0, *CODECS.values()])))
            records = records[size:]
        return made

    def torn(self, made: bytes) -> bytes:
        """The batch with record bytes that do not match its codec."""
        return altered(made, records=self.random.randbytes(40), codec=self.random.randrange(1, 8))


async def letters(system: System) -> Counter[str]:
    """The number of dead letters per topic."""
    found = await read(system.bootstrap, TURN_COMMIT.dead_letter, COMPOSE_REQUEST.dead_letter)
    return Counter(record.topic.removesuffix(".dlq") for record in found)


def count_answers() -> float:
    """The number of requests over Kafka that this process has answered."""
    return REGISTRY.get_sample_value("smartbrain_compose_seconds_count", {"transport": "kafka"}) or 0


async def replies_to(system: System, names: Collection[bytes]) -> dict[bytes, list[bytes]]:
    """The answers by correlation id; None while one is missing."""
    told: dict[bytes, list[bytes]] = {name: [] for name in names}
    for reply in await read(system.bootstrap, COMPOSE_REPLY.name):
        told.get(dict(reply.headers).get("correlation_id", b""), []).append(reply.value or b"")
    return told if all(told.values()) else {}


def turns_of(system: System) -> int:
    """The number of turns of all users."""
    return system.number("SELECT count(*) FROM turns")


@pytest.mark.parametrize("_", range(ROUNDS))
async def test_random_records_stall_nothing_and_are_not_written_partially(system: System, _: int) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown on failure
    chance = Chance(random.Random(seed))
    turns = [chance.record(chance.value(chance.turn())) for _ in range(RECORDS * 4 // 5)]
    asked = [(somebody().encode(), chance.value(chance.question())) for _ in range(RECORDS // 5)]
    questions = [chance.record(value, ("correlation_id", name)) for name, value in asked]
    sent = [(TURN_COMMIT.name, made) for made in chance.packed(turns)]
    sent += [(COMPOSE_REQUEST.name, made) for made in chance.packed(questions)]
    torn = [] if APACHE else [(topic, chance.torn(made)) for topic, made in chance.random.sample(sent, len(sent) // 20)]
    sent += torn
    chance.random.shuffle(sent)
    await system.settled()
    said, dead, heard, wrong = turns_of(system), await letters(system), count_answers(), broken(system.dsn)

    placed = [(topic, chance.random.randrange(PARTITIONS), made) for topic, made in sent]
    assert [error for error, _ in await produce_all(system.bootstrap, placed) if error] == []
    await caught_up(system.bootstrap)
    await wait_for(lambda: count_answers() - heard == len(asked), "every question is answered")
    await system.settled()

    replies = await wait_for(lambda: replies_to(system, [name for name, _ in asked]), "the answers")
    assert [told for each in replies.values() for told in each if b'"internal"' in told] == []
    assert {len(each) for each in replies.values()} == {1}
    committed, new = turns_of(system) - said, await letters(system) - dead
    unreadable = Counter(topic for topic, _ in torn)
    assert committed + new[TURN_COMMIT.name] == len(turns) + unreadable[TURN_COMMIT.name]
    assert new[COMPOSE_REQUEST.name] == unreadable[COMPOSE_REQUEST.name]
    assert committed > len(turns) // 6
    assert broken(system.dsn) == wrong
    for service in system.running:
        assert await service.ready(), service.name
