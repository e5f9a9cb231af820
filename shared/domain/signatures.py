"""Signatures of records: who sent one, proved by what is kept of a key; pure, the same for who signs and who checks."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace

KEY_ID, SIGNED_MS, SIGNATURE = "key_id", "signed_ms", "signature"
FIRST = "x-first"
"""A header of what was redriven: partition/offset/time of where it stood first."""
COVERED = (KEY_ID, SIGNED_MS, FIRST, "correlation_id", "reply_to", "reply_partition", "deadline_ms")
"""Headers that a signature covers, in this order; one that is absent counts as empty."""
LABEL = b"smartbrain-record-1"
"""What is signed is a record of this form, and nothing else that might ever be signed with a key."""
HOUSE = "house"
"""The key id of what the services themselves put on a topic that clients write."""
LONGEST_TIME = 15
"""No time in ms is longer."""


@dataclass(frozen=True, slots=True)
class SentRecord:
    """A record as it is sent; a header that is given twice counts as given last."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]

    @property
    def key_id(self) -> str:
        """With which key it says it is signed; empty where it says nothing of it."""
        return (self.headers.get(KEY_ID) or b"").decode(errors="replace")

    @property
    def signed_ms(self) -> int | None:
        """When it says it was signed, in ms since the epoch."""
        text = (self.headers.get(SIGNED_MS) or b"").decode(errors="replace")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_TIME else None


def make_signature(sent: SentRecord, kept_hash: str) -> bytes:
    """HMAC-SHA256 over the topic, the key, the covered headers and the value, each behind its length; hexadecimal."""
    digest = hmac.new(kept_hash.encode(), digestmod=hashlib.sha256)
    covered = (sent.headers.get(name) or b"" for name in COVERED)
    for part in (LABEL, sent.topic.encode(), sent.key or b"", *covered, sent.value or b""):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest().encode()


def sign(sent: SentRecord, key_id: str, kept_hash: str, signed_ms: int) -> dict[str, bytes]:
    """All headers of the record, signed as of that moment; `kept_hash` is the SHA-256 of the key's secret."""
    signed_headers = {**sent.headers, KEY_ID: key_id.encode(), SIGNED_MS: str(signed_ms).encode()}
    signed_headers.pop(SIGNATURE, None)
    return {**signed_headers, SIGNATURE: make_signature(replace(sent, headers=signed_headers), kept_hash)}


def is_signed_with(sent: SentRecord, kept_hash: str) -> bool:
    """Whether the signature is that of the key; it takes as long for any other."""
    return hmac.compare_digest(sent.headers.get(SIGNATURE) or b"", make_signature(sent, kept_hash))
