"""What a record of the inbound topic is, and by which key it is known however often it comes."""

import hashlib

import orjson

from shared.bus.delivery import Record
from shared.bus.record_owner import find_first_place


def is_erasure(body: bytes) -> bool:
    """Whether it asks for an erasure: it has a scope and says nothing."""
    try:
        raw = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(raw, dict) and "scope" in raw and "session_id" not in raw


def first_place(record: Record) -> str:
    """Partition, offset and time of where it stands or first stood; of a signed record its signature.

    Put on the topic again by whoever has read it there, a signed record is so the same one.
    """
    return find_first_place(record) or f"{record.partition}/{record.offset}/{record.timestamp}"


def make_key(place: str, body: bytes) -> str:
    """A key for a turn whose sender gave none: its signature or its first place in the topic, and what it says.

    The place alone would repeat once a broker has lost its data and counts from zero again.
    """
    return f"kafka:{place.replace('/', ':')}:{hashlib.sha256(body).hexdigest()[:32]}"
