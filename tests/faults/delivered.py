"""The broker delivers unreadable records, repeats records, or changes their order."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from schemas.topics import COMPOSE_REQUEST, TOPICS
from tests.faults.judge import Figures
from tests.faults.load import Codec, Load
from tests.faults.rig import Rig
from tests.long import LONG, often
from tests.system.kafka import GROUPS, QUICK, Stored, publish, read

Check = Callable[[Figures], Awaitable[None]]
CODECS: tuple[Codec, ...] = ("gzip", "snappy", "lz4", "zstd")
RUBBISH = (
    b"",
    b"{",
    b"[]",
    b"\xff\xfe",
    b"null",
    b'{"event_type": "turn.committed"}',
    b'{"event_id": "1"}',
    b'{"tenant_id": "faults"' + b" " * 200_000,
)
SHARE = 0.01 if LONG else 0.1
"""The share of repeated deliveries: one in a hundred is too few for a short run."""


async def poison(rig: Rig, load: Load, dice: random.Random) -> Check:
    """Unreadable records of every kind in every topic; the check: each is set aside once, and no consumer stalls."""
    mark = f"poison-{uuid4().hex}".encode()
    for _ in range(often(5, short=1)):
        for topic in dice.sample(TOPICS, len(TOPICS)):
            await publish(rig.bootstrap, [Stored(topic.name, key=mark, value=value) for value in RUBBISH])
        await load.reach(4)

    async def check(figures: Figures) -> None:
        consumed = [topic for topic in TOPICS if any(each.group for each in topic.consumers)]
        sent = Counter(topic.dead_letter for topic in consumed if topic is not COMPOSE_REQUEST)
        buried = await read(rig.bootstrap, *sent)
        found = Counter(record.topic for record in buried if record.key == mark)
        for name, topics in sent.items():
            if found[name] != topics * len(RUBBISH) * often(5, short=1):
                figures.problems.append(f"{name} holds {found[name]} of the poison")

    return check


async def compress(rig: Rig, load: Load, dice: random.Random) -> Check:
    """Turns in every codec, and all worker events repeated."""
    del dice
    await load.reach(often(200, short=10))
    heard = await read(rig.bootstrap, *GROUPS)
    for codec in CODECS:
        producer = AIOKafkaProducer(bootstrap_servers=rig.bootstrap, compression_type=codec, linger_ms=20)
        await producer.start()
        for record in heard[-often(2000, short=60) :]:
            await producer.send(record.topic, record.value, key=record.key, headers=list(record.headers))
        await producer.stop()

    async def check(figures: Figures) -> None:
        used = {person.codec for person in load.people if person.accepted}
        figures.problems += [f"no turn came in {codec}" for codec in CODECS if codec not in used]

    return check


async def duplicate(rig: Rig, load: Load, dice: random.Random) -> Check:
    """Repeats a share of all deliveries later and in another order while the load continues."""
    consumer = AIOKafkaConsumer(bootstrap_servers=rig.bootstrap, enable_auto_commit=False, **QUICK)
    await consumer.start()
    heard = again = 0
    try:
        places = [TopicPartition(t, n) for t in GROUPS for n in await consumer._client._wait_on_metadata(t)]
        consumer.assign(places)
        await consumer.seek_to_end(*places)
        until = asyncio.get_running_loop().time() + often(120, short=6)
        kept: list[Stored] = []
        while asyncio.get_running_loop().time() < until:
            for records in (await consumer.getmany(timeout_ms=200)).values():
                heard += len(records)
                kept += [
                    Stored(r.topic, key=r.key, value=r.value, headers=tuple(r.headers))
                    for r in records
                    if dice.random() < SHARE
                ]
            if len(kept) >= 5:
                dice.shuffle(kept)
                await publish(rig.bootstrap, kept)
                again, kept = again + len(kept), []
    finally:
        await consumer.stop()

    async def check(figures: Figures) -> None:
        if not again:
            figures.problems.append(f"nothing came again of {heard} deliveries")

    return check
