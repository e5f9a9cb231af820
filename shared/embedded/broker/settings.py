"""The settings of the embedded broker."""

from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
RETENTION_MS = 168 * 3600 * 1000
MOST_MESSAGE_BYTES = 1_048_588
"""Both for topics that are configured without their own."""
MOST_PARTITION_BYTES = 256 << 20
"""No topic keeps more."""


class BrokerError(RuntimeError):
    """The broker cannot run with these settings; the message gives the reason."""


@dataclass(frozen=True)
class BrokerSettings:
    """The folder, port and limits of one broker, which only this machine reaches."""

    directory: Path
    port: int = 0
    auto_create_topics: bool = True
    segment_bytes: int = 16 << 20
    retention_check_seconds: float = 30.0
