"""The broker is unavailable, or its topics are recreated: accepted turns and requests are not lost."""

import asyncio
from dataclasses import replace
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient

from schemas.topics import COMPOSE_REQUEST
from shared.bus.access import KafkaAccess
from shared.bus.fetching import UnreadableRecord
from shared.bus.requests import Replier, Request
from shared.bus.topics import ensure_topics
from shared.embedded.broker_process import EmbeddedBroker
from tests.system.databases import Databases
from tests.system.kafka import Stored, publish
from tests.system.person import Person, somebody
from tests.system.running import policy_file, running, settings_for
from tests.system.wait import wait_for


async def test_turns_accepted_without_the_broker_are_derived_when_it_returns(
    databases: Databases, tmp_path: Path
) -> None:
    policy = policy_file(tmp_path, delivery={"redrive_after_s": 3600})
    with EmbeddedBroker(tmp_path / "broker") as broker:
        await ensure_topics(KafkaAccess(broker.bootstrap))
        async with running(settings_for(databases.fresh(), broker.bootstrap, policy=policy)) as system:
            people = [Person(system) for _ in range(5)]
            await people[0].say("I like green tea.")
            await asyncio.to_thread(broker.kill)
            for person in people:
                await person.commit("I live in Oslo.")
                assert "Oslo" in str(await person.compose("Where do I live?", session="s1"))
            await asyncio.to_thread(broker.start)
            assert await system.settled() == len(people) + 1
            assert [len(await person.contents()) for person in people] == [2, 1, 1, 1, 1]


async def test_requests_are_answered_after_their_topic_was_recreated_with_fewer_partitions(
    tmp_path: Path,
) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        topic = replace(COMPOSE_REQUEST, name=f"smartbrain.test.{somebody()}.v1")
        heard: set[bytes] = set()

        async def answer(request: Request) -> bytes:
            heard.add(request.value)
            return request.value

        async def forget(_: UnreadableRecord) -> None: ...

        async def asked(value: bytes) -> bool:
            await publish(broker.bootstrap, [Stored(topic.name, key=value, value=value)])
            return value in heard

        await ensure_topics(KafkaAccess(broker.bootstrap), [topic])
        replier = Replier(KafkaAccess(broker.bootstrap), topic, topic.name, answer, forget)
        await replier.start()
        for n in range(40):
            await asked(b"%d" % n)
        await wait_for(lambda: len(heard) == 40, "the requests are answered")
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
        await admin.start()
        await admin.delete_topics([topic.name])
        await wait_for(lambda: _is_deleted(admin, topic.name), "the topic is gone")
        await ensure_topics(KafkaAccess(broker.bootstrap), [replace(topic, partitions=1)])
        await wait_for(lambda: asked(b"again"), "a request after that is answered")
        await admin.close()
        async with asyncio.timeout(60):
            await replier.stop()


async def _is_deleted(admin: AIOKafkaAdminClient, name: str) -> bool:
    return name not in await admin.list_topics()
