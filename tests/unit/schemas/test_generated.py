import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas import topics
from schemas.generate import CONTRACTS
from schemas.generate import documents as make_documents
from schemas.topics import PAYLOADS, PLANNED
from tests.unit.schemas.examples import EXAMPLES, GENERATED

documents = cache(make_documents)
ASYNCAPI: dict[str, Any] = json.loads(documents()["asyncapi.json"])
SCHEMAS = sorted(path for path in documents() if path.endswith(".schema.json"))


def test_the_committed_files_match_the_models() -> None:
    differing = [p for p, content in documents().items() if (GENERATED / p).read_bytes().decode() != content]
    assert differing == []


def test_no_file_of_a_removed_contract_remains() -> None:
    there = {path.relative_to(GENERATED).as_posix() for path in GENERATED.rglob("*") if path.is_file()}
    assert there - {"openapi.json"} == set(documents())


def test_documents_are_deterministic_and_formatted() -> None:
    assert make_documents() == documents()
    for content in documents().values():
        assert content == json.dumps(json.loads(content), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def test_there_is_a_json_schema_of_every_contract_and_event() -> None:
    expected = {f"json/{name}.schema.json" for name in CONTRACTS}
    assert set(SCHEMAS) == expected | {f"json/events/{name}.schema.json" for name in PAYLOADS}


@pytest.mark.parametrize("path", SCHEMAS)
def test_a_json_schema_is_valid_and_complete(path: str) -> None:
    schema = json.loads(documents()[path])
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].startswith("urn:smartbrain:")
    assert schema["description"]
    assert list(_find_broken(schema)) == []


def test_a_json_schema_refuses_another_event_type() -> None:
    schema = json.loads(documents()["json/events/turn.committed.schema.json"])
    assert not Draft202012Validator(schema).is_valid(
        {**EXAMPLES["events/turn.committed"], "event_type": "turn.outcome"}
    )
    assert not Draft202012Validator(schema).is_valid({**EXAMPLES["events/turn.committed"], "payload": {}})


def test_every_reference_in_asyncapi_resolves() -> None:
    assert ASYNCAPI["asyncapi"] == "3.0.0"
    assert list(_find_broken(ASYNCAPI)) == []


def _find_broken(document: dict[str, Any]) -> Iterator[str]:
    for ref in _refs(document):
        place: Any = document
        for part in ref.removeprefix("#/").split("/"):
            place = place.get(part) if isinstance(place, dict) else None
        if place is None or not ref.startswith("#/"):
            yield ref


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _refs(each)
    elif isinstance(value, list):
        for each in value:
            yield from _refs(each)


def retention_of(hours: int, topic: topics.Topic) -> int:
    """The retention with which the topic is created, in ms."""
    return topics.times(hours, carries_text=topic.carries_text)["retention.ms"]


def test_every_topic_and_its_dead_letters_are_channels() -> None:
    channels = {c["address"]: c for c in ASYNCAPI["channels"].values()}
    for topic in topics.TOPICS:
        channel, dead = channels[topic.name], channels[topic.dead_letter]
        kafka = channel["bindings"]["kafka"]
        assert list(channel["messages"]) == sorted(topic.messages)
        assert (kafka["topic"], kafka["partitions"]) == (topic.name, topic.partitions)
        assert kafka["topicConfiguration"]["retention.ms"] == retention_of(topic.retention_hours, topic)
        for who in (topic.producer, *topic.readers, topic.key):
            assert who in channel["description"]
        hours = topics.DEAD_LETTER_TEXT_HOURS if topic.carries_text else topics.DEAD_LETTER_HOURS
        assert dead["bindings"]["kafka"]["topicConfiguration"]["retention.ms"] == retention_of(hours, topic)
        assert list(dead["messages"]) == ["DeadLetter"]
    dead_letters = {topic.dead_letter for topic in topics.TOPICS}
    assert len(channels) == len(topics.TOPICS) + len(dead_letters) + 1


def test_an_operation_names_messages_of_its_own_channel() -> None:
    for operation in ASYNCAPI["operations"].values():
        assert operation["action"] in ("send", "receive")
        for part in (operation, operation.get("reply")):
            if part:
                assert part["messages"]
                assert all(m["$ref"].startswith(part["channel"]["$ref"] + "/messages/") for m in part["messages"])


def test_every_topic_is_sent_received_or_planned() -> None:
    used = {operation["channel"]["$ref"].rpartition("/")[2] for operation in ASYNCAPI["operations"].values()}
    planned = {name for name, channel in ASYNCAPI["channels"].items() if set(channel["messages"]) <= PLANNED.keys()}
    assert planned == {"degrade", "sli"}
    assert used == {n for n in ASYNCAPI["channels"] if not n.endswith(".dlq") and n != "reply"} - planned


@pytest.mark.parametrize("message", PLANNED)
def test_a_topic_without_producer_is_marked(message: str) -> None:
    told = ASYNCAPI["components"]["messages"][message]
    assert told["tags"] == [{"name": "planned"}]
    assert PLANNED[message] in told["description"]
    (channel,) = [each for each in ASYNCAPI["channels"].values() if message in each["messages"]]
    assert channel["description"].startswith("Planned, nobody writes it yet: ")


@pytest.mark.parametrize(
    ("operation", "answers"),
    [
        ("compose.request.receive", ["ContextPackage", "ErrorReply"]),
        ("turn.commit.receive", ["CommitResult", "ErrorReply"]),
    ],
)
def test_a_request_names_its_reply_channel(operation: str, answers: list[str]) -> None:
    reply = ASYNCAPI["operations"][operation]["reply"]
    assert reply["address"]["location"] == "$message.header#/reply_to"
    assert [message["$ref"].rpartition("/")[2] for message in reply["messages"]] == answers
    assert ASYNCAPI["channels"]["reply"]["address"] is None


@pytest.mark.parametrize("name", ["ComposeRequest", "TurnEvents"])
def test_a_request_has_its_headers(name: str) -> None:
    message = ASYNCAPI["components"]["messages"][name]
    assert {"reply_to", "correlation_id", "deadline_ms"} <= set(message["headers"]["properties"])
    assert message["correlationId"]["location"] == "$message.header#/correlation_id"


@pytest.mark.parametrize("name", [name for topic in topics.TOPICS for name in topic.messages])
def test_an_example_matches_its_payload_in_asyncapi(name: str) -> None:
    payload = ASYNCAPI["components"]["messages"][name]["payload"]
    schema = {"components": ASYNCAPI["components"], **payload}
    example = EXAMPLES[f"events/{name}" if name in PAYLOADS else name]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(example)] == []
