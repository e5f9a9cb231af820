"""The settings of the embedded broker."""

from dataclasses import dataclass
from pathlib import Path


class BrokerError(RuntimeError):
    """The broker cannot run with these settings; the message gives the reason."""


@dataclass(frozen=True)
class BrokerSettings:
    """The limits of one broker; topic configurations override the first four."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 0
    retention_ms: int = 168 * 3600 * 1000
    max_partition_bytes: int = 256 << 20
    segment_bytes: int = 16 << 20
    max_message_bytes: int = 1_048_588
    default_partitions: int = 1
    auto_create_topics: bool = True
    fsync: bool = False
    retention_check_seconds: float = 30.0
