"""Records of the inbound topic: their kind, and the key that identifies a redelivered record."""

import hashlib

import orjson

from shared.bus.delivery import Record
from shared.bus.record_owner import find_first_place


def is_erasure(body: bytes) -> bool:
    """Whether the record requests an erasure: it has a scope and no messages."""
    try:
        raw = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(raw, dict) and "scope" in raw and "session_id" not in raw


def find_first_position(record: Record) -> str:
    """Partition, offset and time of the record's first position; for a signed record its signature.

    A signed record that is put on the topic again is thereby recognised.
    """
    return find_first_place(record) or f"{record.partition}/{record.offset}/{record.timestamp}"


def make_key(place: str, body: bytes) -> str:
    """A key for a turn without one: its signature or first position, and its content.

    The position alone would repeat if a broker lost its data and counted from zero again.
    """
    return f"kafka:{place.replace('/', ':')}:{hashlib.sha256(body).hexdigest()[:32]}"
