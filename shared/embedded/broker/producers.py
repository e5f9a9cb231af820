"""Idempotent producers of one partition: each batch is stored once, however often it is sent."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from shared.batches import BatchHeader
from shared.embedded.broker.protocol import SEQUENCES, Code

REMEMBERED_BATCHES = 5  # as many as Kafka allows a producer to have in flight
REMEMBERED_PRODUCERS = 1024


@dataclass
class _Producer:
    epoch: int
    next_sequence: int
    batches: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))


@dataclass(frozen=True)
class SequenceVerdict:
    """The decision on a batch: an `error` other than NONE refuses it; `stored_at` is set if it is stored already."""

    error: int = Code.NONE
    stored_at: int | None = None


class Producers:
    """The last sequence number and the last few batches of every recent producer."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _Producer] = OrderedDict()

    def judge(self, header: BatchHeader) -> SequenceVerdict:
        """Whether the batch continues its producer's sequence; an unknown producer may begin anywhere."""
        producer = self._known.get(header.producer_id) if header.producer_id >= 0 else None
        if producer is None or header.producer_epoch > producer.epoch:
            return SequenceVerdict()
        if header.producer_epoch < producer.epoch:
            return SequenceVerdict(Code.INVALID_PRODUCER_EPOCH)
        if header.base_sequence == producer.next_sequence:
            return SequenceVerdict()
        for sequence, offset in producer.batches:
            if sequence == header.base_sequence:
                return SequenceVerdict(stored_at=offset)
        behind = (producer.next_sequence - header.base_sequence) % SEQUENCES < SEQUENCES // 2
        return SequenceVerdict(Code.DUPLICATE_SEQUENCE if behind else Code.OUT_OF_ORDER_SEQUENCE)

    def remember(self, header: BatchHeader) -> None:
        """Records a stored batch (or one read back from the log)."""
        if header.producer_id < 0:
            return
        producer = self._known.get(header.producer_id)
        if producer is None or producer.epoch != header.producer_epoch:
            producer = self._known[header.producer_id] = _Producer(header.producer_epoch, 0)
        producer.next_sequence = (header.base_sequence + header.record_count) % SEQUENCES
        producer.batches.append((header.base_sequence, header.base_offset))
        self._known.move_to_end(header.producer_id)
        if len(self._known) > REMEMBERED_PRODUCERS:
            self._known.popitem(last=False)

    def highest_id(self) -> int:
        """The largest producer id known; -1 without any."""
        return max(self._known, default=-1)
