# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingSuperCall=false
"""Reading on past what cannot be read: one record stands in for a batch, or the rest of one, with its bytes and why.

Otherwise aiokafka raises for ever at the same place, and drops what other partitions gave it in the same call. It has
no door for this, so the class that takes its batches apart is replaced here; a consumer that does not ask for it by
READ_ON gets aiokafka's own, as before.
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


def as_it_came(value: bytes | None) -> bytes | None:
    """The value; a consumer that is given this as its deserializer reads on."""
    return value


READ_ON: Mapping[str, Any] = {"value_deserializer": as_it_came}
"""Options of a consumer that gets an UnreadableRecord where it would get an exception."""


@dataclass
class UnreadableRecord(ConsumerRecord[bytes, bytes]):
    """Stands for what is left unread of a batch from `offset` on; `value` is the whole batch as it was stored."""

    reason: str = ""
    next_offset: int = 0


class _Memory(_OwnMemory):
    """aiokafka's batches, whose bytes can be had again."""

    def __init__(self, batches: bytes) -> None:
        super().__init__(batches)  # pyright: ignore[reportAbstractUsage] # its stub is a protocol
        self.batches = batches


class _Records(_Own):
    """The records of one partition; never raises for what is in them."""

    def _unpack_records(self) -> Generator[ConsumerRecord[bytes, bytes], None, None]:
        for batch in split_batches(self._records.batches):
            try:
                yield from self._of_batch(_OwnMemory(open_batch(batch)).next_batch())
            except Exception as error:  # noqa: BLE001 # whatever a sender put there
                unreadable = self._stand_in(batch, error)
                self.next_fetch_offset = unreadable.next_offset
                yield unreadable

    def _of_batch(self, batch: Any) -> Iterator[ConsumerRecord[bytes, bytes]]:
        """What has not been read yet; an offset outside the batch would lead reading astray, one twice would hide."""
        before = -1
        for record in () if batch.is_control_batch else batch:
            if not before < record.offset < batch.next_offset:
                raise UnreadableBatchError("the offsets of its records do not go up within it")
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
    kind = _Records if value is as_it_came else _Own
    return kind(tp, records, aborted, offset, key, value, *more)


fetcher.MemoryRecords = _Memory
fetcher.PartitionRecords = _records_of
