"""Creates the topics of `schemas.topics` with their partitions and retention."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

from collections.abc import Iterable, Iterator, Sequence

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.topics import (
    DEAD_LETTER_BYTES,
    DEAD_LETTER_HOURS,
    DEAD_LETTER_PARTITIONS,
    DEAD_LETTER_TEXT_HOURS,
    TOPICS,
    Topic,
    times,
)
from shared.bus.access import KafkaAccess
from shared.errors import TransientError
from shared.telemetry import logger

_EXISTS = TopicAlreadyExistsError.errno


async def ensure_topics(kafka: KafkaAccess, topics: Sequence[Topic] = TOPICS) -> list[str]:
    """Creates missing topics; their names. Existing ones are not changed."""
    admin = AIOKafkaAdminClient(**kafka.make_arguments())
    try:
        await admin.start()
        have = set(await admin.list_topics())
        await _warn_of_few(admin, [topic for topic in topics if topic.name in have])
        copies = min(3, len(admin._client.cluster.brokers()))  # pyright: ignore # no public way to count brokers
        missing = [new for new in list_wanted(topics, copies) if new.name not in have]
        if not missing:
            return []
        reply = await admin.create_topics(missing)
        errors: list[tuple[str, int, str | None]] = reply.topic_errors  # pyright: ignore[reportAttributeAccessIssue] # untyped protocol struct
        for name, code, *_ in errors:
            if code not in (0, _EXISTS):
                raise for_code(code)(name)
    except KafkaError as error:
        raise TransientError(f"topics: {error}") from error
    finally:
        await admin.close()
    names = [str(new.name) for new in missing]
    logger().info("topics_created", count=len(names))
    return names


async def _warn_of_few(admin: AIOKafkaAdminClient, topics: Sequence[Topic]) -> None:
    """Logs a topic with fewer partitions than declared, which the broker itself or an administrator created."""
    if not topics:
        return
    for described in await admin.describe_topics([topic.name for topic in topics]):
        wanted = next(topic.partitions for topic in topics if topic.name == described["topic"])
        if described["partitions"] and len(described["partitions"]) < wanted:
            logger().warning(
                "topic_has_few_partitions",
                topic=described["topic"],
                partitions=len(described["partitions"]),
                wanted=wanted,
            )


def list_wanted(topics: Iterable[Topic], copies: int) -> Iterator[NewTopic]:
    for topic in topics:
        yield make_topic(
            topic.name, topic.partitions, times(topic.retention_hours, carries_text=topic.carries_text), copies
        )
        if topic.ahead_of:
            continue
        hours = DEAD_LETTER_TEXT_HOURS if topic.carries_text else DEAD_LETTER_HOURS
        configs = {**times(hours, carries_text=topic.carries_text), "max.message.bytes": DEAD_LETTER_BYTES}
        yield make_topic(topic.dead_letter, DEAD_LETTER_PARTITIONS, configs, copies)


def make_topic(name: str, partitions: int, numbers: dict[str, int], copies: int) -> NewTopic:
    configs = {"cleanup.policy": "delete", **{key: str(number) for key, number in numbers.items()}}
    return NewTopic(name, partitions, copies, topic_configs=configs)
