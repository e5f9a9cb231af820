from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, get_args, get_origin
from uuid import UUID

import pytest
from pydantic import BaseModel

from schemas.envelope import Envelope
from schemas.generate import CONTRACTS
from schemas.topics import (
    AHEAD,
    DEAD_LETTER_HOURS,
    DEAD_LETTER_TEXT_HOURS,
    HOUR_MS,
    PAYLOADS,
    SWEEP_MS,
    TOPICS,
    TURN_COMMITTED,
    Topic,
    name_dead_letter,
    times,
)
from tests.unit.schemas.examples import EXAMPLES

CODES = {
    "Written.change": "past tense of a change",
    "Conflict.kind": "action of the rules",
    "SummaryNote.reason": "trigger of the summary",
    "SummaryNote.model_id": "name of a model",
    "SummaryNote.notes": "codes",
    "ObservationRecorded.detector": "name of a detector",
    "ObservationRecorded.pattern": "name of a pattern",
    "TurnCommitted.content_hashes": "sha256",
    "MemoryWriteRejected.reason": "code",
    "EvolutionBlockedByErasure.reason": "code",
    "DecisionEvent.request_id": "id",
    "DecisionEvent.counts": "numbers by code",
    "DecisionEvent.experiment": "name of an experiment",
    "ErasureRequested.session_ids": "ids",
    "ErasureRequested.retention_policy": "name of a policy",
    "DeletionEvent.from_state": "state",
    "DeletionEvent.to_state": "state",
    "DeletionEvent.store": "name of a table or store",
    "DeletionEvent.error_code": "code",
    "DegradeEvent.component": "name of a dependency",
    "DegradeEvent.reason": "code",
    "DegradeEvent.scope": "code",
    "SliSample.metric": "name of a metric",
    "SliSample.window": "duration",
    "PolicyUpdated.version": "version",
    "PolicyUpdated.diff": "settings before and after",
    "ResourceIngestRequested.uri_hash": "sha256",
    "TurnOutcome.retention_explain": "spans and reasons, never words",
    "Envelope.event_type": "name of an event",
    "Envelope.idempotency_key": "ids",
    "Envelope.trace_id": "id",
    "Envelope.tenant_id": "id",
    "Envelope.user_id": "id",
    "Envelope.session_id": "id",
    "Envelope.policy_version": "version",
    "Envelope.payload": "one of PAYLOADS",
}
"""Event fields whose type permits text, and their actual content; a new one needs a justification here."""
TEXTUAL = {
    "text",
    "content",
    "message",
    "messages",
    "snippet",
    "title",
    "summary_text",
    "value",
    "args",
    "result",
    "query",
}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_message_of_a_topic_is_a_model_with_an_example(topic: Topic) -> None:
    assert topic.messages
    for name in topic.messages:
        assert (f"events/{name}" if name in PAYLOADS else name) in EXAMPLES
        assert name in PAYLOADS or name in CONTRACTS


def test_every_event_type_has_exactly_one_topic() -> None:
    own = [topic for topic in TOPICS if topic.ahead_of is None]
    counted = Counter(name for topic in own for name in topic.messages if name not in CONTRACTS)
    assert counted == dict.fromkeys(PAYLOADS, 1)


def test_names_are_unique_and_versioned() -> None:
    names = [name for topic in TOPICS for name in (topic.name, *([] if topic.ahead_of else [topic.dead_letter]))]
    assert len(set(names)) == len(names)
    assert all(topic.name.startswith("smartbrain.") and topic.name.endswith(".v1") for topic in TOPICS)


def test_a_topic_has_partitions_retention_producers_and_consumers() -> None:
    for topic in TOPICS:
        assert topic.partitions > 0
        assert topic.retention_hours > 0
        assert topic.producer
        assert topic.consumers


def test_every_service_that_reads_a_topic_has_its_own_group() -> None:
    consumers = [each for topic in TOPICS for each in topic.consumers if each.service != "users"]
    assert len({each.group for each in consumers}) == len(consumers)
    assert all(each.group.startswith(f"smartbrain-{each.service}") for each in consumers)
    with pytest.raises(ValueError, match="not read by librarian"):
        TURN_COMMITTED.group_of("librarian")


def test_a_fast_topic_has_the_content_consumers_and_dead_letters_of_its_ordinary_topic() -> None:
    ahead = {topic.name: topic for topic in TOPICS if topic.ahead_of}
    assert {topic.noun for topic in ahead.values()} == {"turn.ahead", "observation.ahead", "analysis.ahead"}
    for topic in ahead.values():
        other = topic.ahead_of
        assert other
        assert AHEAD[other.name] is topic
        assert (topic.carries, topic.key, topic.partitions) == (other.carries, other.key, other.partitions)
        assert set(topic.readers) == set(other.readers) - {"users"}
        assert topic.dead_letter == other.dead_letter == name_dead_letter(topic.name)
    assert name_dead_letter("elsewhere") == "elsewhere.dlq"


def test_topics_with_text_and_their_dead_letters_have_hours_of_retention() -> None:
    carrying = [topic for topic in TOPICS if topic.carries_text]
    assert {message for topic in carrying for message in topic.messages} & set(PAYLOADS) == set()
    assert max(topic.retention_hours for topic in carrying) <= 24
    assert DEAD_LETTER_TEXT_HOURS <= 24 < DEAD_LETTER_HOURS


@pytest.mark.parametrize("hours", sorted({topic.retention_hours for topic in TOPICS} | {DEAD_LETTER_TEXT_HOURS}))
def test_text_leaves_the_disk_within_its_hours_although_kafka_deletes_only_closed_segments(hours: int) -> None:
    given = times(hours, carries_text=True)
    assert given["retention.ms"] + given["segment.ms"] + SWEEP_MS == hours * HOUR_MS
    assert given["retention.ms"] >= 0.7 * hours * HOUR_MS
    assert times(hours, carries_text=False) == {"retention.ms": hours * HOUR_MS}


def test_topics_of_contracts_are_marked_as_carrying_text() -> None:
    assert {topic.name for topic in TOPICS if set(topic.messages) & set(CONTRACTS)} == {
        topic.name for topic in TOPICS if topic.carries_text
    }


@pytest.mark.parametrize("model", [Envelope, *PAYLOADS.values()], ids=lambda model: model.__name__)
def test_an_event_has_no_free_text(model: type[BaseModel]) -> None:
    for field, kind in _fields(model):
        if _open(kind):
            assert field.partition(".")[2] not in TEXTUAL, f"{field} holds a text"
            assert field in CODES, f"{field} could hold a text"


def test_every_exception_is_an_existing_field() -> None:
    fields = {field for model in (Envelope, *PAYLOADS.values()) for field, _ in _fields(model)}
    assert set(CODES) - fields == set()


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        owner = next(c for c in reversed(model.__mro__) if name in vars(c).get("__annotations__", {}))
        inner = list(_models(field.annotation))
        for each in inner:
            yield from _fields(each)
        if not inner:
            yield f"{owner.__name__}.{name}", field.annotation


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _models(part)


def _open(kind: Any) -> bool:
    """Whether values of this type can be anything but numbers, ids, times or words of a closed list."""
    if get_origin(kind) is Literal or kind is Ellipsis or kind is type(None):
        return False
    if get_origin(kind) is Annotated:
        return _open(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, int | float | UUID | datetime):
        return False
    parts = get_args(kind)
    return any(_open(part) for part in parts) if parts else True
