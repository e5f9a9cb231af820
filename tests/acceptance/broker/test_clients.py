"""Third-party clients of the embedded broker: kcat, confluent-kafka, Apache Kafka tools, and outdated requests."""

import asyncio
import os
import shutil
import struct
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from aiokafka.protocol import metadata
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from shared.embedded.broker_process import EmbeddedBroker
from tests.acceptance.broker.clients import create, send_all, unique
from tests.acceptance.broker.wire import CODECS
from tests.kafka.apache_kafka import MEMORY, QUIET, jars_at_hand
from tests.long import LONG

pytestmark = pytest.mark.kafka
SECONDS = 60
COUNT = 50


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """host:port of an embedded broker, also when the other tests use another broker."""
    with EmbeddedBroker(tmp_path_factory.mktemp("clients") / "data") as broker:
        yield broker.bootstrap


def confluent(address: str, topic: str, codec: str) -> None:
    """A consumer group receives the messages of an idempotent producer and resumes at its committed offset."""
    producer = Producer({"bootstrap.servers": address, "compression.type": codec, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce(topic, b"value %d" % number * 20, key=b"key", headers=[("h", b"v"), ("none", None)])
    assert producer.flush(SECONDS) == 0
    options = {"bootstrap.servers": address, "group.id": unique("group"), "auto.offset.reset": "earliest"}
    for expected in (range(COUNT // 2), range(COUNT // 2, COUNT)):
        consumer = Consumer({**options, "enable.auto.commit": False})
        consumer.subscribe([topic])
        for number in expected:
            message = _next(consumer)
            assert (message.value(), message.key()) == (b"value %d" % number * 20, b"key")
            assert message.headers() == [("h", b"v"), ("none", None)]
        consumer.commit(asynchronous=False)
        assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=SECONDS) == (0, COUNT)
        (since,) = consumer.offsets_for_times([TopicPartition(topic, 0, 1)], timeout=SECONDS)
        assert since.offset == 0
        consumer.close()


def _next(consumer: Consumer) -> Message:
    message = consumer.poll(SECONDS)
    assert message is not None
    assert not message.error(), message.error()
    return message


@pytest.mark.parametrize("codec", ["none", *CODECS])
async def test_confluent_kafka_writes_and_reads(address: str, codec: str) -> None:
    topic = await create(address, unique("confluent"))
    await asyncio.to_thread(confluent, address, topic, codec)


def test_confluent_kafka_creates_and_describes_topics(address: str) -> None:
    admin, name = AdminClient({"bootstrap.servers": address}), unique("admin")
    admin.create_topics([NewTopic(name, 3, 1, config={"retention.ms": "60000"})])[name].result(SECONDS)
    assert len(admin.list_topics(name, timeout=SECONDS).topics[name].partitions) == 3
    (asked,) = admin.describe_configs([ConfigResource("topic", name)]).values()
    assert asked.result(SECONDS)["retention.ms"].value == "60000"
    assert isinstance(admin.list_consumer_groups().result(SECONDS).valid, list)
    admin.delete_topics([name])[name].result(SECONDS)
    assert name not in admin.list_topics(timeout=SECONDS).topics


def run(command: list[str], text: str = "") -> str:
    """The output of the program, which succeeded."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS * 2)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


NUMBERS = "".join(f"{number}\n" for number in range(COUNT))


async def test_kcat_writes_reads_and_lists(address: str) -> None:
    kcat = shutil.which("kcat") or shutil.which("kafkacat")
    if kcat is None:
        pytest.skip("kcat is not installed (Debian: kcat)")
    topic = await create(address, unique("kcat"))
    for codec in ("none", *CODECS):
        await asyncio.to_thread(run, [kcat, "-b", address, "-P", "-t", topic, "-z", codec, "-H", "h=v"], NUMBERS)
    read = await asyncio.to_thread(run, [kcat, "-b", address, "-C", "-t", topic, "-e", "-q"])
    assert read == NUMBERS * 5
    count, earliest = str(5 * COUNT), ["-X", "auto.offset.reset=earliest"]
    grouped = [kcat, "-b", address, "-q", "-c", count, *earliest, "-G", unique("group"), topic]
    assert await asyncio.to_thread(run, grouped) == NUMBERS * 5
    assert f'topic "{topic}" with 1 partitions' in await asyncio.to_thread(run, [kcat, "-b", address, "-L"])
    assert count in await asyncio.to_thread(run, [kcat, "-b", address, "-Q", "-t", f"{topic}:0:-1"])


@pytest.fixture(scope="module")
def java() -> list[str]:
    """Runs a tool of Apache Kafka. Skipped if it is unavailable or too slow for a short run."""
    if not LONG and not os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"):
        pytest.skip("a minute of Java: make test-kafka and make test-long run it")
    program, jars = shutil.which("java"), jars_at_hand()
    if program is None or jars is None:
        pytest.skip("Java 17 or the tools of Apache Kafka are missing (make test-kafka fetches them)")
    return [program, *MEMORY, *QUIET, "-cp", f"{jars}/*"]


def apache(java: list[str], name: str, address: str, *arguments: str, text: str = "") -> str:
    """The output of the tool."""
    return run([*java, f"org.apache.kafka.tools.{name}", "--bootstrap-server", address, *arguments], text)


async def test_the_apache_kafka_tools_write_read_and_describe(address: str, java: list[str], tmp_path: Path) -> None:
    topic, group = unique("java"), unique("group")
    tools = "TopicCommand"
    await asyncio.to_thread(apache, java, tools, address, "--create", "--topic", topic, "--partitions", "1")
    assert topic in await asyncio.to_thread(apache, java, tools, address, "--list")
    assert "PartitionCount: 1" in await asyncio.to_thread(apache, java, tools, address, "--describe", "--topic", topic)
    for codec in ("none", *CODECS):
        packed = ("--topic", topic, "--compression-codec", codec)
        await asyncio.to_thread(apache, java, "ConsoleProducer", address, *packed, text=NUMBERS)
    count = str(5 * COUNT)
    reading = ("--topic", topic, "--group", group, "--from-beginning", "--max-messages", count)
    assert await asyncio.to_thread(apache, java, "consumer.ConsoleConsumer", address, *reading) == NUMBERS * 5
    looking = ("--describe", "--group", group)
    told = await asyncio.to_thread(apache, java, "consumer.group.ConsumerGroupCommand", address, *looking)
    assert [line.split()[3:6] for line in told.splitlines() if topic in line] == [[count, count, "0"]]
    assert f"{topic}:0:{count}" in await asyncio.to_thread(apache, java, "GetOffsetShell", address, "--topic", topic)
    await asyncio.to_thread(apache, java, tools, address, "--delete", "--topic", topic)


async def send_raw_request(address: str, request: Any) -> Any:
    """The response to one request of an outdated version."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    body = struct.pack(">hhih", request.API_KEY, request.API_VERSION, 7, 3) + b"old" + request.encode()
    writer.write(struct.pack(">i", len(body)) + body)
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    answer = await reader.readexactly(length)
    writer.close()
    return request.RESPONSE_TYPE.decode(answer[4:])


@pytest.mark.parametrize("version", range(6))
async def test_every_metadata_version_is_answered(address: str, version: int) -> None:
    topic = await create(address, unique("metadata"), 2)
    await send_all(address, topic, [b"x"])
    kind: Any = getattr(metadata, f"MetadataRequest_v{version}")
    more = (False,) if version >= 4 else ()
    for asked in ([topic], [] if version == 0 else None):
        told = await send_raw_request(address, kind(asked, *more))
        assert [broker[1:3] for broker in told.brokers] == [(address.partition(":")[0], int(address.partition(":")[2]))]
        (found,) = [each for each in told.topics if each[1] == topic]
        assert sorted(partition[1:3] for partition in found[-1]) == [(0, 1), (1, 1)]
    assert version < 1 or (await send_raw_request(address, kind([], *more))).topics == []
