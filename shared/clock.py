"""The time of this process, and ids that sort by it."""

import os
import time
from datetime import UTC, datetime
from uuid import UUID


def now() -> datetime:
    """This moment in UTC."""
    return datetime.now(UTC)


def uuid7() -> UUID:
    """A fresh UUIDv7: 48 bits of Unix milliseconds, then 74 random bits (RFC 9562)."""
    raw = (time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10)
    value = int.from_bytes(raw, "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return UUID(int=value)


def find_moment(uuid: UUID) -> datetime | None:
    """When this UUIDv7 was made, by the clock of whoever made it; None of any other id."""
    if uuid.version != 7:
        return None
    try:
        return datetime.fromtimestamp((uuid.int >> 80) / 1000, UTC)
    except (ValueError, OverflowError):
        return None
