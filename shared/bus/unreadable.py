# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingSuperCall=false
"""Continues behind unreadable data: one record represents a batch, or the rest of one, with its bytes and the error.

Otherwise aiokafka raises forever at the same position, and drops records of other partitions from the same call. It has
no hook for this, so its batch class is replaced here; a consumer without READ_ON keeps aiokafka's behaviour.
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords

from shared.batches import UnreadableBatchError, header_of, next_after, open_batch, split_batches

_Own = fetcher.PartitionRecords
_OwnMemory = MemoryRecords


def pass_through(value: bytes | None) -> bytes | None:
    """The value; a consumer with this deserializer continues behind unreadable batches."""
    return value


READ_ON: Mapping[str, Any] = {"value_deserializer": pass_through}
"""Options of a consumer that receives an UnreadableRecord instead of an exception."""


@dataclass
class UnreadableRecord(ConsumerRecord[bytes, bytes]):
    """Represents the unread part of a batch from `offset` on; `value` is the whole stored batch."""

    reason: str = ""
    next_offset: int = 0


class _Memory(_OwnMemory):
    """aiokafka's batches with access to their bytes."""

    def __init__(self, batches: bytes) -> None:
        super().__init__(batches)  # pyright: ignore[reportAbstractUsage] # its stub is a protocol
        self.batches = batches


class _Records(_Own):
    """The records of one partition; never raises because of their content."""

    def _unpack_records(self) -> Generator[ConsumerRecord[bytes, bytes], None, None]:
        for batch in split_batches(self._records.batches):
            try:
                yield from self._of_batch(_OwnMemory(open_batch(batch)).next_batch())
            except Exception as error:  # noqa: BLE001 # any content of a sender
                unreadable = self._stand_in(batch, error)
                self.next_fetch_offset = unreadable.next_offset
                yield unreadable

    def _of_batch(self, batch: Any) -> Iterator[ConsumerRecord[bytes, bytes]]:
        """The unread records; an offset outside the batch would misplace the reader, a repeated one
        would hide a record.
        """
        before = -1
        for record in () if batch.is_control_batch else batch:
            if not before < record.offset < batch.next_offset:
                raise UnreadableBatchError("the offsets of its records are not ascending")
            before = record.offset
            if record.offset >= self.next_fetch_offset:
                self.next_fetch_offset = record.offset + 1
                yield self._consumer_record(self._tp, record)
        self.next_fetch_offset = max(self.next_fetch_offset, batch.next_offset)

    def _stand_in(self, batch: bytes, error: Exception) -> UnreadableRecord:
        header, after = header_of(batch), next_after(batch, self.next_fetch_offset)
        why = (
            str(error)
            if isinstance(error, UnreadableBatchError)
            else f"its records do not fit ({type(error).__name__})"
        )
        return UnreadableRecord(
            topic=self._tp.topic,
            partition=self._tp.partition,
            offset=min(self.next_fetch_offset, after - 1),
            timestamp=header.max_timestamp if header else -1,
            timestamp_type=0,
            key=None,
            value=batch,
            checksum=None,
            serialized_key_size=-1,
            serialized_value_size=len(batch),
            headers=(),
            reason=f"batch cannot be read: {why}",
            next_offset=after,
        )


def _records_of(
    tp: Any, records: Any, aborted: Any, offset: int, key: Any, value: Any, *more: Any
) -> "fetcher.PartitionRecords":
    kind = _Records if value is pass_through else _Own
    return kind(tp, records, aborted, offset, key, value, *more)


fetcher.MemoryRecords = _Memory
fetcher.PartitionRecords = _records_of
