"""The Kafka access control lists that each service needs, derived from the registry of topics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.topics import TOPICS, TURN_COMMIT, USERS, Topic
from shared.settings import SERVICES

Operation = Literal["Read", "Write", "Create", "Delete", "Describe", "DescribeConfigs"]
Kind = Literal["topic", "group"]
CLIENT = "client"
"""The user of clients that use SmartBrain over Kafka and read its events."""
OPERATOR = "operator"
"""The user that runs `migrate`, `up` and `restore`."""
PRINCIPAL = "User:smartbrain-{service}"


@dataclass(frozen=True)
class Grant:
    """Rights of a service on topics or groups."""

    service: str
    operations: tuple[Operation, ...]
    kind: Kind
    names: tuple[str, ...]

    def principal(self, pattern: str) -> str:
        """The Kafka user of the service."""
        return pattern.replace("{service}", self.service)

    def command(self, pattern: str) -> str:
        """The command line that grants it."""
        words = ["kafka-acls.sh", "--bootstrap-server", '"$SMARTBRAIN_KAFKA_BOOTSTRAP"']
        words += ["--command-config", "admin.properties", "--add", "--allow-principal", f"'{self.principal(pattern)}'"]
        words += [word for each in self.operations for word in ("--operation", each)]
        words += [word for each in self.names for word in (f"--{self.kind}", each)]
        return " ".join(words)


def list_grants(topics: Sequence[Topic] = TOPICS) -> list[Grant]:
    """The grants of every service, of clients and of the operator; a service without needs is omitted."""
    grants = [grant for service in SERVICES for grant in _of_service(service, topics)]
    return [grant for grant in (*grants, *_of_client(topics), *_of_operator(topics)) if grant.names]


def _of_service(service: str, topics: Sequence[Topic]) -> Iterator[Grant]:
    inputs = [topic for topic in topics if service in topic.readers]
    yield Grant(service, ("Read", "Describe"), "topic", names(inputs))
    groups = tuple(each.group for topic in topics for each in topic.consumers if each.service == service)
    yield Grant(service, ("Read", "Describe"), "group", groups)
    outputs = [topic for topic in topics if service in writers(topic)]
    yield Grant(service, ("Write", "Describe"), "topic", (*names(outputs), *dead_letters(inputs)))
    if service == "relay":
        yield from _create(service, topics)
        # a client's dead letter returns to its topic
        yield Grant(service, ("Read", "Describe"), "topic", dead_letters([t for t in topics if t is TURN_COMMIT]))
    if service == "compose":  # which lists and shows them
        yield Grant(service, ("Read", "Describe"), "topic", dead_letters(topics))
    if service == "erasure":
        yield from _purge(service, [topic for topic in topics if topic.carries_text])


def _purge(service: str, topics: Sequence[Topic]) -> Iterator[Grant]:
    """Deletes a user's records, writes other users' dead letters again, and reads the offsets of groups."""
    both = (*names(topics), *dead_letters(topics))
    yield Grant(service, ("Read", "Delete", "Describe", "DescribeConfigs"), "topic", both)
    yield Grant(service, ("Write", "Describe"), "topic", dead_letters(topics))
    groups = tuple(each.group for topic in topics for each in topic.consumers if each.group)
    yield Grant(service, ("Describe",), "group", groups)


def _create(service: str, topics: Sequence[Topic]) -> Iterator[Grant]:
    yield Grant(service, ("Create", "Describe"), "topic", (*names(topics), *dead_letters(topics)))


def _of_client(topics: Sequence[Topic]) -> Iterator[Grant]:
    sent = [topic for topic in topics if USERS.service in topic.producer]
    yield Grant(CLIENT, ("Write", "Describe"), "topic", names(sent))
    yield Grant(CLIENT, ("Read", "Describe"), "topic", names([topic for topic in topics if USERS in topic.consumers]))


def _of_operator(topics: Sequence[Topic]) -> Iterator[Grant]:
    yield from _create(OPERATOR, topics)
    erasures = [topic for topic in topics if "erasure" in topic.readers]
    yield Grant(OPERATOR, ("Read", "Describe"), "topic", names(erasures))


def writers(topic: Topic) -> tuple[str, ...]:
    """The services that send to it: a reply is sent by its own service, all else by the relay from the outbox."""
    services = tuple(each for each in topic.producer.split(", ") if each != USERS.service)
    return services if topic.key == "correlation_id" or not services else ("relay",)


def names(topics: Sequence[Topic]) -> tuple[str, ...]:
    """The topics with these names."""
    return tuple(topic.name for topic in topics)


def dead_letters(topics: Sequence[Topic]) -> tuple[str, ...]:
    """The names of their dead-letter topics."""
    return tuple(dict.fromkeys(topic.dead_letter for topic in topics))
