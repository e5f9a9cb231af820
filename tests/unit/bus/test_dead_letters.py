"""The identity of a dead letter: independent of its position, and unique."""

from dataclasses import replace

import orjson
import pytest

from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMIT, TURN_COMMITTED, TURN_OUTCOME, Topic
from shared import clock
from shared.bus.dead_letters import DeadLetter, make_letter_id, to_moment
from shared.bus.record_owner import find_record_owner
from shared.domain.subjects import Subject
from shared.store import outbox
from tests.system.kafka import Stored

HEADERS = (("x-error", "不行".encode()), ("x-origin", b"smartbrain.turn.commit.v1/3/9"), ("x-sent-at", b"1700"))
STORED = Stored(TURN_COMMIT.dead_letter, 1, 5, b"acme:anna", b'{"user_id": "anna"}', HEADERS, 1800)
LETTER = DeadLetter(TURN_COMMIT, STORED)


def id_of_changed(**changed: object) -> str:
    """The id of the letter with this change to its record."""
    return DeadLetter(TURN_COMMIT, replace(STORED, **changed)).letter_id  # pyright: ignore[reportArgumentType]


def test_a_copy_of_a_letter_is_the_same_letter() -> None:
    assert id_of_changed(partition=1, offset=70, headers=(*HEADERS, ("x-copied", b"1900"))) == LETTER.letter_id
    assert id_of_changed(timestamp=1900, headers=(("x-error", b"another"), *HEADERS[1:])) == LETTER.letter_id


@pytest.mark.parametrize(
    "changed",
    [
        {"value": b'{"user_id": "ben"}'},
        {"key": b"acme:ben"},
        {"key": b"acme:anna{", "value": b'"user_id": "anna"}'},
        {"headers": (("x-origin", b"smartbrain.turn.commit.v1/3/10"),)},
        {"headers": (), "timestamp": 1},
    ],
)
def test_another_record_is_another_letter(changed: dict[str, object]) -> None:
    assert id_of_changed(**changed) != LETTER.letter_id


def test_an_event_is_identified_by_its_id_whatever_its_record() -> None:
    told = {"trace_id": "t", "policy_version": "p"}
    event = outbox.event(TurnCommitted(turn_id=clock.uuid7(), seq=1), Subject("acme", "anna"), "x", **told)
    value = event.model_dump_json().encode()
    one = DeadLetter(TURN_COMMITTED, Stored(TURN_COMMITTED.dead_letter, 0, 1, b"acme:anna", value))
    two = DeadLetter(TURN_COMMITTED, Stored(TURN_COMMITTED.dead_letter, 2, 8, b"acme:anna", value, HEADERS))
    assert one.about == two.about == f"event:{event.event_id}"
    assert one.letter_id == two.letter_id == make_letter_id(TURN_COMMITTED, f"event:{event.event_id}")
    assert one.owner == Subject("acme", "anna")
    assert DeadLetter(TURN_OUTCOME, Stored(TURN_OUTCOME.dead_letter, value=value)).event is None


@pytest.mark.parametrize(
    ("headers", "sent_ms", "first", "whole"),
    [
        (HEADERS, 1700, "3/9/1700", True),
        ((*HEADERS, ("x-first", b"0/1/2")), 1700, "0/1/2", True),
        (HEADERS[:2], 1800, "3/9/1800", True),
        ((*HEADERS[:2], ("x-sent-at", b"-1")), 1800, "3/9/1800", True),
        ((*HEADERS[:2], ("x-sent-at", b"9" * 30)), 1800, "3/9/1800", True),
        ((), 1800, "1/5/1800", True),
        ((*HEADERS, ("x-batch", b"1-2")), 1700, "3/9/1700", False),
        ((*HEADERS, ("x-value-sha256", b"abc")), 1700, "3/9/1700", False),
    ],
)
def test_headers_contain_time_and_origin(
    headers: tuple[tuple[str, bytes], ...], sent_ms: int, first: str, whole: bool
) -> None:
    letter = DeadLetter(TURN_COMMIT, replace(STORED, headers=headers))
    assert (letter.sent_ms, letter.first, letter.whole) == (sent_ms, first, whole)


@pytest.mark.parametrize(
    ("topic", "key", "value", "owner"),
    [
        (TURN_COMMIT, b"acme:anna", b"torn", Subject("acme", "anna")),
        (TURN_COMMIT, b"acme:anna", orjson.dumps({"tenant_id": "acme", "user_id": "ben"}), Subject("acme", "ben")),
        (TURN_COMMIT, b"acme:anna", orjson.dumps({"turn_events": {"user_id": "ben"}}), Subject("default", "ben")),
        (TURN_COMMIT, b"acme:anna", orjson.dumps({"user_id": "a\0b"}), None),
        (TURN_COMMIT, b"acme:anna", orjson.dumps({"user_id": ""}), None),
        (TURN_COMMIT, b"acme:", b"torn", None),
        (TURN_COMMIT, b"anna", b"torn", None),
        (TURN_COMMIT, None, None, None),
    ],
)
def test_body_or_key_names_the_owner_of_a_letter(
    topic: Topic, key: bytes | None, value: bytes | None, owner: Subject | None
) -> None:
    stored = Stored(topic.dead_letter, key=key, value=value)
    assert DeadLetter(topic, stored).owner == owner
    assert value is None or b"torn" not in value or find_record_owner(stored, keyed=False) is None


@pytest.mark.parametrize(
    ("ms", "year"), [(0, 1970), (-1, 1970), (1_800_000_000_000, 2027), (10**15, 9999), (2**62, 9999)]
)
def test_a_timestamp_of_the_sender_is_limited_to_valid_times(ms: int, year: int) -> None:
    assert to_moment(ms).year == year
