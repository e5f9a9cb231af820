"""Reads the log again with the workers' handlers, in the original order."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import ObservationRecorded
from services.cli.progress import Say
from services.evolver import handler as evolver
from services.evolver import upkeep
from services.observer import handler as observer
from shared import clock
from shared.bus.delivery import Delivered
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import memory
from shared.store import rebuild as store
from shared.store.rebuild import Derived, MemoryPlace, SettledObservation
from shared.store.upkeep import Upkeep

BATCH = 200
OPEN = frozenset({"new", "analyzed"})
LOST = frozenset({"quarantined", "blocked"})


@dataclass
class _Nowhere:
    """The origin of an event without a broker."""

    topic: str = ""
    partition: int = 0
    offset: int = 0
    timestamp: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[tuple[str, bytes]] = ()


async def observe(rt: Runtime, subject: Subject, places: Sequence[MemoryPlace], say: Say) -> None:
    """Observes each turn; a batch ends where a turn was observed after a later one."""
    done = 0
    for batch in batches([place.turn_id for place in places if not place.lost]):
        await observer.observe_again(rt, subject, batch)
        done += len(batch)
        say("turns read", done, len(places))


def batches(turn_ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    """The turns in their order, cut where their ids go back and where a batch is full."""
    batch: list[UUID] = []
    for turn_id in turn_ids:
        if batch and (len(batch) == BATCH or turn_id < batch[-1]):
            yield batch
            batch = []
        batch.append(turn_id)
    if batch:
        yield batch


def in_order(
    derived: Iterable[Derived], settled: Iterable[SettledObservation], places: Iterable[MemoryPlace]
) -> list[tuple[UUID, datetime]]:
    """The observations for the evolver with their times; those that only the current rules find get the time of the
    turn's outcome. Observations that were not processed or were given up are left out.
    """
    live = {each.observation_id: each for each in settled}
    outcomes = {place.turn_id: place.outcome_at for place in places}
    rows: list[tuple[datetime, Derived]] = []
    for each in derived:
        at = _at(live.get(each.observation_id), outcomes.get(each.turn_id))
        if at is not None:
            rows.append((at, each))
    rows.sort(key=lambda row: (row[0], row[1].turn_id, row[1].ordinal, row[1].span_start, row[1].observation_id))
    return [(each.observation_id, at) for at, each in rows]


def _at(live: SettledObservation | None, outcome_at: datetime | None) -> datetime | None:
    if live is None:
        return outcome_at
    return None if live.state in OPEN | LOST else live.at or outcome_at


async def evolve(
    rt: Runtime, subject: Subject, order: Sequence[tuple[UUID, datetime]], journal: Sequence[Upkeep], say: Say
) -> None:
    """Repeats every change in order: statements with the evolver's handler, upkeep from its journal."""
    async with rt.db.transaction(subject) as conn:
        await store.queue(conn, subject, order)
    done = 0
    for statements, records in changes(order, journal):
        for at in range(0, len(statements), BATCH):
            batch = statements[at : at + BATCH]
            await evolver.apply_corrections(rt, subject, [_event(subject, batch, rt.version)])
            say("changes made again", done + at + len(batch), len(order) + len(journal))
        if records:
            await keep_up(rt, subject, records)
        done += len(statements) + len(records)


async def keep_up(rt: Runtime, subject: Subject, records: Sequence[Upkeep]) -> None:
    """Applies the entries of the journal to the memories derived so far."""
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        await upkeep.apply(conn, subject, records, rt.policy)


def changes(
    order: Sequence[tuple[UUID, datetime]], journal: Sequence[Upkeep]
) -> Iterator[tuple[list[UUID], list[Upkeep]]]:
    """Alternating groups: observations, then the upkeep that followed them."""
    times = [at for _, at in order]
    ids = [observation_id for observation_id, _ in order]
    done = 0
    for end, records in groupby(journal, key=lambda each: bisect_left(times, each.at)):
        yield ids[done:end], list(records)
        done = end
    yield ids[done:], []


def _event(subject: Subject, observation_ids: Sequence[UUID], version: str) -> Delivered:
    payload = ObservationRecorded(observation_ids=tuple(observation_ids), turn_id=observation_ids[0])
    envelope = Envelope(
        event_id=clock.uuid7(),
        event_type=payload.event_type,
        idempotency_key=f"rebuild:{observation_ids[0]}",
        trace_id="rebuild",
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        occurred_at=clock.now(),
        policy_version=version,
    )
    return Delivered(envelope, payload, _Nowhere())
