"""Dead letters for operators: lists with owner and reason, and lookup by id.

They are read from the topics without a consumer group, so that records deleted by an erasure are gone here too.
"""

import hashlib
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from aiokafka import TopicPartition
from pydantic import ValidationError

from schemas.envelope import Envelope
from schemas.events import Payload
from schemas.topics import PAYLOADS, TOPICS, Topic
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Record
from shared.bus.fetching import UnreadableRecord
from shared.bus.record_owner import ORIGIN, find_first_place, find_record_owner, read_header
from shared.bus.topic_admin import Span, TopicAdmin, open_topic_admin
from shared.domain.signatures import COVERED, SIGNATURE
from shared.domain.subjects import AT_DOOR, Subject

REASONS_AT_DOOR = tuple(f"{code}:" for code in AT_DOOR)
"""The prefix of the reason for a record refused because of its sender."""
DIGITS = 32
"""The length of the hash in an id."""
LONGEST_TIME = 15
"""The maximum number of digits of a time in ms."""
BY_NOUN: Mapping[str, Topic] = {topic.noun: topic for topic in TOPICS if not topic.ahead_of}
"""Every topic with its own dead letters, by its short name."""
_OF_DEAD_LETTERS: Mapping[str, Topic] = {topic.dead_letter: topic for topic in BY_NOUN.values()}


@dataclass(frozen=True)
class LetterHead:
    """The list entry of a dead letter: everything but its content, which may be large."""

    letter_id: str
    about: str
    topic: Topic
    partition: int
    offset: int
    origin: str
    reason: str
    dead_ms: int
    value_bytes: int
    owner: Subject | None
    envelope: Envelope | None


@dataclass(frozen=True)
class DeadLetter:
    """One record of a dead-letter topic; `topic` is the one on which it failed."""

    topic: Topic
    record: Record

    @cached_property
    def reason(self) -> str:
        """The reason of the failure; empty if missing."""
        return read_header(self.record, "x-error")

    @property
    def origin(self) -> str:
        """The origin: topic/partition/offset."""
        return read_header(self.record, ORIGIN)

    @cached_property
    def owner(self) -> Subject | None:
        """The owner, if the record contains one."""
        found = find_record_owner(self.record, keyed=self.topic.key == "tenant:user")
        return found if found and all(found) and "\0" not in "".join(found) else None

    @property
    def sent_ms(self) -> int:
        """The original record's time in ms since the epoch; the time of the failure if that is missing."""
        told = read_header(self.record, "x-sent-at")
        return int(told) if told.isdecimal() and len(told) <= LONGEST_TIME else self.record.timestamp

    @property
    def first(self) -> str:
        """Partition, offset and time of the first origin, by which intake identifies it after any
        number of redrives.
        """
        place = "/".join(self.origin.split("/")[1:]) or f"{self.record.partition}/{self.record.offset}"
        return find_first_place(self.record) or f"{place}/{self.sent_ms}"

    @property
    def refused_at_door(self) -> bool:
        """Whether it was refused because of its sender: unknown, or without the right."""
        return self.reason.startswith(REASONS_AT_DOOR)

    @property
    def signed_headers(self) -> list[tuple[str, bytes]]:
        """The original signature; none if it was not signed."""
        had = dict(self.record.headers)
        return [(name, had[name]) for name in (SIGNATURE, *COVERED) if had.get(name)] if had.get(SIGNATURE) else []

    @property
    def whole(self) -> bool:
        """Whether the content is the original record: not an unreadable batch, nor only a hash."""
        return not (
            isinstance(self.record, UnreadableRecord)
            or read_header(self.record, "x-batch")
            or read_header(self.record, "x-value-sha256")
        )

    @cached_property
    def event(self) -> tuple[Envelope, Payload] | None:
        """The event in it, if it is readable."""
        try:
            envelope = Envelope.model_validate_json(self.record.value or b"")
            model = PAYLOADS.get(envelope.event_type)
            return (envelope, model.model_validate(envelope.payload)) if model in self.topic.carries else None
        except ValidationError:
            return None

    @cached_property
    def about(self) -> str:
        """The identity of the failed record, independent of the letter's position and of copies."""
        if self.event:
            return f"event:{self.event[0].event_id}"
        record = self.record
        place = self.origin or f"{record.partition}/{record.timestamp}"
        parts = (self.topic.name.encode(), place.encode(), record.key or b"", record.value or b"")
        return f"letter:{hash_parts(parts)}"

    @cached_property
    def letter_id(self) -> str:
        """Its id: the topic's short name and a hash."""
        return make_letter_id(self.topic, self.about)

    @property
    def head(self) -> LetterHead:
        """Its list entry."""
        return LetterHead(
            letter_id=self.letter_id,
            about=self.about,
            topic=self.topic,
            partition=self.record.partition,
            offset=self.record.offset,
            origin=self.origin,
            reason=self.reason,
            dead_ms=max(0, self.record.timestamp),
            value_bytes=len(self.record.value or b""),
            owner=self.owner,
            envelope=self.event[0] if self.event else None,
        )


def to_moment(ms: int) -> datetime:
    """The time of a record, which its sender chose; the latest possible time if it has none."""
    try:
        return datetime.fromtimestamp(max(0, ms) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC)


def hash_parts(parts: Sequence[bytes]) -> str:
    """A hash of these in this order, with unambiguous boundaries."""
    told = hashlib.sha256()
    for part in parts:
        told.update(len(part).to_bytes(8, "big") + part)
    return told.hexdigest()[:DIGITS]


def make_letter_id(topic: Topic, about: str) -> str:
    """The id of the letter about this record."""
    return f"{topic.noun}-{hash_parts((about.encode(),))}"


@dataclass
class NewestLetters:
    """Dead letters, newest first, without duplicates; `unread`: older ones were not read."""

    letters: list[LetterHead] = field(default_factory=list[LetterHead])
    unread: bool = False


async def load_newest(
    kafka: KafkaAccess, topics: Collection[Topic], most: int, since_ms: int | None = None
) -> NewestLetters:
    """The newest letters of these topics, limited per partition. TransientError: the broker is unavailable."""
    async with open_topic_admin(kafka) as broker:
        whole = await broker.spans(topic.dead_letter for topic in topics)
        first = await broker.since(whole, since_ms) if since_ms is not None else {}
        wanted = {place: (max(first.get(place, 0), start), end) for place, (start, end) in whole.items()}
        spans = {place: (max(start, end - most), end) for place, (start, end) in wanted.items()}
        once: dict[str, LetterHead] = {}
        async with aclosing(_read(broker, spans)) as letters:
            async for letter in letters:
                once[letter.about] = max(once.get(letter.about, letter.head), letter.head, key=_place)
    newest = sorted(once.values(), key=_place, reverse=True)
    return NewestLetters(newest, unread=any(spans[place][0] > wanted[place][0] for place in spans))


def _place(head: LetterHead) -> tuple[int, int]:
    return head.dead_ms, head.offset


async def find_letter(kafka: KafkaAccess, letter_id: str) -> DeadLetter | None:
    """The letter with this id, if it still exists. TransientError: the broker is unavailable."""
    topic = BY_NOUN.get(letter_id.rpartition("-")[0])
    if topic is None:
        return None
    async with open_topic_admin(kafka) as broker:
        spans = await broker.spans([topic.dead_letter])
        async with aclosing(_read(broker, spans)) as letters:
            async for letter in letters:
                if letter.letter_id == letter_id:
                    return letter
    return None


async def _read(broker: TopicAdmin, spans: Mapping[TopicPartition, Span]) -> AsyncGenerator[DeadLetter]:
    async for records in broker.read(spans):
        for record in records:
            yield DeadLetter(_OF_DEAD_LETTERS[record.topic], record)
