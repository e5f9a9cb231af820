"""Whose text a record carries and when it was said, by its body, its key and its headers; pure."""

from collections.abc import Mapping
from typing import Any

import orjson

from schemas.envelope import user_key
from shared.bus.delivery import Record
from shared.db import Subject
from shared.edge import unwrapped

COPIED = "x-copied"
"""A header of dead letters that an erasure moved to the end of their partition: when, in ms since the epoch."""
ORIGIN = "x-origin"

Place = tuple[str, int]
"""A topic and a partition."""


def is_of(subject: Subject, record: Record, *, keyed: bool) -> bool | None:
    """Whether the record is this user's; None where nobody can tell. `keyed`: keys of the topic name users.

    The body decides where it names somebody, for producers may choose any key; else the key does.
    """
    named = _named(record.value)
    if named is not None:
        return named == subject
    key = record.key or b""
    if not keyed or b":" not in key:
        return None
    return key == user_key(*subject).encode()


def _named(body: bytes | None) -> Subject | None:
    try:
        raw: Any = orjson.loads(body or b"")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(raw, dict):
        return None
    fields = unwrapped(raw)  # pyright: ignore[reportUnknownArgumentType] # raw JSON
    tenant, user = fields.get("tenant_id", "default"), fields.get("user_id")
    return Subject(tenant.strip(), user.strip()) if isinstance(tenant, str) and isinstance(user, str) else None


def said_before(record: Record, moment_ms: int, since: Mapping[Place, int]) -> bool:
    """Whether it was said before the moment. `since`: by partition the first offset that was not.

    A dead letter may be written long after the message that it holds; its origin tells.
    """
    if record.timestamp < moment_ms:
        return True
    topic, _, rest = _header(record, ORIGIN).partition("/")
    partition, _, offset = rest.partition("/")
    if not (partition.isdecimal() and offset.isdecimal()):
        return False
    return int(offset) < since.get((topic, int(partition)), 0)


def appended_ms(record: Record) -> int:
    """When it came to where it stands: not before this, and later than said if it was copied."""
    copied = _header(record, COPIED)
    return max(record.timestamp, int(copied) if copied.isdecimal() else 0)


def _header(record: Record, name: str) -> str:
    value = next((value for key, value in reversed(record.headers) if key == name), b"")
    return value.decode("ascii", errors="replace")
