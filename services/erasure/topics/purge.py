"""Deletes a user's text from the topics that carry text, including dead letters."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiokafka import TopicPartition

from schemas.topics import (
    COMPOSE_REPLY,
    COMPOSE_REQUEST,
    DEAD_LETTER_TEXT_HOURS,
    TURN_COMMIT,
    Topic,
    times,
)
from shared import clock
from shared.bus.access import KafkaAccess
from shared.bus.record_owner import appended_ms, is_of, said_before
from shared.bus.topic_admin import (
    Found,
    RetentionConfig,
    Span,
    TopicAdmin,
    UnwillingError,
    open_topic_admin,
)
from shared.domain.subjects import Subject
from shared.telemetry import logger

ANSWERED = timedelta(seconds=60)
"""A request is answered within this time, and its asker has read the answer after as much again."""


@dataclass(frozen=True)
class Carriers:
    """The topics that carry text: inbound ones with their consumer group, and the reply topic."""

    inbound: Mapping[Topic, str]
    replies: Sequence[Topic]

    @property
    def topics(self) -> tuple[Topic, ...]:
        """All of them."""
        return (*self.inbound, *self.replies)


CARRIERS = Carriers({topic: topic.group_of("compose") for topic in (TURN_COMMIT, COMPOSE_REQUEST)}, (COMPOSE_REPLY,))


@dataclass(frozen=True)
class Purged:
    """What became of a user's text in the broker.

    `removed`: records by topic that can be read no more; of replies all that may have been the user's.
    `copied`: other people's dead letters by topic that moved to the end of their partition.
    `unreadable`: dead letters that say nowhere whose they are; they were kept.
    `waiting`: something of the user's has not been consumed, or may still be read by who asked for it: try again.
    `unconsumed`: it waits for a consumer, which takes a moment; an answer is waited for by the minute.
    `clear_by`: None, or until when retention may keep something of what was found: what the broker would not
    delete or what waits, and on Apache Kafka also the bytes of what was removed. After several calls the latest holds.
    """

    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    copied: Mapping[str, int] = field(default_factory=dict[str, int])
    unreadable: int = 0
    waiting: bool = False
    unconsumed: bool = False
    clear_by: datetime | None = None


async def purge(
    kafka: KafkaAccess,
    subject: Subject,
    asked_at: datetime,
    *,
    sessions: Collection[str] | None = None,
    carriers: Carriers = CARRIERS,
    now: datetime | None = None,
) -> Purged:
    """What the user said before `asked_at`, or of it what belongs to `sessions`, leaves every topic that carries text.

    As far as the result says.

    Again: no further effect. Cut short at any point: others' dead letters may stand twice, none is lost. Only one at a
    time: two side by side could copy back what the other removes. TransientError when the broker is away.
    """
    async with open_topic_admin(kafka) as broker:
        return await _Purge(
            broker, await TopicSearch.begin(broker, subject, asked_at, carriers, sessions), now or clock.now()
        ).run()


@dataclass
class _Findings:
    """What was found in one partition: what can be read there, (offset, time) of what is hers, what nobody can tell."""

    place: TopicPartition
    span: Span
    hers: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    unreadable: int = 0

    @property
    def newest_ms(self) -> int:
        """The time of the user's latest record."""
        return max(at for _, at in self.hers)


@dataclass(frozen=True)
class TopicSearch:
    """Finds what a user said before a moment. `since`: by inbound partition the first offset that is not before it."""

    broker: TopicAdmin
    subject: Subject
    asked_at: datetime
    since: Mapping[tuple[str, int], int]
    carriers: Carriers
    sessions: Collection[str] | None = None

    @classmethod
    async def begin(
        cls,
        broker: TopicAdmin,
        subject: Subject,
        asked_at: datetime,
        carriers: Carriers,
        sessions: Collection[str] | None = None,
    ) -> "TopicSearch":
        """Runs first, so that no later record counts as earlier."""
        spans = await broker.spans(topic.name for topic in carriers.inbound)
        first = await broker.since(spans, _ms(asked_at))
        since = {(place.topic, place.partition): offset for place, offset in first.items()}
        return cls(broker, subject, asked_at, since, carriers, sessions)

    async def inbound(self, topic: Topic) -> list[_Findings]:
        """The user's records, by partition, in a topic that a group consumes."""
        return await self._in(topic.name, keyed=topic.key == "tenant:user")

    async def dead(self, topic: Topic) -> list[_Findings]:
        """The user's records, by partition, among the dead letters of a topic."""
        return await self._in(topic.dead_letter, keyed=topic.key == "tenant:user")

    async def replies(self, topic: Topic) -> dict[TopicPartition, Span]:
        """Replies that may belong to the user: they name no user, and may arrive a little after the request."""
        spans = await self.broker.spans([topic.name])
        until = await self.broker.since(spans, _ms(self.asked_at + ANSWERED))
        return {place: (start, until[place]) for place, (start, _) in spans.items() if start < until[place]}

    async def _in(self, name: str, *, keyed: bool) -> list[_Findings]:
        spans = await self.broker.spans([name])
        findings = {place: _Findings(place, span) for place, span in spans.items()}
        async for records in self.broker.read(spans):
            for record in records:
                self._note(findings[TopicPartition(record.topic, record.partition)], record, keyed=keyed)
        return list(findings.values())

    def _note(self, findings: _Findings, record: Found, *, keyed: bool) -> None:
        if not said_before(record, _ms(self.asked_at), self.since):
            return
        match self._is_of(record, keyed=keyed):
            case True:
                findings.hers.append((record.offset, appended_ms(record)))
            case None:
                findings.unreadable += 1
            case False:
                pass

    def hers(self, record: Found, *, keyed: bool) -> bool:
        """Whether this is a record of the user from before the time."""
        return said_before(record, _ms(self.asked_at), self.since) and bool(self._is_of(record, keyed=keyed))

    def _is_of(self, record: Found, *, keyed: bool) -> bool | None:
        return is_of(self.subject, record, keyed=keyed, sessions=self.sessions)


class _Purge:
    """A running purge with its results so far."""

    def __init__(self, broker: TopicAdmin, search: TopicSearch, now: datetime) -> None:
        self._broker = broker
        self._search = search
        self._now = now
        self._kept: dict[str, RetentionConfig] = {}
        self._removed: Counter[str] = Counter()
        self._copied: Counter[str] = Counter()
        self._unreadable = 0
        self._waiting = False
        self._unconsumed = False
        self._clear_by: datetime | None = None

    async def run(self) -> Purged:
        """Inbound topics first: every consumed record then has its dead letter already."""
        carriers = self._search.carriers
        self._kept = await self._broker.load_retention(list_declared(carriers))
        for topic, group in carriers.inbound.items():
            await self._inbound(topic, group)
        for topic in carriers.replies:
            await self._replies(topic)
        for topic in carriers.topics:
            await self._dead(topic)
        return Purged(
            removed=dict(+self._removed),
            copied=dict(+self._copied),
            unreadable=self._unreadable,
            waiting=self._waiting,
            unconsumed=self._unconsumed,
            clear_by=self._clear_by,
        )

    async def _inbound(self, topic: Topic, group: str) -> None:
        findings = [each for each in await self._search.inbound(topic) if each.hers]
        if not findings:
            return
        try:
            committed = await self._broker.load_committed(group)
        except UnwillingError as error:
            committed = {}
            refuse_purge(topic.name, error)
        for each in findings:
            read_to = committed.get(each.place, -1)
            consumed = sum(offset < read_to for offset, _ in each.hers)
            if consumed < len(each.hers):
                self._unconsumed = True
                self._wait(each)
            if consumed:
                await self._drop(each, min(read_to, each.span[1]), consumed)
            if topic.key == "correlation_id" and each.newest_ms > _ms(self._now - ANSWERED):
                self._waiting = True  # its answer may be on its way

    async def _replies(self, topic: Topic) -> None:
        doubtful = await self._search.replies(topic)
        awaited = await self._broker.since(doubtful, _ms(self._now - ANSWERED))
        for place, (start, end) in doubtful.items():
            read_to = awaited[place]
            newest = min(_ms(self._search.asked_at + ANSWERED), _ms(self._now))
            each = _Findings(place, (start, end), [(end - 1, newest)])
            if read_to < end:
                self._wait(each)
            if read_to > start:
                await self._drop(each, read_to, read_to - start)

    async def _dead(self, topic: Topic) -> None:
        keyed = topic.key == "tenant:user"
        retention = self._kept[topic.dead_letter]
        now_ms = _ms(self._now)

        def others(record: Found) -> bool:
            return not retention.is_expired(record.timestamp, now_ms) and not self._search.hers(record, keyed=keyed)

        for each in await self._search.dead(topic):
            self._unreadable += each.unreadable
            if not each.hers:
                continue
            try:
                await self._broker.drop(each.place, each.span[0])  # changes nothing, and tells whether we may
                self._copied[each.place.topic] += await self._broker.copy(each.place, each.span, others, now_ms)
            except UnwillingError as error:
                self._stays(each, error)
            else:
                await self._drop(each, each.span[1], len(each.hers))

    async def _drop(self, findings: _Findings, offset: int, count: int) -> None:
        try:
            await self._broker.drop(findings.place, offset)
        except UnwillingError as error:
            self._stays(findings, error)
            return
        self._removed[findings.place.topic] += count
        if self._broker.keeps_bytes:
            self._keeps(findings)

    def _wait(self, found: _Findings) -> None:
        self._waiting = True
        self._keeps(found)

    def _stays(self, found: _Findings, error: UnwillingError) -> None:
        refuse_purge(found.place.topic, error)
        self._keeps(found)

    def _keeps(self, found: _Findings) -> None:
        gone = self._kept[found.place.topic].find_removal_time(found.newest_ms)
        self._clear_by = max(self._clear_by or gone, gone)


def list_declared(carriers: Carriers) -> dict[str, RetentionConfig]:
    """The retention of these topics as they were created."""
    declared: dict[str, RetentionConfig] = {}
    for topic in carriers.topics:
        for name, hours in ((topic.name, topic.retention_hours), (topic.dead_letter, DEAD_LETTER_TEXT_HOURS)):
            numbers = times(hours, carries_text=True)
            declared[name] = RetentionConfig(numbers["retention.ms"], numbers["segment.ms"])
    return declared


def refuse_purge(topic: str, error: UnwillingError) -> None:
    logger().warning("text_left_to_retention", topic=topic, reason=str(error))


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
