"""The owner and time of a record's text, from its body, key and headers. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from schemas.envelope import user_key
from shared.bus.delivery import Record
from shared.domain.signatures import FIRST, KEY_ID, SIGNATURE
from shared.domain.subjects import Subject
from shared.parsing import unwrap_turn

COPIED = "x-copied"
"""A header of dead letters that an erasure copied to the end of their partition: the time in ms since the epoch."""
ORIGIN = "x-origin"
DIGITS = 19
"""The maximum number of digits of an offset or a time."""

LONGEST_PLACE = 60
"""The maximum length of partition, offset and time."""

Place = tuple[str, int]
"""A topic and a partition."""


def is_of(subject: Subject, record: Record, *, keyed: bool, sessions: Collection[str] | None = None) -> bool | None:
    """Whether the record is this user's; None if that cannot be determined. `keyed`: keys of the topic name users.

    The body decides if it names an owner, because producers may choose any key; otherwise the key does. With
    `sessions`, only records of one of them match.
    """
    fields = _fields(record.value)
    named = find_owner(fields)
    if sessions is not None:
        return named == subject and fields.get("session_id") in sessions
    if named is not None:
        return named == subject
    key = record.key or b""
    if not keyed or b":" not in key:
        return None
    return key == user_key(*subject).encode()


def _fields(body: bytes | None) -> dict[str, Any]:
    try:
        raw: Any = orjson.loads(body or b"")
    except orjson.JSONDecodeError:
        return {}
    return unwrap_turn(raw) if isinstance(raw, dict) else {}  # pyright: ignore[reportUnknownArgumentType] # raw JSON


def find_owner(fields: Mapping[str, Any]) -> Subject | None:
    tenant, user = fields.get("tenant_id", "default"), fields.get("user_id")
    return Subject(tenant.strip(), user.strip()) if isinstance(tenant, str) and isinstance(user, str) else None


def find_record_owner(record: Record, *, keyed: bool) -> Subject | None:
    """The owner of the record, by its body, or else by its key if keys of the topic name users; None if neither names
    one.

    A key of more than two parts is ambiguous; its tenant is read without a colon.
    """
    named = find_owner(_fields(record.value))
    if named is not None or not keyed:
        return named
    tenant, _, user = (record.key or b"").decode(errors="replace").partition(":")
    return Subject(tenant, user) if tenant and user else None


def said_before(record: Record, moment_ms: int, since: Mapping[Place, int]) -> bool:
    """Whether the record is from before the moment. `since`: by partition the first later offset.

    A dead letter may be written long after its message, so its origin decides.
    """
    if record.timestamp < moment_ms:
        return True
    topic, _, place = read_header(record, ORIGIN).partition("/")
    partition, _, offset = place.partition("/")
    return -1 < _number(offset) < since.get((topic, _number(partition)), 0)


def appended_ms(record: Record) -> int:
    """The time since which it has been at its position: later than its own time if it was copied."""
    return max(record.timestamp, _number(read_header(record, COPIED)))


def read_header(record: Record, name: str) -> str:
    """The last header with this name; empty if it is missing or null."""
    value: bytes | None = next((value for key, value in reversed(record.headers) if key == name), None)
    return (value or b"").decode(errors="replace")


def find_first_place(record: Record) -> str:
    """The identity of a record across redeliveries: its first position, or else its signature."""
    if first := read_header(record, FIRST):
        return first[:LONGEST_PLACE]
    signature = read_header(record, SIGNATURE)
    return f"signed/{read_header(record, KEY_ID)[:12]}/{signature[:32]}" if signature else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= DIGITS else -1
