"""Rebuild: derives a user's memories in a scratch schema, compares them with the live ones, and replaces those."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from services.cli.progress import Say
from services.cli.rebuild import replay
from services.cli.rebuild.differ import Difference, differences
from services.cli.rebuild.kept import KeptModels, readdress_answers
from services.observer.extract import PURPOSE
from shared.bus.access import KafkaAccess
from shared.bus.broker import Bus
from shared.db import Database
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.policy import Policy
from shared.runtime import Runtime
from shared.settings import Settings
from shared.store import memory, model_answers
from shared.store import rebuild as store
from shared.store.model_answers import CachedAnswer
from shared.store.operator_acts import UNNAMED, Operator, note_act
from shared.store.rebuild import MemoryPlace, Rows, SettledObservation
from shared.store.schema import scratch
from shared.store.upkeep import Upkeep

WAIT_S = 5.0
NOWHERE = "nowhere:9"


@dataclass(frozen=True)
class RebuildReport:
    """What a rebuild came to."""

    turns: int
    observations: int
    upkeep: int
    memories: int
    open_turns: int
    lost_turns: int
    other_policy: int
    missed: Mapping[str, int]
    differences: Sequence[Difference]
    applied: bool
    took_s: float
    phases: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of the live rows: memories, and the order in which they were derived."""

    places: Sequence[MemoryPlace]
    settled: Sequence[SettledObservation]
    journal: Sequence[Upkeep]
    answers: list[CachedAnswer]
    memories: Rows
    epoch: int


async def rebuild(
    dsn: str, settings: Settings, policy: Policy, subject: Subject, *, apply: bool, say: Say, by: Operator = UNNAMED
) -> RebuildReport:
    """Derives the user's memories from the log and compares them with the live ones; `apply` replaces those. Everything
    else keeps running: only `apply` writes live rows, in one transaction, with an audit event.
    """
    began = time.monotonic()
    async with scratch(dsn) as schema, Database(dsn, size=2, schema=schema) as db:
        phases: dict[str, float] = {}

        def count_passed(name: str) -> None:
            phases[name] = time.monotonic() - began - sum(phases.values())

        waiting = await count_open_turns(db, subject, say)
        count_passed("prepared")
        seen = await _snapshot(db, subject)
        models = KeptModels(each for each in seen.answers if each.purpose == PURPOSE)
        rt = _runtime(settings, db, policy, models)
        await copy_seen(rt, subject, seen)
        count_passed("copied")
        await replay.observe(rt, subject, seen.places, say)
        count_passed("read")
        async with db.transaction(subject) as conn:
            order = replay.in_order(await store.load_derived(conn, subject), seen.settled, seen.places)
        await replay.evolve(rt, subject, order, seen.journal, say)
        count_passed("made again")
        async with db.transaction(subject) as conn:
            differing = differences(seen.memories, rebuilt := await store.rebuilt(conn, subject))
        count_passed("compared")
        if apply:
            await _apply(db, subject, seen, {each.memory_id for each in differing}, by)
    return RebuildReport(
        turns=len(seen.places),
        observations=len(order),
        upkeep=len(seen.journal),
        memories=len(rebuilt),
        open_turns=waiting,
        lost_turns=sum(place.lost for place in seen.places),
        other_policy=sum(place.policy_version != policy.version for place in seen.places),
        missed=models.missed,
        differences=differing,
        applied=apply,
        took_s=time.monotonic() - began,
        phases=phases,
    )


def _runtime(settings: Settings, db: Database, policy: Policy, models: KeptModels) -> Runtime:
    """The runtime of the handlers: the scratch schema, an unconnected bus, and stored model answers."""
    asks = policy.observer.model_copy(update={"use_model": models.chat_model_id is not None})
    nowhere = KafkaAccess(NOWHERE)
    bus = Bus(nowhere, policy.delivery)
    return Runtime(settings, db, bus, models, policy.model_copy(update={"observer": asks}), nowhere, policy.version)


async def count_open_turns(db: Database, subject: Subject, say: Say) -> int:
    """The number of open turns, after a short wait for the workers."""
    until, most = time.monotonic() + WAIT_S, 0
    while True:
        async with db.transaction(subject) as conn:
            waiting = await store.open_turns(conn, subject)
        if not waiting or time.monotonic() > until:
            return waiting
        most = max(most, waiting)
        say("open turns waited for", most - waiting, most)
        await asyncio.sleep(0.1)


async def _snapshot(db: Database, subject: Subject) -> Snapshot:
    """Reads under the user's lock, so that no memory changes; turns first, because turns that end meanwhile are left
    out."""
    async with db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        return Snapshot(
            await store.places(conn, subject),
            await store.load_settled(conn, subject),
            await store.journal(conn, subject),
            await store.answers(conn, subject),
            await store.live(conn, subject),
            await store.epoch(conn, subject),
        )


async def copy_seen(rt: Runtime, subject: Subject, seen: Snapshot) -> None:
    async with rt.db.transaction(subject) as conn:
        await store.copy_log(conn, subject)
        await store.copy_advice(conn, subject)
        if rt.models.chat_model_id is not None:
            known = readdress_answers(seen.answers, rt.models.chat_model_id, rt.policy.observer)
            await model_answers.put_cached(conn, subject, known)


async def _apply(db: Database, subject: Subject, seen: Snapshot, ids: set[UUID], by: Operator) -> None:
    """Replaces the live rows by the derived ones; TransientError if there is more to derive by now."""
    async with db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        waiting = await store.open_turns(conn, subject)
        if waiting:
            raise TransientError(f"{waiting} turns are still open: nothing was applied; try again when they are done")
        if await store.epoch(conn, subject) != seen.epoch:
            raise TransientError("data of the user was erased meanwhile: nothing was applied; try again")
        if await store.live(conn, subject) != seen.memories:
            raise TransientError("memories changed meanwhile: nothing was applied; try again")
        await store.replace(conn, subject, ids)
        await store.leave_scratch(conn)
        await note_act(conn, subject, "rebuild", "rebuild.applied", by, {"memories": len(ids)})
