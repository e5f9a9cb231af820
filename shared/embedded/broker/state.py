"""The state of one broker, opened from its folder, which only one broker can use at a time."""

import time
from pathlib import Path
from typing import IO

from shared.embedded.broker.files import FilePool
from shared.embedded.broker.groups import Group
from shared.embedded.broker.offsets import CommittedOffsets
from shared.embedded.broker.settings import HOST, BrokerError, BrokerSettings
from shared.embedded.broker.topics import Topics
from shared.embedded.ownership import OwnedError, claim

NODE_ID = 1
CLUSTER_ID = "smartbrain-embedded"


class BrokerState:
    """Topics, groups and committed offsets of one folder; raises BrokerError if another broker runs on it."""

    def __init__(self, settings: BrokerSettings) -> None:
        settings.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _claim(settings.directory)
        self.settings = settings
        self.port = settings.port
        self._pool = FilePool()
        self.topics = Topics(settings, self._pool)
        self.offsets = CommittedOffsets(settings.directory / "offsets.jsonl")
        self.groups: dict[str, Group] = {}
        # Clients survive a deleted folder, so ids start from the clock and are never reused.
        self._producer_id = max(time.time_ns() // 1000, self.topics.highest_producer_id())

    @property
    def address(self) -> tuple[str, int]:
        """The host and port given to clients."""
        return HOST, self.port

    def group(self, name: str) -> Group:
        """The group, created if necessary."""
        return self.groups.setdefault(name, Group())

    def new_producer_id(self) -> int:
        """An unused producer id."""
        self._producer_id += 1
        return self._producer_id

    def maintain(self) -> None:
        """Drops groups without members or offsets from memory, and applies the limits of partitions."""
        kept = set(self.offsets.groups())
        self.groups = {name: group for name, group in self.groups.items() if group.members or name in kept}
        self.topics.expire()

    def close(self) -> None:
        """Syncs everything and releases the folder."""
        self._pool.close()
        self.offsets.close()
        self._lock.close()


def _claim(directory: Path) -> IO[str]:
    try:
        return claim(directory / "broker.lock")
    except OwnedError as error:
        raise BrokerError(f"another broker (process {error.owner}) runs on {directory}") from error
