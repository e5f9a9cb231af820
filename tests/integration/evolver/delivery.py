"""Delivery as by Kafka: each topic in order, several consumers per topic, any event more than once.

A consumer takes a batch at its group's offset. It may fail before its commit, or die between its commit and the
acknowledgement; another consumer may process the same batch, as after a rebalance. Topics are independent.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast
from uuid import UUID

from schemas.events import FeedbackRecorded, ObservationRecorded, ObservationUrgent, Payload
from schemas.topics import ANALYSIS_PROPOSED, FEEDBACK_RECORDED, OBSERVATION_RECORDED, OBSERVATION_URGENT, Topic
from services.analyzer import handler as analyzer
from services.evolver import handler as evolver
from services.evolver import receptions
from services.observer.rows import make_envelope
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Delivered, parse
from shared.db import Connection, Database
from shared.domain.subjects import Subject
from shared.domain.turns import Turn as Row
from shared.errors import TransientError
from shared.models.factory import make_models
from shared.policy import Policy
from shared.runtime import Runtime
from shared.settings import Settings
from shared.store import observations, outbox, turn_states
from tests.integration.evolver.scenes import Turn
from tests.system.kafka import Stored

Handle = Callable[[Runtime, Subject, Sequence[Delivered]], Awaitable[None]]
CONSUMERS: tuple[tuple[Topic, Handle, int], ...] = (
    (OBSERVATION_RECORDED, analyzer.propose, 2),
    (OBSERVATION_URGENT, evolver.apply_corrections, 2),
    (ANALYSIS_PROPOSED, evolver.apply_proposals, 3),
    (FEEDBACK_RECORDED, receptions.apply_feedback, 2),
)
"""Each topic with its handler and its number of concurrent consumers."""


class Flaky(Database):
    """Aborts some transactions just before their end, for the users in `dice`."""

    dice: dict[Subject, random.Random]

    @asynccontextmanager
    async def transaction(self, subject: Subject, *, since: int | None = None) -> AsyncGenerator[Connection, None]:
        """Like any transaction; one in eight is aborted before it commits."""
        dice = self.dice.get(subject)
        async with super().transaction(subject, since=since) as conn:
            yield conn
            if dice and dice.random() < 0.3:
                await asyncio.sleep(dice.random() / 200)
            if dice and dice.random() < 0.12:
                raise TransientError("lost before it was committed")


def runtime(db: Database) -> Runtime:
    """A worker's runtime without a broker and without models."""
    models = make_models(None, "none", None, None, 8, lambda: 0.0)
    policy = Policy()
    return Runtime(Settings(), db, cast("Any", None), models, policy, KafkaAccess(""), policy.version)


@dataclass
class Log:
    """One topic of one user, and its group's offset."""

    events: list[Delivered] = field(default_factory=list[Delivered])
    committed: int = 0
    held: int = 0


@dataclass
class Delivery:
    """All deliveries to one user's workers, until nothing is left."""

    subject: Subject
    runtimes: Sequence[Runtime]
    dice: random.Random
    logs: dict[str, Log] = field(default_factory=lambda: {topic.name: Log() for topic, _, _ in CONSUMERS})
    saying: bool = True
    told: list[FeedbackRecorded] = field(default_factory=list[FeedbackRecorded])
    lost: int = 0
    seen: set[UUID] = field(default_factory=set[UUID])

    async def run(self, story: Sequence[Turn], *, with_feedback: bool) -> None:
        """Waits until all turns are observed and all their events handled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._observe(story, with_feedback=with_feedback))
            for topic, handle, many in CONSUMERS:
                for n in range(many):
                    tasks.create_task(self._consume(topic, handle, self.runtimes[n % len(self.runtimes)]))

    async def _observe(self, story: Sequence[Turn], *, with_feedback: bool) -> None:
        for turn in story:
            await _until_it_is_done(partial(observe, self.runtimes[0], self.subject, turn))
            await self._relay()
            if with_feedback and self.dice.random() < 0.5:
                await _until_it_is_done(partial(self._praise_or_blame, turn))
            await self._pause()
        self.saying = False

    async def _praise_or_blame(self, turn: Turn) -> None:
        async with self.runtimes[0].db.transaction(self.subject) as conn:
            found = await (await conn.execute(_ACTIVE, self.subject._asdict())).fetchall()
            ids: list[UUID] = [row["memory_id"] for row in found]
            if not ids:
                return
            chosen = tuple(self.dice.sample(ids, min(2, len(ids))))
            signal = self.dice.choice(("positive_confirm", "negative", "neutral", "neutral"))
            told = FeedbackRecorded(
                memory_ids=chosen, judged_by=self.dice.choice(("reply", "message")), utilized=True, signal=signal
            )
            await outbox.put(conn, [_event(FEEDBACK_RECORDED, self.subject, turn, told)])
        self.told.append(told)
        await self._relay()

    async def _consume(self, topic: Topic, handle: Handle, rt: Runtime) -> None:
        log = self.logs[topic.name]
        while not self._over():
            begun = log.committed
            batch = log.events[begun : begun + self.dice.randint(1, 4)]
            if not batch:
                await asyncio.sleep(0.02)
                continue
            log.held += 1
            try:
                await handle(rt, self.subject, batch + batch[:1] if self.dice.random() < 0.1 else batch)
                await self._relay()
                if self.dice.random() > 0.12:
                    log.committed = max(log.committed, begun + len(batch))
            except TransientError:
                self.lost += 1
            finally:
                log.held -= 1
            await self._pause()

    def _over(self) -> bool:
        idle = all(log.committed == len(log.events) and not log.held for log in self.logs.values())
        return idle and not self.saying

    async def _pause(self) -> None:
        await asyncio.sleep(self.dice.random() / 100 if self.dice.random() < 0.3 else 0)

    async def _relay(self) -> None:
        """Moves the outbox to the topics, each event once, in commit order."""
        for topic, delivered in await published(self.runtimes[0], self.subject, self.seen):
            log = self.logs.get(topic)
            if log and delivered.envelope.event_id not in self.seen:
                log.events.append(delivered)
            self.seen.add(delivered.envelope.event_id)


async def _until_it_is_done(act: Callable[[], Awaitable[None]]) -> None:
    while True:
        with suppress(TransientError):
            return await act()


_ACTIVE = """SELECT memory_id FROM memory_items
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND status = 'active' ORDER BY memory_id"""
_TURN = """
INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash, event_id, trace_id,
    policy_version, said_at, result)
VALUES (%(tenant_id)s, %(user_id)s, %(turn_id)s, %(session_id)s,
    (SELECT count(*) + 1 FROM turns WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s), %(key)s, '',
    %(turn_id)s, '', '', %(said_at)s, '{}')
"""
_OUTBOX = """SELECT aggregatetype, payload::text AS payload FROM event_outbox
WHERE aggregateid = %(key)s AND NOT id = ANY(%(seen)s) ORDER BY position"""


async def observe(rt: Runtime, subject: Subject, turn: Turn) -> None:
    """Writes the turn with its observations and their outbox events, as an observer does."""
    async with rt.db.transaction(subject) as conn:
        whose = {**subject._asdict(), "turn_id": turn.turn_id, "session_id": turn.session_id}
        await conn.execute(_TURN, {**whose, "key": str(turn.turn_id), "said_at": turn.said_at})
        await turn_states.note_observed(conn, subject, {turn.turn_id: {}})
        await observations.insert(conn, subject, turn.rows)
        urgent, normal = turn.of(urgent=True), turn.of(urgent=False)
        events: list[outbox.Outgoing] = []
        if urgent:
            told = ObservationUrgent(observation_ids=urgent, turn_id=turn.turn_id)
            events.append(_event(OBSERVATION_URGENT, subject, turn, told))
        if normal:
            recorded = ObservationRecorded(observation_ids=normal, turn_id=turn.turn_id)
            events.append(_event(OBSERVATION_RECORDED, subject, turn, recorded))
        await outbox.put(conn, events)
        await turn_states.settle(conn, subject, [] if turn.rows else [turn.turn_id])


def _event(topic: Topic, subject: Subject, turn: Turn, payload: Payload) -> outbox.Outgoing:
    row = Row(
        turn.turn_id, turn.session_id, 0, turn.turn_id, "", "", turn.said_at, turn.said_at, observed=True, events=()
    )
    return topic, make_envelope(subject, row, payload)


async def published(rt: Runtime, subject: Subject, seen: Iterable[UUID] = ()) -> list[tuple[str, Delivered]]:
    """Every event of the user except those seen, by topic, in order."""
    async with rt.db.system() as conn:
        key = f"{subject.tenant_id}:{subject.user_id}"
        found: Sequence[Mapping[str, Any]] = await (
            await conn.execute(_OUTBOX, {"key": key, "seen": list(seen)})
        ).fetchall()
    return [(r["aggregatetype"], parse(Stored(r["aggregatetype"], value=r["payload"].encode()))) for r in found]


async def one_by_one(rt: Runtime, subject: Subject, story: Sequence[Turn]) -> None:
    """The same story through one evolver: each event once, each turn completed before the next."""
    done: set[UUID] = set()
    handlers = {topic.name: handle for topic, handle, _ in CONSUMERS}
    for turn in story:
        await observe(rt, subject, turn)
        while fresh := await published(rt, subject, done):
            for topic, delivered in fresh:
                if handle := handlers.get(topic):
                    await handle(rt, subject, [delivered])
                done.add(delivered.envelope.event_id)
