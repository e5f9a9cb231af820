"""An unreadable batch becomes a dead letter, and the records around it are handled."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import cramjam
import orjson
import pytest
from aiokafka import AIOKafkaProducer, ConsumerRecord

from schemas.topics import COMPOSE_REQUEST, TOPICS, TURN_COMMIT, Topic
from shared import batches
from shared.bus.access import KafkaAccess
from shared.bus.broker import Bus
from shared.bus.delivery import Record
from shared.bus.fetching import UnreadableRecord
from shared.bus.requests import Asker, Replier, Request
from shared.bus.topics import ensure_topics
from shared.errors import TransientError
from shared.metrics.delivery import PARTITIONS_STALLED
from shared.policy import DeliveryPolicy
from tests.acceptance.broker.wire import CODECS, GZIP, LZ4, SNAPPY, ZSTD, altered, batch, produce
from tests.system.erasures import completed, erase
from tests.system.kafka import GROUPS, Stored, caught_up, publish, read
from tests.system.person import UNHURRIED, Person, somebody
from tests.system.running import System
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
embedded = pytest.mark.skipif(
    bool(os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")), reason="Apache Kafka takes no such batch"
)
BY_NAME = dict(sorted(CODECS.items()))
STALL_S = 0.6


@asynccontextmanager
async def open_producer(bootstrap: str, codec: str) -> AsyncGenerator[AIOKafkaProducer]:
    """A producer that compresses its records."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, compression_type=codec, linger_ms=20, acks="all")
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@pytest.mark.parametrize("codec", BY_NAME)
async def test_turns_and_requests_can_be_compressed(system: System, codec: str) -> None:
    people = [Person(system) for _ in range(3)]
    async with open_producer(system.bootstrap, codec) as producer:
        sent = [
            await producer.send(TURN_COMMIT.name, orjson.dumps(each.turn(text)), key=each.user_id.encode(), partition=0)
            for each, text in zip(people, ("I prefer green tea.", "我住在杭州。", "I live in Oslo."), strict=True)
        ]
        await asyncio.gather(*sent)
        for each, word in zip(people, ("tea", "杭州", "Oslo"), strict=True):
            assert word in str(await wait_for(each.contents, f"a memory of {each.user_id}"))
        asker = Asker(KafkaAccess(system.bootstrap))
        await asker.start()
        plain, asker._producer = asker._producer, producer
        try:
            asked = {**people[0].whose, "session_id": "s2", "user_message": "What do I drink?"}
            body = orjson.dumps({**asked, "deadline_ms": UNHURRIED["deadline_ms"]})
            package = orjson.loads(await asker.ask(COMPOSE_REQUEST, body, timeout_s=UNHURRIED["timeout_s"]))
            assert "green tea" in str(package["evidence"])
        finally:
            asker._producer = plain
            await asker.stop()


async def letters(bootstrap: str, topic: str, value: bytes) -> list[Stored]:
    """The dead letters of this topic with these bytes, apart from the offset and epoch that the broker assigned."""
    dead_letter = next(each.dead_letter for each in TOPICS if each.name == topic)
    origin = f"{topic}/".encode()
    return [
        each
        for each in await read(bootstrap, dead_letter)
        if (each.value or b"")[21:] == value[21:] and dict(each.headers)["x-origin"].startswith(origin)
    ]


async def pass_on(person: Person, broken: Mapping[str, bytes], *, through: Sequence[str]) -> None:
    """These batches, by fault, become dead letters of each topic, and the same partitions continue."""
    system = person.system
    ends: dict[tuple[str, str], int] = {}
    for topic in through:
        for reason, unreadable in broken.items():
            error, first = await produce(system.bootstrap, topic, unreadable)
            assert error == 0
            ends[topic, reason] = first + 2
    turn = orjson.dumps(person.turn("I prefer green tea."))
    await produce(system.bootstrap, TURN_COMMIT.name, batch([turn], key=b"k"))
    assert "tea" in str(await wait_for(person.contents, "the turn behind it"))
    await caught_up(system.bootstrap)
    for (topic, reason), end in ends.items():
        found = await wait_for(lambda topic=topic, b=broken[reason]: letters(system.bootstrap, topic, b), topic)
        said = {name: value.decode() for name, value in found[0].headers}
        assert len(found) == 1
        assert reason in said["x-error"], said
        origin, _, first = said["x-origin"].rpartition("/")
        assert origin == f"{topic}/0"
        assert said["x-batch"] == f"{first}-{end}"
    await wait_for(system["compose"].ready, "compose is ready")


async def test_a_batch_of_an_unknown_codec_is_set_aside_and_consumers_continue(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(batches.CODECS, LZ4)
    values = [orjson.dumps(person.turn(text)) for text in ("I like one.", "I like two.", "I like three.")]
    await pass_on(person, {"unknown codec 3": batch(values, codec=LZ4)}, through=[*GROUPS, COMPOSE_REQUEST.name])


BOMB = bytes(cramjam.zstd.compress(bytes(batches.LARGEST + 1)))
THREE = batch([b"one", b"two", b"three"])
BROKEN = {
    "unknown codec 6": altered(THREE, codec=6),
    "lz4 data that are damaged": altered(THREE, codec=LZ4),
    "gzip data that are damaged": altered(batch([b"x" * 900] * 3, codec=GZIP), records=b"\x1f\x8b"),
    "zstd data that are damaged or larger than": altered(batch([b"one"] * 3, codec=ZSTD), records=BOMB),
    "snappy data that are damaged": altered(THREE, codec=SNAPPY),
    "do not fit": altered(THREE, records=b"\xff" * 40),
    "records do not fit (CorruptRecordException)": altered(THREE, records=THREE[61:] + b"more"),
}


@embedded
async def test_a_corrupt_batch_is_set_aside_and_consumers_continue(system: System, person: Person) -> None:
    await pass_on(person, BROKEN, through=[TURN_COMMIT.name, COMPOSE_REQUEST.name])


@embedded
async def test_an_unreadable_batch_that_waits_when_compose_starts_is_set_aside(system: System, person: Person) -> None:
    await system.stop("compose")
    unreadable = altered(THREE, codec=5)
    for topic in (TURN_COMMIT, COMPOSE_REQUEST):
        await produce(system.bootstrap, topic.name, unreadable)
    await system.start("compose")
    for topic in (TURN_COMMIT, COMPOSE_REQUEST):
        await wait_for(lambda name=topic.name: letters(system.bootstrap, name, unreadable), topic.dead_letter)
    assert (await person.say("I prefer green tea."))["status"] == "derived"


@embedded
async def test_an_erasure_skips_an_unreadable_batch(system: System, person: Person) -> None:
    turn = batch([orjson.dumps(person.turn("I prefer green tea."))], codec=ZSTD)
    for made in (altered(THREE, codec=5), turn, altered(THREE, codec=5)):
        await produce(system.bootstrap, TURN_COMMIT.name, made)
    await wait_for(person.contents, "the turn is derived")
    assert await completed(person, await erase(person, "all"))
    standing = await read(system.bootstrap, TURN_COMMIT.name, TURN_COMMIT.dead_letter)
    assert not [record for record in standing if person.user_id.encode() in (record.value or b"")]


@embedded
async def test_a_corrupt_batch_of_replies_does_not_stop_the_client(system: System, person: Person) -> None:
    asker = Asker(KafkaAccess(system.bootstrap))
    await asker.start()
    try:
        for partition in range(12):
            await produce(system.bootstrap, "smartbrain.compose.reply.v1", altered(THREE, codec=7), partition)
        body = orjson.dumps({**person.whose, "session_id": "s", "user_message": "hello", "deadline_ms": 20_000})
        assert b"context_id" in await asker.ask(COMPOSE_REQUEST, body, timeout_s=60)
    finally:
        await asker.stop()


@pytest.mark.parametrize(
    "headers",
    [
        [("reply_to", b"x"), ("correlation_id", b""), ("reply_partition", b"9" * 5000)],
        [("reply_to", b"\xff"), ("deadline_ms", b"9" * 5000)],
        [("deadline_ms", None), ("correlation_id", None), ("reply_to", None)],
    ],
)
async def test_unusual_headers_stop_nothing(system: System, person: Person, headers: list[tuple[str, Any]]) -> None:
    turn, question = (
        orjson.dumps(body)
        for body in (person.turn("I prefer green tea."), {**person.whose, "session_id": "s", "user_message": "hello"})
    )
    for topic, value in ((TURN_COMMIT.name, turn), (COMPOSE_REQUEST.name, question)):
        assert (await produce(system.bootstrap, topic, batch([value], headers=headers)))[0] == 0
    assert "tea" in str(await wait_for(person.contents, "the turn is derived"))
    async with asyncio.timeout(60):
        await caught_up(system.bootstrap)


@pytest.fixture
async def topic(kafka: str) -> Topic:
    """A topic for one test."""
    made = replace(COMPOSE_REQUEST, name=f"smartbrain.test.{somebody()}.v1", partitions=2)
    await ensure_topics(KafkaAccess(kafka), [made])
    return made


def read_stall_metric(service: str, topic: Topic) -> float:
    """The value of the metric."""
    return PARTITIONS_STALLED.labels(service, topic.name)._value.get()


async def test_a_permanently_failing_partition_is_reported_and_the_service_is_not_ready(
    kafka: str, topic: Topic
) -> None:
    mended = asyncio.Event()

    async def accept(records: Sequence[Record]) -> None:
        if not mended.is_set() and any(record.value == b"hard" for record in records):
            raise TransientError("too hard")

    bus = Bus(KafkaAccess(kafka), DeliveryPolicy(stall_s=STALL_S))
    bus.consume_raw(topic, service="observer", group=topic.name, accept=accept)
    await bus.start()

    async def ready(wanted: bool) -> bool:
        return (await bus.ready())[topic.name] is wanted

    try:
        await wait_for(lambda: ready(True), "it is ready")
        await publish(kafka, [Stored(topic.name, key=b"k", value=b"easy"), Stored(topic.name, key=b"k", value=b"hard")])
        await wait_for(lambda: ready(False), "it says that it does not go on")
        assert read_stall_metric("observer", topic) == 1
        mended.set()
        await wait_for(lambda: ready(True), "it goes on")
        assert read_stall_metric("observer", topic) == 0
    finally:
        await bus.stop()


async def test_a_replier_that_accepts_nothing_is_not_ready(kafka: str, topic: Topic) -> None:
    answered = asyncio.Event()
    left: list[ConsumerRecord[bytes, bytes]] = []

    async def answer(request: Request) -> bytes:
        await answered.wait()
        return request.value

    async def set_aside(record: UnreadableRecord) -> None:
        left.append(record)

    replier = Replier(KafkaAccess(kafka), topic, topic.name, answer, set_aside, stall_s=STALL_S, at_once=1)
    await replier.start()
    try:
        await wait_for(lambda: replier.ready, "it is ready")
        await publish(kafka, [Stored(topic.name, key=b"k", value=b"%d" % n) for n in range(4)])
        await wait_for(lambda: not replier.ready, "it says that it does not go on")
        assert read_stall_metric("compose", topic) == 1
        answered.set()
        await wait_for(lambda: replier.ready, "it goes on")
        assert not left
    finally:
        await replier.stop()
