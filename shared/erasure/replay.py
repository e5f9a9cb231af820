"""Repeats erasures after a restore, before anybody sees the restored data."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from schemas.vocabulary import TombstoneStatus
from shared.db import Connection, Database
from shared.domain.subjects import Subject
from shared.erasure import items
from shared.erasure.request import enforce
from shared.store import user_state
from shared.store.erasure import extent, renewed, tombstones
from shared.store.erasure.extent import ErasureExtent
from shared.store.erasure.tombstones import Tombstone

SET_BACK = timedelta(minutes=5)
"""Turns within this time after an erasure count as earlier: clocks differ, and no restore is that fast."""


async def replay(db: Database, subject: Subject, tombstone: Tombstone, policy_version: str) -> TombstoneStatus:
    """The state of the tombstone: as in the backup, else it is put in force again for all restored data in its scope.
    It keeps its id and times. Its epoch, and the user's, is at least the previous one. Later turns of the user stay: a
    backup can contain them without the tombstone if an earlier restore ran without the ledger.
    """
    async with db.as_erasure(subject) as conn:
        there = await tombstones.one(subject, tombstone.tombstone_id).on(conn)
        if there is not None:
            await _reach(conn, subject, tombstone.epoch)
            return there.status
        epoch = await tombstones.next_epoch(conn, subject, tombstone.epoch)
        at = (await tombstones.load_now(conn)).isoformat()
        again = {"from": None, "to": "queued", "at": at, "attempt": 0, "error": "replayed after a restore"}
        standing = replace(
            tombstone,
            status="queued",
            epoch=epoch,
            attempts=0,
            error=None,
            proof=None,
            history=[*tombstone.history, again],
            escalated_at=None,
            completed_at=None,
            idempotency_key=await _key(conn, subject, tombstone),
        )
        covered = await find_covered(conn, subject, standing)
        if standing.scope == "items":
            standing = replace(standing, memory_ids=join_ids(standing.memory_ids, covered.memories))
        await enforce(conn, subject, standing, covered, policy_version, standing.tombstone_id.hex)
        if covered.until is not None:
            await renewed.keep(conn, subject)
        return standing.status


def join_ids(first: Sequence[UUID], more: Sequence[UUID]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys((*first, *more)))


async def _reach(conn: Connection, subject: Subject, least: int) -> None:
    """Raises the user's epoch to at least its previous value."""
    if await user_state.epoch(subject).on(conn) < least:
        await tombstones.next_epoch(conn, subject, least)


async def _key(conn: Connection, subject: Subject, known: Tombstone) -> str:
    """Its idempotency key, unless another erasure has used it since."""
    taken = await tombstones.by_key(conn, subject, known.idempotency_key)
    return known.idempotency_key if taken is None else f"{known.idempotency_key}:{known.tombstone_id}"


async def find_covered(conn: Connection, subject: Subject, tombstone: Tombstone) -> ErasureExtent:
    """The restored data in its scope, without checking whether it exists."""
    if tombstone.scope == "items":
        return await _items(conn, subject, tombstone)
    named = tombstone.session_ids if tombstone.scope == "session" else None
    until = _in_force_since(tombstone) + SET_BACK
    said = await renewed.load_turns_until(conn, subject, until, named)
    if said.more:
        memories = await extent.from_turns(conn, subject, said.turns)
        return ErasureExtent(tombstone.scope, said.sessions, said.turns, memories, until=until)
    if tombstone.scope == "session":
        return await extent.of_sessions(conn, subject, tombstone.session_ids)
    return ErasureExtent(tombstone.scope)


def _in_force_since(tombstone: Tombstone) -> datetime:
    """The time when it took effect: later than the request if that waited on a topic."""
    first = next((each["at"] for each in tombstone.history), None)
    return max(tombstone.requested_at, datetime.fromisoformat(first)) if first else tombstone.requested_at


async def _items(conn: Connection, subject: Subject, tombstone: Tombstone) -> ErasureExtent:
    """The derived memories; for others, the turns from which they would be derived. Such a turn is erased completely,
    because its relevant words are unknown until it is read.
    """
    covered = await items.of(conn, subject, tombstone.memory_ids)
    there = await renewed.find_derived(conn, subject, tombstone.memory_ids)
    times = {_time_of(each) for each in tombstone.memory_ids if each not in there}
    unread = await renewed.load_unread(conn, subject)
    return replace(covered, turns=tuple(turn for turn in unread if _time_of(turn) in times))


def _time_of(id: UUID) -> int:
    """The id of a memory contains the time of its first source turn (`relate.candidate_id`)."""
    return id.int >> 80
