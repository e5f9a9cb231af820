"""The access control lists follow from the registry of topics."""

import json
import shlex

import pytest
from typer.testing import CliRunner

from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, ERASURE_REQUESTED, TOPICS, TURN_COMMIT, Topic
from services.cli import app
from services.erasure.topics.purge import CARRIERS
from shared.bus.acls import list_grants
from shared.settings import SERVICES

ALLOWED = {
    (grant.service, operation, grant.kind, name)
    for grant in list_grants()
    for operation in grant.operations
    for name in grant.names
}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_readers_of_a_topic_may_read_it_and_write_dead_letters(topic: Topic) -> None:
    for consumer in topic.consumers:
        if consumer.service not in SERVICES:
            continue
        assert (consumer.service, "Read", "topic", topic.name) in ALLOWED
        assert (consumer.service, "Read", "group", consumer.group) in ALLOWED
        assert (consumer.service, "Write", "topic", topic.dead_letter) in ALLOWED


def test_only_the_relay_writes_events_and_only_compose_writes_replies() -> None:
    for topic in TOPICS:
        writing = {service for service, operation, _, name in ALLOWED if (operation, name) == ("Write", topic.name)}
        if topic is COMPOSE_REPLY:
            assert writing == {"compose"}
        elif topic is COMPOSE_REQUEST:
            assert writing == {"client"}
        else:
            assert writing - {"client"} == {"relay"}, topic.name
            assert ("client" in writing) == (topic is TURN_COMMIT)


def test_erasure_may_delete_records_of_text_topics_only() -> None:
    text = {topic.name for topic in CARRIERS.topics} | {topic.dead_letter for topic in CARRIERS.topics}
    deleting = {(service, name) for service, operation, _, name in ALLOWED if operation == "Delete"}
    assert deleting == {("erasure", name) for name in text}
    for topic in CARRIERS.inbound:
        assert ("erasure", "Describe", "group", topic.group_of("compose")) in ALLOWED


def test_the_operator_creates_every_topic_and_reads_the_erasures() -> None:
    made = {name for service, operation, _, name in ALLOWED if (service, operation) == ("operator", "Create")}
    assert made == {name for topic in TOPICS for name in (topic.name, topic.dead_letter)}
    assert ("operator", "Read", "topic", ERASURE_REQUESTED.name) in ALLOWED


def test_the_command_prints_one_kafka_line_per_grant_with_the_given_principal() -> None:
    plain = CliRunner().invoke(app, ["topics", "--acls", "--principal", "User:CN={service},O=brain"])
    assert plain.exit_code == 0
    lines = [line for line in plain.stdout.splitlines() if not line.startswith("#")]
    assert len(lines) == len(list_grants())
    words = shlex.split(lines[0])
    assert words[0] == "kafka-acls.sh"
    assert words[words.index("--allow-principal") + 1] == "User:CN=compose,O=brain"
    told = json.loads(CliRunner().invoke(app, ["topics", "--acls", "--json"]).stdout)
    assert [each["service"] for each in told] == [each.service for each in list_grants()]
    assert told[0]["principal"] == "User:smartbrain-compose"
    assert told[0]["topic"] == list(list_grants()[0].names)


def test_the_topics_are_listed() -> None:
    told = json.loads(CliRunner().invoke(app, ["topics", "--json"]).stdout)
    assert [each["name"] for each in told] == [topic.name for topic in TOPICS]
    shown = CliRunner().invoke(app, ["topics"]).stdout
    assert all(topic.name in shown for topic in TOPICS)
