"""The owner and age of a record, and how long its topic keeps it."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from schemas.topics import SWEEP_MS, TOPICS
from services.erasure.topics.purge import CARRIERS
from shared.bus.record_owner import COPIED, appended_ms, is_of, said_before
from shared.bus.topic_admin import FOREVER, RetentionConfig
from shared.domain.subjects import Subject
from tests.system.kafka import Stored

ANNA = Subject("acme", "anna")
DAY = 24 * 3_600_000


@pytest.mark.parametrize(
    ("key", "body", "by_key", "without_keys"),
    [
        (b"acme:anna", b'{"tenant_id":"acme","user_id":"anna"}', True, True),
        (None, b'{"tenant_id":"acme","user_id":" anna "}', True, True),
        (None, b'{"tenant_id":"acme","user_id":"\\u0061nna"}', True, True),
        (None, b'{"tenant_id":"acme","turn_events":{"user_id":"anna"}}', True, True),
        (b"acme:anna", b'{"tenant_id":"acme","user_id":"ben"}', False, False),
        (b"acme:anna", b'{"user_id":"anna"}', False, False),
        (b"acme:anna", b'{"tenant_id":"acme","user_id":7}', True, None),
        (b"acme:anna", b'{"tenant_id":"acme","user_id":"an', True, None),
        (b"acme:anna", b'["anna"]', True, None),
        (b"acme:anna", None, True, None),
        (b"acme:ben", b"torn", False, None),
        (b"acme:anna:2", b"torn", False, None),
        (b"anna", b"torn", None, None),
        (None, b"torn", None, None),
        (None, b"", None, None),
        (b"\xff:\xfe", b"\xff", False, None),
    ],
)
def test_the_body_names_the_owner_and_otherwise_the_key(
    key: bytes | None, body: bytes | None, by_key: bool | None, without_keys: bool | None
) -> None:
    record = Stored("t", key=key, value=body)
    assert is_of(ANNA, record, keyed=True) is by_key
    assert is_of(ANNA, record, keyed=False) is without_keys


def test_a_user_of_the_default_tenant_need_not_name_it() -> None:
    assert is_of(Subject("default", "anna"), Stored("t", value=b'{"user_id":"anna"}'), keyed=True) is True


@pytest.mark.parametrize(
    ("at", "origin", "before"),
    [
        (99, b"", True),
        (100, b"", False),
        (500, b"t/3/6", True),
        (500, b"t/3/7", False),
        (500, b"t/4/6", False),
        (500, b"u/3/6", False),
        (500, b"t/3/", False),
        (500, b"t/3/-1", False),
        (500, b"t/3", False),
        (500, b"t/3/6/1", False),
        (500, b"\xff/3/6", False),
        (500, b"t/3/" + b"9" * 5000, False),
        (500, None, False),
    ],
)
def test_a_dead_letter_has_the_age_of_its_origin(at: int, origin: bytes | None, before: bool) -> None:
    since: Mapping[tuple[str, int], int] = {("t", 3): 7}
    headers = (("x-origin", origin),)
    assert said_before(Stored("t.dlq", headers=headers, timestamp=at), 100, since) is before  # pyright: ignore[reportArgumentType] # a header may be null


@pytest.mark.parametrize(
    ("copied", "appended"), [((), 100), ((b"70",), 100), ((b"300",), 300), ((b"300", b"200"), 200)]
)
def test_a_copy_has_its_position_since_it_was_copied(copied: tuple[bytes, ...], appended: int) -> None:
    headers = tuple((COPIED, value) for value in copied)
    assert appended_ms(Stored("t", headers=headers, timestamp=100)) == appended


def test_a_topic_keeps_a_record_for_its_retention_plus_one_segment() -> None:
    kept = RetentionConfig(retention_ms=DAY, segment_ms=3_600_000)
    assert kept.find_removal_time(1_700_000_000_000) == datetime.fromtimestamp(
        (1_700_000_000_000 + DAY + 3_600_000 + SWEEP_MS) / 1000, UTC
    )
    assert not kept.is_expired(0, DAY)
    assert kept.is_expired(0, DAY + 1)


@pytest.mark.parametrize(
    "kept", [RetentionConfig(None, 1), RetentionConfig(2**63 - 1, 1), RetentionConfig(1, 2**63 - 1)]
)
def test_a_topic_can_keep_records_forever(kept: RetentionConfig) -> None:
    assert kept.find_removal_time(1_700_000_000_000) == FOREVER
    assert not kept.is_expired(0, DAY) or kept.retention_ms == 1


def test_every_topic_with_text_is_purged() -> None:
    assert set(CARRIERS.topics) == {topic for topic in TOPICS if topic.carries_text}
    assert all("compose" in topic.readers for topic in CARRIERS.inbound)
    assert all(topic.readers == ("users",) for topic in CARRIERS.replies)
