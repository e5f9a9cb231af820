"""What the user says of a memory's use by hand: of no use, never to be brought up, or to be brought up again."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from services.evolver.rules import Effect
from services.evolver.rules.due import apply_effect
from shared.db import Connection
from shared.domain.decay import MemoryStats
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.extraction.turn_texts import BRING_UP_AGAIN, JUDGEMENTS, NEVER_AGAIN
from shared.indexing import show
from shared.policy import Policy
from shared.store import chunks, keeping, versions

NOT_USED = Effect(misses=1)
"""As of an answer that used nothing of it; the answer itself has counted the injection."""


def is_judgement(seen: ObservationRow) -> bool:
    """Whether the user judges the use of a named memory, and says nothing of what it says."""
    return seen.detector == "items" and seen.pattern in JUDGEMENTS


async def judge(
    conn: Connection, subject: Subject, seen: ObservationRow, policy: Policy
) -> tuple[MemoryStats, MemoryStats] | None:
    """The active version of the memory before and after; None where nothing of it is active."""
    named = seen.related_memory_id
    line = await versions.line(conn, subject, named) if named else []
    active = await keeping.active(conn, subject, [each.memory_id for each in line if each.status == "active"])
    if not active:
        return None
    before, after = active[-1], apply_judgement(active[-1], seen.pattern, seen.said_at, policy)
    await _put(conn, subject, before, after)
    return before, after


async def lift_silence(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Those of these memories that were not to be brought up may be again."""
    for before in await keeping.active(conn, subject, ids):
        await _put(conn, subject, before, bring_up_again(before))


async def silence_version(conn: Connection, subject: Subject, memory_id: UUID, at: datetime) -> None:
    """A new version of what is not to be brought up is not to be brought up either."""
    for before in await keeping.active(conn, subject, [memory_id]):
        await _put(conn, subject, before, silence(before, at))


async def _put(conn: Connection, subject: Subject, before: MemoryStats, after: MemoryStats) -> None:
    await keeping.save(conn, subject, [after])
    if before.shown and not after.shown:
        await chunks.hide(conn, subject, [after.memory_id])
    if after.shown and not before.shown:
        await show(conn, subject, [after.memory_id])


def apply_judgement(stats: MemoryStats, pattern: str, at: datetime, policy: Policy) -> MemoryStats:
    """The memory after this was said of it; said again it stays as it is, but that each time of no use counts."""
    if pattern == NEVER_AGAIN:
        return silence(stats, at)
    if pattern == BRING_UP_AGAIN:
        return bring_up_again(stats)
    return apply_effect(stats, NOT_USED, at, policy)


def silence(stats: MemoryStats, at: datetime) -> MemoryStats:
    """Known and out of sight; its confidence is what it was."""
    if stats.silenced_at is not None:
        return stats
    if stats.fused_at is not None:
        return replace(stats, silenced_at=at)
    return replace(stats, silenced_at=at, fused_at=at, fused_from=stats.confidence)


def bring_up_again(stats: MemoryStats) -> MemoryStats:
    """In sight again, unless it was rejected too often before."""
    if stats.silenced_at is None:
        return stats
    if stats.fused_at != stats.silenced_at:
        return replace(stats, silenced_at=None)
    return replace(stats, silenced_at=None, fused_at=None, fused_from=None)
