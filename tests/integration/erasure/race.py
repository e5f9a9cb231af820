"""One user's workers and erasures in a random order, including interruptions between two transactions of one worker.

One lane runs the seed's choices reproducibly; several lanes run concurrently, like several processes.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from schemas import topics
from schemas.erasure import ErasureRequest
from schemas.events import FeedbackRecorded
from schemas.promotion import PromotionDecision
from services.analyzer import handler as analyzer
from services.cli.rebuild.run import RebuildReport, rebuild
from services.compose.intake.commit import commit_turn
from services.compose.manage import promotions as compose
from services.erasure import handler as eraser
from services.evolver import embed, promotion, receptions, rounds
from services.evolver import handler as evolver
from services.librarian import handler as librarian
from services.librarian import promotion as promoted
from services.observer import handler as observer
from services.observer import second_step
from shared import clock
from shared.bus.delivery import Delivered, parse
from shared.db import epoch_of
from shared.domain.subjects import Subject
from shared.erasure.request import Asked, request
from shared.errors import RefusedError, TransientError
from shared.runtime import Runtime
from shared.store import contexts, outbox, promotions
from shared.store.promotions import Proposal
from tests.integration.erasure.scripted import MEET, Shelf
from tests.integration.erasure.turns import Plan, Said, package_of, turn_of
from tests.integration.erasure.words import Sentence, learnt, sentence, word
from tests.system.kafka import Stored
from tests.system.wait import PATIENCE_S

Aside = psycopg.AsyncConnection[DictRow]
"""A superuser connection for the test's own queries and deliveries."""
HANDLERS: dict[str, tuple[Callable[..., Awaitable[None]], Callable[..., Awaitable[None]]]] = {
    topics.TURN_COMMITTED.name: (observer.observe_turns, observer.give_up),
    topics.TURN_EXTRACT.name: (second_step.add_from_model, second_step.give_up),
    topics.OBSERVATION_RECORDED.name: (analyzer.propose, analyzer.give_up),
    topics.OBSERVATION_URGENT.name: (evolver.apply_corrections, evolver.give_up),
    topics.ANALYSIS_PROPOSED.name: (evolver.apply_proposals, evolver.give_up),
    topics.FEEDBACK_RECORDED.name: (receptions.apply_feedback, receptions.give_up),
    topics.RESOURCE_INGEST.name: (librarian.keep, librarian.give_up),
    topics.PROMOTION_APPROVED.name: (promoted.write, promoted.give_up),
    topics.ERASURE_REQUESTED.name: (eraser.erase_all, eraser.give_up),
}
SCOPES = ("all", "personal", "session", "items")
DEEP = 3
"""The maximum depth of nested interruptions."""
TRIES = 400


@dataclass
class Race:
    """A user, the user's statements, the erasures, and all events."""

    rt: Runtime
    aside: Aside
    subject: Subject
    seed: int
    dsn: str | None = None
    """Whether memories are sometimes rebuilt."""
    asks: list[str] | None = None
    """The scopes to erase; random unless given."""
    said: list[Said] = field(default_factory=list[Said])
    refused: list[Plan] = field(default_factory=list[Plan])
    erasures: list[Asked] = field(default_factory=list[Asked])
    told: list[Delivered] = field(default_factory=list[Delivered])
    published: list[Delivered] = field(default_factory=list[Delivered])
    """All events of the user; `told` are those that some worker handles."""
    named: dict[UUID, str] = field(default_factory=dict[UUID, str])
    """The texts of memories when an erasure of items was requested."""
    lost: Counter[str] = field(default_factory=Counter[str])
    path: list[str] = field(default_factory=list[str])
    last: Said | None = None

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        dice = self.dice
        self.language = dice.choice(("en", "zh", "both"))
        self.sessions = [f"s{n}" for n in range(dice.choice((1, 2)))]
        self.lanes = 3 if dice.random() < 0.25 else 1
        self.plans = [self._plan() for _ in range(dice.randint(2, 4))]
        self.repeats = dice.random() < 0.2
        if self.repeats:
            again = self.plans[0].sentences[0]
            self.plans.append(Plan(dice.choice(self.sessions), (again,)))
        chosen = [dice.choice(SCOPES) for _ in range(2 if dice.random() < 0.3 else 1)]
        self.wanted = chosen if self.asks is None else self.asks
        self.due = sorted(dice.randint(2, 40) for _ in self.wanted)
        self.ticks = self.depth = 0
        self.waiting: dict[str, list[Delivered]] = {topic: [] for topic in HANDLERS}
        self.packages: list[dict[str, Any]] = []
        self.late: list[Plan] = []
        self.asking = asyncio.Lock()
        self.calm = False

    def _sentence(self) -> Sentence:
        return sentence(self.dice, self._tongue())

    def _tongue(self) -> str:
        return self.dice.choice(("en", "zh")) if self.language == "both" else self.language

    def _plan(self) -> Plan:
        said = tuple(self._sentence() for _ in range(self.dice.choice((1, 1, 2))))
        more = self.dice.choice(("", "", "", "reply", "reply", "file", "tool", "end", "named"))
        aside = word(self.dice, self._tongue()) if more in ("reply", "file", "tool", "named") else ""
        return Plan(self.dice.choice(self.sessions), said, more, aside)

    # ------------------------------------------------------------ the course of the race

    async def run(self) -> None:
        """Everything is stated, erased, delivered and redelivered, until nothing is open."""
        MEET.set(self._meet)
        self.began = (await self._one("SELECT clock_timestamp() AS now"))["now"]
        if self.dice.random() < 0.4:
            self.late = [Plan(self.dice.choice(self.sessions), (self._sentence(),), sent_at=self.began)]
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self.lanes):
                tasks.create_task(self._lane())
        while self.wanted:
            await self._ask()
        await self._settle()
        self.calm = True
        for plan in (*self.late, *self.plans):
            await self._surely(plan)
        await self._settle()
        await self._all_again()
        await self._settle()
        fresh = learnt(self.dice, self._tongue())
        self.last = await self._surely(Plan(self.sessions[0], (fresh,)))
        await self._settle()
        assert self.last is not None

    async def _lane(self) -> None:
        for _ in range(TRIES):
            if not (self.plans or self.wanted or any(self.waiting.values())):
                return
            await self._tick()
            await self._step()

    async def _meet(self, where: str) -> None:
        """Called between two statements of a handler: runs the erasure if it is due, or another handler."""
        if self.calm:
            return
        if self.lanes > 1:
            await asyncio.sleep(self.dice.choice((0, 0, 0.001, 0.004)))
            return
        if where == "within":
            return
        await self._tick()
        if self.depth < DEEP and self.dice.random() < 0.3:
            self.depth += 1
            try:
                await self._step()
            finally:
                self.depth -= 1

    async def _tick(self) -> None:
        self.ticks += 1
        if self.wanted and self.due and self.ticks >= self.due[0]:
            self.due.pop(0)
            await self._ask()

    async def _step(self) -> None:
        """One random action for the user; lost events are redelivered."""
        choices: list[tuple[float, Callable[[], Awaitable[object]]]] = [
            (0.5, self._upkeep),
            (0.4, self._praise),
            (0.6, self._embed),
            (0.5, self._compose),
            (0.5, self._promote),
        ]
        if self.dsn and self.depth == 0:
            choices.append((0.6, self._rebuild))
        if self.plans:
            choices.append((4.0, self._speak))
        if any(self.waiting.values()):
            choices.append((8.0, self._deliver))
        if self.told:
            choices.append((0.8, self._again))
        if self.packages:
            choices.append((1.0, self._record))
        if self.late and not self.wanted:
            choices.append((1.0, self._late))
        weights = [weight for weight, _ in choices]
        ((_, act),) = self.dice.choices(choices, weights)
        self.path.append(act.__name__)
        try:
            await act()
        except TransientError as error:
            self.lost[str(error)] += 1
        await self._relay()

    async def _settle(self) -> None:
        """Waits until nothing is open and every erasure is completed, pauses included."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            await self._relay()
            if any(self.waiting.values()):
                await self._quietly(self._deliver)
            elif open_ones := await self._open():
                for each in open_ones:
                    await self._quietly(lambda id=each: eraser.work(self.rt, self.subject, id))
                await asyncio.sleep(0.01)
            elif self.packages:
                await self._quietly(self._record)
            else:
                return
        raise AssertionError(f"never comes to rest: {self.lost.most_common(3)}")

    async def _quietly(self, act: Callable[[], Awaitable[object]]) -> None:
        try:
            await act()
        except TransientError as error:
            self.lost[str(error)] += 1

    # ------------------------------------------------------------ the actions

    async def _speak(self) -> None:
        if self.plans:
            await self._commit(self.plans.pop(0))

    async def _late(self) -> None:
        if self.late:
            await self._commit(self.late.pop(0))

    async def _commit(self, plan: Plan) -> Said | None:
        turn = turn_of(plan, self.subject)
        try:
            done = await commit_turn(turn, self.rt, transport="kafka", sent_at=plan.sent_at)
        except RefusedError as error:
            if error.code != "erased":
                raise
            self.refused.append(plan)
            return None
        said = Said.of(plan, done.result.turn_id)
        self.said.append(said)
        return said

    async def _surely(self, plan: Plan) -> Said | None:
        """Commits the turn; transient errors are retried, as any client does."""
        for _ in range(TRIES):
            try:
                return await self._commit(plan)
            except TransientError as error:
                self.lost[str(error)] += 1
        raise AssertionError(f"cannot be committed: {self.lost.most_common(3)}")

    async def _deliver(self) -> None:
        """Handles the next events of some topic, or gives up the first; failed events are redelivered."""
        ready = [topic for topic, events in self.waiting.items() if events]
        if not ready:
            return
        topic = self.dice.choice(ready)
        many = self.dice.choice((1, 1, 2, 3))
        batch, self.waiting[topic] = self.waiting[topic][:many], self.waiting[topic][many:]
        if self.dice.random() < 0.05:
            self.dice.shuffle(batch)
        handle, give_up = HANDLERS[topic]
        try:
            if not self.calm and self.dice.random() < 0.02:
                first, *rest = batch
                self.waiting[topic] = rest + self.waiting[topic]
                batch = [first]
                await give_up(self.rt, self.subject, first, "ValueError")
            else:
                await handle(self.rt, self.subject, batch + batch[:1] if self.dice.random() < 0.1 else batch)
        except TransientError:
            self.waiting[topic] = batch + self.waiting[topic]
            raise

    async def _again(self) -> None:
        """Redelivers one event."""
        if self.told:
            await self._redeliver(self.dice.choice(self.told))

    async def _redeliver(self, event: Delivered) -> None:
        handle, _ = HANDLERS[event.record.topic]
        await handle(self.rt, self.subject, [event])

    async def _all_again(self) -> None:
        """Redelivers every event, in any order."""
        events = list(self.told)
        self.dice.shuffle(events)
        for event in events[:12]:
            await self._quietly(lambda each=event: self._redeliver(each))

    async def _upkeep(self) -> None:
        await rounds.keep_now(self.rt, self.subject, forced=True)

    async def _promote(self) -> None:
        """Approves a memory for the tenant, regardless of its qualification."""
        await promotion.propose_of(self.rt, self.subject)
        async with self.rt.db.transaction(self.subject) as conn:
            able = await promotions.candidates(conn, self.subject, 0.0)
            chosen = sorted(able, key=lambda each: each.content_text)[:1]
            new = [
                Proposal(clock.uuid7(), each.memory_id, "public", "brand", "pending_approval", {}, None)
                for each in chosen
            ]
            await promotions.put(conn, self.subject, new, timedelta(days=7))
        approved = PromotionDecision(**self.subject._asdict(), decision="approve")
        for each in new:
            with suppress(RefusedError):  # it may have been erased in the meantime
                await compose.decide(self.rt, each.proposal_id, approved)

    async def _praise(self) -> None:
        found = await self._memories()
        if not found:
            return
        chosen = tuple(self.dice.sample(self._sorted(found), min(2, len(found))))
        signal = self.dice.choice(("positive_confirm", "negative", "negative", "neutral"))
        told = FeedbackRecorded(memory_ids=chosen, judged_by="message", utilized=True, signal=signal)
        event = outbox.event(told, self.subject, clock.uuid7(), trace_id="t", policy_version="")
        async with self.rt.db.transaction(self.subject) as conn:
            await outbox.put(conn, [(topics.FEEDBACK_RECORDED, event)])

    async def _rebuild(self) -> None:
        """Replaces the live memories with a rebuild; the erasure may interrupt it."""
        await self.rebuilt(apply=True)

    async def rebuilt(self, *, apply: bool) -> RebuildReport:
        """The result of a rebuild."""
        assert self.dsn
        return await rebuild(self.dsn, self.rt.settings, self.rt.policy, self.subject, apply=apply, say=_silent)

    async def _embed(self) -> None:
        found = await self._all("SELECT chunk_id FROM memory_chunks WHERE active AND embedding_model_id IS NULL")
        await embed.embed_of(self.rt, self.subject, [row["chunk_id"] for row in found])

    async def _compose(self) -> None:
        """Answers a package now and records it later."""
        async with self.rt.db.transaction(self.subject) as conn:
            epoch = await epoch_of(conn)
            found = await (await conn.execute(_ACTIVE, self.subject._asdict())).fetchall()
        self.packages.append(package_of(self.subject, epoch, self.dice.choice(self.sessions), found))

    async def _record(self) -> None:
        """Records packages, unless something was erased in the meantime."""
        if self.packages:
            package = self.packages.pop(0)
            async with self.rt.db.single() as conn:
                await contexts.record(conn, [package])

    async def _ask(self) -> None:
        """Requests the next erasure; two at once with several lanes."""
        if not self.wanted:
            return
        scope = self.wanted.pop(0)
        told = {**self.subject._asdict(), "scope": scope, **await self._which(scope)}
        wanted = ErasureRequest.model_validate(told)
        both = self.lanes > 1 and self.dice.random() < 0.3
        self.path.append(f"ask {wanted.scope}")
        made = await asyncio.gather(*[self._asked(wanted) for _ in range(1 + both)])
        self.erasures += [each for each in made if each]
        await self._relay()

    async def _asked(self, wanted: ErasureRequest) -> Asked | None:
        for _ in range(10):
            try:
                return await request(self.rt.db, self.rt.policy, wanted)
            except TransientError as error:
                self.lost[str(error)] += 1
            except RefusedError as error:
                # it was erased in the meantime
                if error.code != "not_found":
                    raise
                return None
        raise AssertionError("an erasure cannot be asked for")

    async def _which(self, scope: str) -> dict[str, Any]:
        if scope == "session":
            there = sorted({each.session_id for each in self.said})
            if there:
                return {"session_ids": [self.dice.choice(there)]}
        if scope == "items":
            found = await self._memories()
            if found:
                self.named |= found
                many = min(len(found), self.dice.choice((1, 1, 2)))
                return {"memory_ids": self.dice.sample(self._sorted(found), many)}
        return {"scope": "all"} if scope in ("session", "items") else {}

    # ------------------------------------------------------------ queries

    async def _relay(self) -> None:
        """The events of the outbox, now published."""
        key = f"{self.subject.tenant_id}:{self.subject.user_id}"
        for row in await (await self.aside.execute(_TAKEN, {"key": key})).fetchall():
            event = parse(Stored(row["aggregatetype"], value=row["payload"].encode()))
            self.published.append(event)
            if row["aggregatetype"] in HANDLERS:
                self.told.append(event)
                self.waiting[row["aggregatetype"]].append(event)

    @property
    def shelf(self) -> Shelf:
        """The knowledge side of its workers."""
        return cast("Shelf", self.rt.knowledge)

    async def _open(self) -> list[UUID]:
        found = await self._all("SELECT tombstone_id FROM tombstones WHERE status <> 'completed'")
        return [row["tombstone_id"] for row in found]

    async def _memories(self) -> dict[UUID, str]:
        found = await self._all("SELECT memory_id, content_text FROM memory_items WHERE tombstone_id IS NULL")
        return {row["memory_id"]: row["content_text"] for row in found}

    @staticmethod
    def _sorted(found: dict[UUID, str]) -> list[UUID]:
        """In an order that does not depend on a clock."""
        return sorted(found, key=lambda id: (found[id], id))

    async def _one(self, statement: str) -> DictRow:
        row = await (await self.aside.execute(statement)).fetchone()  # pyright: ignore[reportArgumentType] # of tests
        assert row is not None
        return row

    async def _all(self, statement: str) -> list[DictRow]:
        """The rows of the user that match the statement."""
        mine = statement.replace(" WHERE ", " WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND ")
        cursor = await self.aside.execute(mine, self.subject._asdict())  # pyright: ignore[reportArgumentType] # of tests
        return await cursor.fetchall()


def _silent(_what: str, _done: int, _total: int) -> None:
    """A progress bar without output."""


_ACTIVE = """SELECT memory_id, content_text FROM memory_items
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND status = 'active'"""
_TAKEN = """
WITH taken AS (DELETE FROM event_outbox WHERE aggregateid = %(key)s RETURNING position, aggregatetype, payload)
SELECT aggregatetype, payload::text AS payload FROM taken ORDER BY position
"""
