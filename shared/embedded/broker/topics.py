"""The topics of one broker: names, partitions and configurations, in one file that is replaced atomically."""

import json
import re
import shutil
from dataclasses import dataclass, field

from shared.embedded.broker.files import FilePool, replace_file
from shared.embedded.broker.log import WEEK_MS, Limits, PartitionLog
from shared.embedded.broker.protocol import Code
from shared.embedded.broker.settings import MOST_MESSAGE_BYTES, MOST_PARTITION_BYTES, RETENTION_MS, BrokerSettings
from shared.language.patterns import to_pattern

_NAME = to_pattern(r"[a-zA-Z0-9._-]{1,249}")
_NUMBERS = ("retention.ms", "retention.bytes", "segment.ms", "segment.bytes", "max.message.bytes")
MAX_PARTITIONS = 256
SEGMENTS_PER_PARTITION = 8  # minimum: size limits then apply in steps of an eighth


@dataclass
class StoredTopic:
    """One topic: its partitions' logs, and its explicit configurations."""

    name: str
    partitions: list[PartitionLog]
    configs: dict[str, str] = field(default_factory=dict[str, str])


class InvalidTopicError(ValueError):
    """An invalid name, partition count or configuration of a topic; `code` is Kafka's error number."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Topics:
    """Every topic by name; changes are on disk when a method returns."""

    def __init__(self, settings: BrokerSettings, pool: FilePool) -> None:
        self._settings = settings
        self._pool = pool
        self._file = settings.directory / "topics.json"
        self._folder = settings.directory / "topics"
        self._topics: dict[str, StoredTopic] = {}
        self._load()

    def __contains__(self, name: str) -> bool:
        """Whether the topic exists."""
        return name in self._topics

    def names(self) -> list[str]:
        """Every topic's name."""
        return list(self._topics)

    def get(self, name: str) -> StoredTopic | None:
        """The topic, or None."""
        return self._topics.get(name)

    def partition(self, name: str, number: int) -> PartitionLog | None:
        """The partition's log, or None."""
        topic = self._topics.get(name)
        return topic.partitions[number] if topic and 0 <= number < len(topic.partitions) else None

    def check(self, name: str, partitions: int, configs: dict[str, str]) -> None:
        """Raises InvalidTopicError unless such a topic is valid."""
        if not _NAME.fullmatch(name) or name in {".", ".."}:
            raise InvalidTopicError(Code.INVALID_TOPIC, f"a topic name has 1-249 of a-z A-Z 0-9 . _ -: {name!r}")
        if not 1 <= partitions <= MAX_PARTITIONS:
            raise InvalidTopicError(Code.INVALID_PARTITIONS, f"1-{MAX_PARTITIONS} partitions, not {partitions}")
        for key in _NUMBERS:
            if key in configs and not re.fullmatch(r"-?\d{1,18}", configs[key]):
                raise InvalidTopicError(Code.INVALID_CONFIG, f"{key} must be a whole number, not {configs[key]!r}")

    def create(self, name: str, partitions: int = -1, configs: dict[str, str] | None = None) -> None:
        """Creates the empty topic; -1 partitions means the broker's default. Raises InvalidTopicError."""
        count = 1 if partitions == -1 else partitions
        self.check(name, count, configs or {})
        shutil.rmtree(self._folder / name, ignore_errors=True)  # a deletion that a crash interrupted
        self.open_log(name, count, configs or {})
        self._save()

    def grow(self, name: str, partitions: int) -> None:
        """Adds partitions up to this number; raises InvalidTopicError unless it is larger than the current one."""
        topic = self._topics[name]
        self.check(name, partitions, {})
        if partitions <= len(topic.partitions):
            raise InvalidTopicError(Code.INVALID_PARTITIONS, f"{name} has {len(topic.partitions)} partitions already")
        limits = self.limits(topic.configs)
        for number in range(len(topic.partitions), partitions):
            topic.partitions.append(PartitionLog(self._folder / name / str(number), limits, self._pool))
        self._save()

    def delete(self, name: str) -> bool:
        """Deletes the topic and its messages; False if it did not exist."""
        topic = self._topics.pop(name, None)
        if topic is None:
            return False
        self._save()
        for partition in topic.partitions:
            partition.delete()
        shutil.rmtree(self._folder / name, ignore_errors=True)
        return True

    def expire(self) -> None:
        """Applies the limits of time and size to every partition."""
        for topic in self._topics.values():
            for partition in topic.partitions:
                partition.expire()

    def highest_producer_id(self) -> int:
        """The largest producer id in any log; -1 without any."""
        logs = [partition for topic in self._topics.values() for partition in topic.partitions]
        return max((log.producers.highest_id() for log in logs), default=-1)

    def limits(self, configs: dict[str, str]) -> Limits:
        """The broker's limits, overridden by the topic's; no topic may keep more than the broker allows."""
        most = MOST_PARTITION_BYTES
        wanted = int(configs.get("retention.bytes", "-1"))
        retention_bytes = min(wanted, most) if wanted >= 0 else most
        segment = min(self._settings.segment_bytes, max(retention_bytes // SEGMENTS_PER_PARTITION, 1))
        return Limits(
            retention_ms=int(configs.get("retention.ms", RETENTION_MS)),
            retention_bytes=retention_bytes,
            segment_bytes=int(configs.get("segment.bytes", segment)),
            max_message_bytes=int(configs.get("max.message.bytes", MOST_MESSAGE_BYTES)),
            segment_ms=int(configs.get("segment.ms", WEEK_MS)),
        )

    def effective_configs(self, topic: StoredTopic) -> dict[str, str]:
        """Every supported configuration with its effective value for the topic."""
        limits = self.limits(topic.configs)
        return {
            "cleanup.policy": topic.configs.get("cleanup.policy", "delete"),
            "retention.ms": str(limits.retention_ms),
            "retention.bytes": str(limits.retention_bytes),
            "segment.ms": str(limits.segment_ms),
            "segment.bytes": str(limits.segment_bytes),
            "max.message.bytes": str(limits.max_message_bytes),
        }

    def open_log(self, name: str, partitions: int, configs: dict[str, str]) -> None:
        limits = self.limits(configs)
        logs = [PartitionLog(self._folder / name / str(number), limits, self._pool) for number in range(partitions)]
        self._topics[name] = StoredTopic(name, logs, configs)

    def _load(self) -> None:
        if not self._file.exists():
            return
        for name, stored in json.loads(self._file.read_text()).items():
            self.open_log(name, stored["partitions"], stored["configs"])

    def _save(self) -> None:
        stored = {t.name: {"partitions": len(t.partitions), "configs": t.configs} for t in self._topics.values()}
        replace_file(self._file, json.dumps(stored, indent=1).encode())
