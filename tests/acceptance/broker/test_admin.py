"""Administration of topics and groups."""

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.acceptance.broker.clients import (
    administering,
    consuming,
    create,
    eventually,
    producing,
    send_all,
    take,
    unique,
)

pytestmark = pytest.mark.kafka

INVALID_TOPIC = 17
TOPIC_ALREADY_EXISTS = 36


async def test_a_created_topic_has_its_partitions_and_retention(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("created"), 5, retention_ms="3600000", retention_bytes="5000000")
    async with administering(bootstrap) as admin:
        (described,) = await admin.describe_topics([topic])
        (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    assert sorted(partition["partition"] for partition in described["partitions"]) == [0, 1, 2, 3, 4]
    configs = {name: value for name, value, *_ in response.resources[0][4]}
    assert (configs["retention.ms"], configs["retention.bytes"]) == ("3600000", "5000000")


async def test_a_duplicate_or_badly_named_topic_is_refused(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("twice"))
    async with administering(bootstrap) as admin:
        again = await admin.create_topics([NewTopic(topic, 1, 1), NewTopic("../etc/passwd", 1, 1)])
    assert {name: code for name, code, *_ in again.topic_errors} == {
        topic: TOPIC_ALREADY_EXISTS,
        "../etc/passwd": INVALID_TOPIC,
    }


async def test_validate_only_creates_nothing(bootstrap: str) -> None:
    topic = unique("validated")
    async with administering(bootstrap) as admin:
        response = await admin.create_topics([NewTopic(topic, 1, 1)], validate_only=True)
        assert response.topic_errors[0][1] == 0
        assert topic not in await admin.list_topics()


async def test_a_deleted_topic_is_gone_and_is_empty_when_created_again(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("deleted"))
    await send_all(bootstrap, topic, [b"old"])
    async with administering(bootstrap) as admin:
        await admin.delete_topics([topic])

        async def gone() -> bool:
            return topic not in await admin.list_topics()

        await eventually(gone, "the topic to go")
    await create(bootstrap, topic)
    await send_all(bootstrap, topic, [b"new"])
    async with consuming(bootstrap, topic) as consumer:
        assert [(record.offset, record.value) for record in await take(consumer, 1)] == [(0, b"new")]


async def test_partitions_can_be_added_to_a_topic(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("grown"), 1)
    async with administering(bootstrap) as admin:
        await admin.create_partitions({topic: NewPartitions(3)})

        async def grown() -> bool:
            return len((await admin.describe_topics([topic]))[0]["partitions"]) == 3

        await eventually(grown, "three partitions")


async def test_the_first_write_creates_a_topic(bootstrap: str) -> None:
    topic = unique("sprung")
    async with producing(bootstrap) as producer:
        assert (await producer.send_and_wait(topic, b"x")).offset == 0


async def test_an_administrator_can_compute_lag(bootstrap: str) -> None:
    topic, group = await create(bootstrap, unique("lag")), unique("group")
    place = TopicPartition(topic, 0)
    await send_all(bootstrap, topic, [b"x"] * 10)
    async with consuming(bootstrap, topic, group_id=group) as consumer, administering(bootstrap) as admin:
        await take(consumer, 4)
        await consumer.commit({place: 4})
        assert group in [name for name, *_ in await admin.list_consumer_groups()]
        offsets = await admin.list_consumer_group_offsets(group)
        assert offsets[place].offset == 4
        described = (await admin.describe_consumer_groups([group]))[0].groups[0]
        assert (described[1], described[2], len(described[5])) == (group, "Stable", 1)
        assert (await consumer.end_offsets([place]))[place] - offsets[place].offset == 6
