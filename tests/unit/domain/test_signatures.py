"""A signature is valid for one unaltered record of one topic, and can be verified with the stored key hash."""

import hashlib
import hmac
import struct
from dataclasses import replace

import pytest

from shared.access.secrets import hash_secret
from shared.domain.signatures import COVERED, SIGNATURE, SentRecord, is_signed_with, sign

KEPT = hash_secret("s" * 43)
HEADERS = {"correlation_id": b"c1", "reply_to": b"replies"}
BARE = SentRecord("smartbrain.turn.commit.v1", b"acme:lin", b'{"user_id": "lin"}', HEADERS)
SENT = replace(BARE, headers=sign(BARE, "abcdefghijkl", KEPT, 1_700_000_000_000))


def test_a_signed_record_contains_sender_and_time_and_keeps_its_headers() -> None:
    assert (SENT.key_id, SENT.signed_ms) == ("abcdefghijkl", 1_700_000_000_000)
    assert dict(SENT.headers).items() >= HEADERS.items()
    assert is_signed_with(SENT, KEPT)
    assert not is_signed_with(SENT, hash_secret("t" * 43))


def test_the_signature_matches_the_documented_algorithm() -> None:
    parts = ("smartbrain-record-1", "smartbrain.turn.commit.v1", "acme:lin")
    parts += ("abcdefghijkl", "1700000000000", "", "c1", "replies", "", "", '{"user_id": "lin"}')
    told = b"".join(struct.pack(">Q", len(part)) + part.encode() for part in parts)
    secret_hash = hashlib.sha256(b"s" * 43).hexdigest()
    assert SENT.headers[SIGNATURE] == hmac.new(secret_hash.encode(), told, "sha256").hexdigest().encode()


@pytest.mark.parametrize("name", [*COVERED, SIGNATURE])
def test_no_signed_header_can_be_changed_added_or_removed(name: str) -> None:
    assert not is_signed_with(replace(SENT, headers={**SENT.headers, name: b"7"}), KEPT)
    without = {key: value for key, value in SENT.headers.items() if key != name}
    assert is_signed_with(replace(SENT, headers=without), KEPT) == (name not in SENT.headers)


@pytest.mark.parametrize(
    "changed",
    [
        {"topic": "smartbrain.compose.request.v1"},
        {"key": b"acme:ben"},
        {"key": None},
        {"value": b'{"user_id": "ben"}'},
        {"value": None},
        {"key": b"acme:lin{", "value": b'"user_id": "lin"}'},
    ],
    ids=str,
)
def test_topic_key_and_value_cannot_be_changed(changed: dict[str, bytes]) -> None:
    assert not is_signed_with(replace(SENT, **changed), KEPT)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("told", [b"", b"soon", b"-1", b"1" * 16, "١".encode(), b"\xff"])
def test_an_invalid_time_is_none(told: bytes) -> None:
    assert replace(SENT, headers={"signed_ms": told}).signed_ms is None
