"""Erasures from before a restore: what has come back of them is erased again, before anybody sees it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from schemas.vocabulary import TombstoneStatus
from shared.db import Connection, Database
from shared.domain.subjects import Subject
from shared.erasure import items
from shared.erasure.request import enforce
from shared.store.erasure import extent, renewed, tombstones
from shared.store.erasure.extent import ErasureExtent
from shared.store.erasure.tombstones import Tombstone

SET_BACK = timedelta(minutes=5)
"""What was said less than this after an erasure counts as said before it: clocks are set, and nothing is restored and
talked to again in so short a time."""


async def replay(db: Database, subject: Subject, tombstone: Tombstone, policy_version: str) -> TombstoneStatus:
    """Where the tombstone stands: as the backup has it, else in force now over all that came back of what it covers.

    It keeps its id and its times. Its epoch is at least what it was, and the user's with it. What the user said after
    it stays: that can be in a backup without the tombstone where one was restored without the ledger before.
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
    """The user's epoch is not lower than it was."""
    if await tombstones.epoch(subject).on(conn) < least:
        await tombstones.next_epoch(conn, subject, least)


async def _key(conn: Connection, subject: Subject, known: Tombstone) -> str:
    """Its own key, unless another erasure was asked for under the same one since."""
    taken = await tombstones.by_key(conn, subject, known.idempotency_key)
    return known.idempotency_key if taken is None else f"{known.idempotency_key}:{known.tombstone_id}"


async def find_covered(conn: Connection, subject: Subject, tombstone: Tombstone) -> ErasureExtent:
    """What has come back of what it covers; nothing is asked whether it is there."""
    if tombstone.scope == "items":
        return await _items(conn, subject, tombstone)
    named = tombstone.session_ids if tombstone.scope == "session" else None
    until = _in_force_since(tombstone) + SET_BACK
    said = await renewed.load_parted(conn, subject, until, named)
    if said.more:
        memories = await extent.from_turns(conn, subject, said.turns)
        return ErasureExtent(tombstone.scope, said.sessions, said.turns, memories, until=until)
    if tombstone.scope == "session":
        return await extent.of_sessions(conn, subject, tombstone.session_ids)
    return ErasureExtent(tombstone.scope)


def _in_force_since(tombstone: Tombstone) -> datetime:
    """When it took what was there: later than it was asked for where the request waited on a topic."""
    first = next((each["at"] for each in tombstone.history), None)
    return max(tombstone.requested_at, datetime.fromisoformat(first)) if first else tombstone.requested_at


async def _items(conn: Connection, subject: Subject, tombstone: Tombstone) -> ErasureExtent:
    """The memories as far as they had been derived; of others, the turns that would give them once they are read.

    Such a turn goes whole, for nobody has read yet which of its words they are.
    """
    covered = await items.of(conn, subject, tombstone.memory_ids)
    there = await renewed.find_derived(conn, subject, tombstone.memory_ids)
    times = {_time_of(each) for each in tombstone.memory_ids if each not in there}
    unread = await renewed.load_unread(conn, subject)
    return replace(covered, turns=tuple(turn for turn in unread if _time_of(turn) in times))


def _time_of(id: UUID) -> int:
    """A memory's id has the time of the turn that first said it (`relate.candidate_id`)."""
    return id.int >> 80
