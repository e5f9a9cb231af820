"""Signatures of records with the stored hash of a key. Pure; the same code signs and checks."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace

KEY_ID, SIGNED_MS, SIGNATURE = "key_id", "signed_ms", "signature"
FIRST = "x-first"
"""Header of a redriven record: its original partition/offset/time."""
COVERED = (KEY_ID, SIGNED_MS, FIRST, "correlation_id", "reply_to", "reply_partition", "deadline_ms")
"""Headers that a signature covers, in this order; a missing one counts as empty."""
LABEL = b"smartbrain-record-1"
"""Prefix of the signed bytes, which separates records from anything else signed with a key."""
HOUSE = "house"
"""The key id of records that services write to client topics."""
LONGEST_TIME = 15
"""No time in ms is longer."""


@dataclass(frozen=True, slots=True)
class SentRecord:
    """A record as it is sent; of a repeated header the last one counts."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]

    @property
    def key_id(self) -> str:
        """The key id of its signature; empty if there is none."""
        return (self.headers.get(KEY_ID) or b"").decode(errors="replace")

    @property
    def signed_ms(self) -> int | None:
        """The time of its signature, in ms since the epoch."""
        text = (self.headers.get(SIGNED_MS) or b"").decode(errors="replace")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_TIME else None


def make_signature(sent: SentRecord, kept_hash: str) -> bytes:
    """HMAC-SHA256 over topic, key, covered headers and value, each preceded by its length; hexadecimal."""
    digest = hmac.new(kept_hash.encode(), digestmod=hashlib.sha256)
    covered = (sent.headers.get(name) or b"" for name in COVERED)
    for part in (LABEL, sent.topic.encode(), sent.key or b"", *covered, sent.value or b""):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest().encode()


def sign(sent: SentRecord, key_id: str, kept_hash: str, signed_ms: int) -> dict[str, bytes]:
    """All headers of the record with its signature at that time; `kept_hash` is the SHA-256 of the key's secret."""
    signed_headers = {**sent.headers, KEY_ID: key_id.encode(), SIGNED_MS: str(signed_ms).encode()}
    signed_headers.pop(SIGNATURE, None)
    return {**signed_headers, SIGNATURE: make_signature(replace(sent, headers=signed_headers), kept_hash)}


def is_signed_with(sent: SentRecord, kept_hash: str) -> bool:
    """Whether the signature is valid, in constant time."""
    return hmac.compare_digest(sent.headers.get(SIGNATURE) or b"", make_signature(sent, kept_hash))
