"""A purge removes an erased user's text from all topics, dead letters included; other users' records stay."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import TopicPartition

from schemas.topics import DEAD_LETTER_BYTES, Topic
from services.erasure.topics.purge import Carriers, Purged, purge
from shared.bus.access import KafkaAccess
from shared.bus.record_owner import COPIED
from shared.bus.topic_admin import TopicAdmin
from shared.bus.topics import ensure_topics
from shared.domain.subjects import Subject
from shared.errors import TransientError
from tests.acceptance.broker.clients import administering, consuming, create, producing, take, unique
from tests.system.kafka import Stored, read
from tests.system.left_records import count_left

pytestmark = pytest.mark.kafka

ANNA, BEN = Subject("acme", "anna"), Subject("acme", "ben")
EMBEDDED = "smartbrain-embedded"


@dataclass(frozen=True)
class World:
    """Topics for one test, configured like the product's."""

    bootstrap: str
    commit: Topic
    request: Topic
    reply: Topic

    @property
    def carriers(self) -> Carriers:
        """The topics and their consumer groups."""
        return Carriers({self.commit: f"{self.commit.name}.g", self.request: f"{self.request.name}.g"}, (self.reply,))

    async def purge(self, asked_at: datetime, who: Subject = ANNA, later: float = 300) -> Purged:
        """Purges the user's text some seconds after the request."""
        now = asked_at + timedelta(seconds=later)
        return await purge(KafkaAccess(self.bootstrap), who, asked_at, carriers=self.carriers, now=now)

    async def left(self, asked_at: datetime, who: Subject = ANNA) -> dict[str, int]:
        """The remaining records of the user."""
        return await count_left(KafkaAccess(self.bootstrap), who, asked_at, carriers=self.carriers)

    async def put(self, *records: Stored) -> None:
        """The partitions contain these records in this order."""
        async with producing(self.bootstrap, max_request_size=2 * DEAD_LETTER_BYTES) as producer:
            for r in records:
                sent = await producer.send(
                    r.topic, r.value, r.key, r.partition, timestamp_ms=r.timestamp, headers=list(r.headers)
                )
                await sent

    async def consume(self, topic: Topic, upto: int, partition: int = 0) -> None:
        """The topic's group has committed this offset."""
        async with consuming(self.bootstrap, group_id=self.carriers.inbound[topic]) as consumer:
            place = TopicPartition(topic.name, partition)
            consumer.assign([place])
            await consumer.commit({place: upto})

    async def keeps_bytes(self) -> bool:
        """Whether this broker keeps the bytes of deleted records; only the embedded one does not."""
        async with administering(self.bootstrap) as admin:
            return (await admin.describe_cluster())["cluster_id"] != EMBEDDED


async def made(bootstrap: str) -> World:
    """Empty topics."""
    world = World(
        bootstrap,
        Topic(unique("commit"), "tenant:user", (), "users", retention_hours=24, carries_text=True, partitions=2),
        Topic(unique("request"), "correlation_id", (), "users", retention_hours=1, carries_text=True, partitions=2),
        Topic(unique("reply"), "correlation_id", (), "compose", retention_hours=1, carries_text=True, partitions=2),
    )
    await ensure_topics(KafkaAccess(bootstrap), world.carriers.topics)
    async with producing(bootstrap) as producer:
        for topic in world.carriers.topics:
            for name in (topic.name, topic.dead_letter):
                await producer.partitions_for(name)
    return world


@pytest.fixture
async def world(bootstrap: str) -> World:
    """Topics for one test on the broker under test."""
    return await made(bootstrap)


def now_ms() -> int:
    """The current time."""
    return int(time.time() * 1000)


def moment(ms: int) -> datetime:
    """The timestamp of a record."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def said(who: Subject, text: str) -> bytes:
    """A body that names its user."""
    return json.dumps({"tenant_id": who.tenant_id, "user_id": who.user_id, "content": text}).encode()


def letter(topic: Topic, who: Subject, text: str, at: int, *, partition: int = 0, origin: str = "") -> Stored:
    """A dead letter of the topic."""
    headers = (("x-error", b"refused"), ("x-origin", (origin or f"{topic.name}/0/{at}").encode()), ("empty", b""))
    key = f"{who.tenant_id}:{who.user_id}".encode()
    return Stored(topic.dead_letter, partition, 0, key, said(who, text), headers, at)


def to_comparable(records: Sequence[Stored]) -> list[tuple[object, ...]]:
    """The fields of dead letters that must survive, in order."""
    return [
        (r.partition, r.key, r.value, tuple(h for h in r.headers if h[0] != COPIED), r.timestamp)
        for r in sorted(records, key=lambda r: (r.partition, r.offset))
    ]


async def test_the_users_dead_letters_are_deleted_and_others_survive_unchanged(world: World) -> None:
    at = now_ms()
    texts = [(BEN, "first"), (ANNA, "secret 1"), (BEN, "second"), (ANNA, "secret 2"), (BEN, "third")]
    letters = [letter(world.commit, who, text, at + n, partition=0) for n, (who, text) in enumerate(texts)]
    elsewhere = letter(world.commit, BEN, "in a partition without her", at, partition=1)
    await world.put(*letters, elsewhere)
    purged = await world.purge(moment(at + 1000))
    name = world.commit.dead_letter
    assert (purged.removed, purged.copied, purged.waiting, purged.unreadable) == ({name: 2}, {name: 3}, False, 0)
    found = await read(world.bootstrap, name)
    assert to_comparable(found) == to_comparable(
        [r for r in letters if b"secret" not in (r.value or b"")] + [elsewhere]
    )
    assert [COPIED in dict(r.headers) for r in found if r.partition == 0] == [True] * 3
    assert [r.headers for r in found if r.partition == 1] == [elsewhere.headers]
    assert await world.left(moment(at + 1000)) == {}
    assert await world.left(moment(at + 1000), BEN) == {name: 4}


async def test_a_repeated_purge_changes_nothing(world: World) -> None:
    at = now_ms()
    await world.put(letter(world.commit, ANNA, "secret", at), letter(world.commit, BEN, "stays", at))
    await world.purge(moment(at + 1000))
    before = await read(world.bootstrap, world.commit.dead_letter)
    assert await world.purge(moment(at + 1000)) == Purged()
    assert await read(world.bootstrap, world.commit.dead_letter) == before


async def test_copies_of_copies_have_one_mark(world: World) -> None:
    at = now_ms()
    carla = Subject("acme", "carla")
    await world.put(
        letter(world.commit, ANNA, "secret", at),
        letter(world.commit, carla, "also secret", at),
        letter(world.commit, BEN, "stays", at),
    )
    await world.purge(moment(at + 1000))
    await world.purge(moment(at + 1000), carla)
    (found,) = await read(world.bootstrap, world.commit.dead_letter)
    assert [name for name, _ in found.headers].count(COPIED) == 1
    assert found.value == said(BEN, "stays")


async def test_records_written_after_the_request_stay(world: World) -> None:
    at = now_ms()
    await world.put(letter(world.commit, ANNA, "before", at), letter(world.commit, ANNA, "after", at + 5000))
    purged = await world.purge(moment(at + 1000))
    assert purged.removed == purged.copied == {world.commit.dead_letter: 1}
    assert [r.value for r in await read(world.bootstrap, world.commit.dead_letter)] == [said(ANNA, "after")]


async def test_a_dead_letter_has_the_time_of_the_record_that_it_contains(world: World) -> None:
    at = now_ms()
    await world.put(
        *(Stored(world.commit.name, 0, 0, b"acme:ben", said(BEN, "x"), (), at + n * 4000) for n in range(2))
    )
    late = at + 60_000
    await world.put(
        letter(world.commit, ANNA, "said before", late, origin=f"{world.commit.name}/0/0"),
        letter(world.commit, ANNA, "said after", late, origin=f"{world.commit.name}/0/1"),
        letter(world.commit, ANNA, "of an odd origin", late, origin="nonsense"),
    )
    assert await world.left(moment(at + 1000)) == {world.commit.dead_letter: 1}
    await world.purge(moment(at + 1000))
    assert [r.value for r in await read(world.bootstrap, world.commit.dead_letter)] == [
        said(ANNA, "said after"),
        said(ANNA, "of an odd origin"),
    ]


async def test_body_or_key_identifies_the_owner_of_a_dead_letter(world: World) -> None:
    at = now_ms()
    request = world.request.dead_letter
    await world.put(
        Stored(world.commit.dead_letter, 0, 0, b"acme:anna", b'{"user_id": "an', (), at),
        Stored(world.commit.dead_letter, 0, 0, b"some key", said(ANNA, "by body"), (), at),
        Stored(world.commit.dead_letter, 0, 0, b"acme:anna", said(BEN, "her key, his body"), (), at),
        Stored(world.commit.dead_letter, 0, 0, None, b"not json", (), at),
        Stored(request, 0, 0, b"0a1b", said(ANNA, "asked"), (), at),
        Stored(request, 0, 0, b"acme:anna", b"torn", (), at),
    )
    purged = await world.purge(moment(at + 1000))
    assert purged.removed == {world.commit.dead_letter: 2, request: 1}
    assert purged.unreadable == 2
    found = await read(world.bootstrap, world.commit.dead_letter, request)
    assert sorted(r.value or b"" for r in found) == sorted([b"not json", b"torn", said(BEN, "her key, his body")])


async def test_a_kill_between_copying_and_deleting_loses_no_other_record_and_keeps_none_of_the_user(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = now_ms()
    await world.put(*(letter(world.commit, who, who.user_id, at) for who in (BEN, ANNA, BEN)))
    drop = TopicAdmin.drop

    async def killed(self: TopicAdmin, place: TopicPartition, offset: int) -> None:
        if offset:
            raise asyncio.CancelledError
        await drop(self, place, offset)

    with monkeypatch.context() as patched:
        patched.setattr(TopicAdmin, "drop", killed)
        with pytest.raises(asyncio.CancelledError):
            await world.purge(moment(at + 1000))
    between = await read(world.bootstrap, world.commit.dead_letter)
    assert [r.value for r in between].count(said(BEN, "ben")) == 4
    purged = await world.purge(moment(at + 1000))
    assert purged.removed == {world.commit.dead_letter: 1}
    found = await read(world.bootstrap, world.commit.dead_letter)
    assert {r.value for r in found} == {said(BEN, "ben")}
    assert len(found) >= 2
    assert await world.left(moment(at + 1000)) == {}


async def test_a_dead_letter_of_maximum_size_is_copied(world: World) -> None:
    at = now_ms()
    room = DEAD_LETTER_BYTES - 61 - len("acme:ben") - 20
    large = Stored(world.commit.dead_letter, 0, 0, b"acme:ben", b"x" * room, (), at)
    await world.put(large, letter(world.commit, ANNA, "secret", at))
    purged = await world.purge(moment(at + 1000))
    assert purged.removed == purged.copied == {world.commit.dead_letter: 1}
    found = await read(world.bootstrap, world.commit.dead_letter)
    assert [(len(r.value or b""), COPIED in dict(r.headers)) for r in found] == [(room, False)]


async def test_expired_dead_letters_are_not_copied(world: World) -> None:
    at = now_ms()
    await world.put(*(letter(world.commit, who, who.user_id, at) for who in (BEN, ANNA)))
    assert (await world.purge(moment(at + 1000), later=25 * 3600)).copied == {}
    assert await read(world.bootstrap, world.commit.dead_letter) == []


async def test_consumed_turns_and_requests_of_the_user_are_deleted(world: World) -> None:
    at = now_ms()
    for topic, key in ((world.commit, b"acme:anna"), (world.request, b"0a1b")):
        await world.put(
            Stored(topic.name, 0, 0, key, said(ANNA, "secret"), (), at),
            Stored(topic.name, 0, 0, b"other", said(BEN, "read"), (), at),
            Stored(topic.name, 0, 0, b"other", said(BEN, "unread"), (), at),
            Stored(topic.name, 1, 0, b"other", said(BEN, "where she never spoke"), (), at),
        )
        await world.consume(topic, 2)
        await world.consume(topic, 1, partition=1)
    purged = await world.purge(moment(at + 1000))
    assert purged.removed == {world.commit.name: 1, world.request.name: 1}
    assert not purged.waiting
    found = await read(world.bootstrap, world.commit.name, world.request.name)
    assert sorted((r.partition, r.value) for r in found) == sorted(
        [(0, said(BEN, "unread")), (1, said(BEN, "where she never spoke"))] * 2
    )
    assert await world.left(moment(at + 1000)) == {}


@pytest.mark.parametrize("consumed", [0, 1])
async def test_unconsumed_records_delay_the_purge_and_are_not_deleted(world: World, consumed: int) -> None:
    at = now_ms()
    await world.put(
        *(Stored(world.commit.name, 0, 0, b"acme:anna", said(ANNA, f"turn {n}"), (), at + n) for n in range(2))
    )
    if consumed:
        await world.consume(world.commit, consumed)
    purged = await world.purge(moment(at + 1000))
    assert purged.waiting
    assert purged.unconsumed
    assert purged.clear_by == moment(at + 1 + 24 * 3_600_000)
    assert purged.removed == ({world.commit.name: 1} if consumed else {})
    assert await world.left(moment(at + 1000)) == {world.commit.name: 2 - consumed}
    await world.consume(world.commit, 2)
    again = await world.purge(moment(at + 1000))
    assert (again.removed, again.waiting) == ({world.commit.name: 2 - consumed}, False)
    assert await world.left(moment(at + 1000)) == {}


async def test_a_request_with_a_pending_reply_waits_for_it(world: World) -> None:
    at = now_ms()
    await world.put(Stored(world.request.name, 0, 0, b"0a1b", said(ANNA, "secret"), (), at))
    await world.consume(world.request, 1)
    early = await world.purge(moment(at + 1000), later=5)
    assert (early.waiting, early.unconsumed) == (True, False)
    assert early.removed == {world.request.name: 1}
    assert not (await world.purge(moment(at + 1000), later=125)).waiting


async def test_replies_that_nobody_waits_for_are_deleted(world: World) -> None:
    at = now_ms()
    await world.put(
        *(Stored(world.reply.name, 0, 0, b"0a1b", b'{"context": "secret"}', (), at + n * 1000) for n in (0, 30, 59)),
        Stored(world.reply.name, 0, 0, b"0a1b", b'{"context": "of later"}', (), at + 75_000),
        Stored(world.reply.name, 1, 0, b"0a1b", b'{"context": "of later"}', (), at + 75_000),
    )
    asked_at = moment(at + 10_000)
    assert await world.left(asked_at) == {world.reply.name: 3}
    early = await world.purge(asked_at, later=60)
    assert (early.removed, early.waiting, early.unconsumed) == ({world.reply.name: 1}, True, False)
    assert early.clear_by == asked_at + timedelta(seconds=60, hours=1)
    late = await world.purge(asked_at, later=121)
    assert (late.removed, late.waiting) == ({world.reply.name: 2}, False)
    assert {r.value for r in await read(world.bootstrap, world.reply.name)} == {b'{"context": "of later"}'}
    assert await world.left(asked_at) == {}


async def test_apache_kafka_keeps_deleted_bytes_until_retention_ends(world: World) -> None:
    at = now_ms()
    await world.put(letter(world.commit, ANNA, "secret", at))
    purged = await world.purge(moment(at + 1000))
    assert purged.clear_by == (moment(at + 24 * 3_600_000) if await world.keeps_bytes() else None)


async def test_a_refusing_broker_copies_nothing_and_retention_is_named(bootstrap: str) -> None:
    topic = Topic(unique("compacted"), "tenant:user", (), "users", carries_text=True)
    day = 24 * 3_600_000
    await create(bootstrap, topic.name, retention_ms=str(day), segment_ms="600000", cleanup_policy="compact")
    await create(bootstrap, topic.dead_letter, retention_ms=str(day), segment_ms="600000", cleanup_policy="compact")
    world = World(bootstrap, topic, topic, topic)
    at = now_ms()
    await world.put(
        letter(topic, ANNA, "secret", at),
        letter(topic, BEN, "stays", at),
        Stored(topic.name, 0, 0, b"acme:anna", said(ANNA, "turn"), (), at),
    )
    carriers = Carriers({topic: f"{topic.name}.g"}, ())
    await world.consume(topic, 1)
    before = [await read(bootstrap, name) for name in (topic.name, topic.dead_letter)]
    purged = await purge(KafkaAccess(bootstrap), ANNA, moment(at + 1000), carriers=carriers, now=moment(at + 300_000))
    assert (purged.removed, purged.copied, purged.waiting) == ({}, {}, False)
    assert purged.clear_by == datetime.max.replace(tzinfo=UTC)
    assert [await read(bootstrap, name) for name in (topic.name, topic.dead_letter)] == before
    assert await count_left(KafkaAccess(bootstrap), ANNA, moment(at + 1000), carriers=carriers) == {
        topic.name: 1,
        topic.dead_letter: 1,
    }


async def test_a_group_whose_offset_is_below_the_new_start_continues(world: World) -> None:
    at = now_ms()
    dlq = world.commit.dead_letter
    await world.put(letter(world.commit, BEN, "one", at), letter(world.commit, ANNA, "secret", at))
    group = unique("reader")
    async with consuming(world.bootstrap, dlq, group_id=group) as consumer:
        await take(consumer, 1)
        await consumer.commit({TopicPartition(dlq, 0): 1})
    await world.purge(moment(at + 1000))
    async with consuming(world.bootstrap, dlq, group_id=group) as consumer:
        (record,) = await take(consumer, 1)
        assert record.value == said(BEN, "one")
        await consumer.commit()


async def test_missing_topics_are_not_created(bootstrap: str) -> None:
    topic = Topic(unique("absent"), "tenant:user", (), "users", carries_text=True)
    assert await purge(KafkaAccess(bootstrap), ANNA, moment(now_ms()), carriers=Carriers({topic: "g"}, ())) == Purged()
    assert await count_left(KafkaAccess(bootstrap), ANNA, moment(now_ms()), carriers=Carriers({topic: "g"}, ())) == {}
    async with administering(bootstrap) as admin:
        assert topic.name not in await admin.list_topics()


async def test_an_unavailable_broker_causes_a_retry() -> None:
    with pytest.raises(TransientError):
        await purge(KafkaAccess("127.0.0.1:9"), ANNA, moment(now_ms()))
