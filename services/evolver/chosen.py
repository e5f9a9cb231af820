"""Explicit choices of the user: the content of a named memory, the versions that it continues, and verdicts on its use.

A memory can be useless, suppressed, or allowed again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from schemas.memory_types import types_with
from schemas.vocabulary import Assertion, Epistemic, MemoryType
from services.evolver.rules import Effect
from services.evolver.rules.due import apply_effect
from shared.db import Connection
from shared.domain.decay import MemoryStats
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.extraction.edited import VALUE, Content, edit_content, show_value
from shared.extraction.turn_texts import BRING_UP_AGAIN, NEVER_AGAIN, RESTORE
from shared.language.normalise import detect
from shared.policy import ConfidencePolicy, Policy
from shared.resolution.from_rows import statement_of
from shared.store import chunks, keeping, memory, observations, versions
from shared.store.chunks import show_memories

WANTED = types_with("wanted")
DIRECTIVE: Assertion = "directive"


@dataclass(frozen=True)
class UserChoice:
    """The statement with its content, the memories that it may replace, and the end of the line
    without an active successor.
    """

    seen: ObservationRow
    active: tuple[Memory, ...] = ()
    restored: UUID | None = None
    end: Memory | None = None
    next_version: int = 1
    line: tuple[UUID, ...] = ()


async def load(conn: Connection, subject: Subject, seen: ObservationRow, policy: ConfidencePolicy) -> UserChoice | None:
    """The choice in an item; None if its memory does not exist."""
    named = seen.related_memory_id
    line = await versions.line(conn, subject, named) if named else []
    filled = await fill_observation(conn, subject, seen, line)
    if filled is None:
        return None
    if filled.related_memory_id not in (None, named):
        line = await versions.line(conn, subject, filled.related_memory_id)
    alone = replace(statement_of(filled), quote="", old_value=None, old_key=None, related=None)
    beside = await memory.load_concerned(subject, [alone]).on(conn)
    became = versions.follow(line, filled.related_memory_id or named)
    # if its successor is gone, whatever else the line contains
    end = became or versions.end_of(line)
    now = became if became and became.status == "active" else None
    if became is None:
        now = next((m for m in reversed(line) if m.status == "active"), None)
    return UserChoice(
        replace(
            filled,
            related_memory_id=now.memory_id if now else None,
            confidence=policy.level_of(DIRECTIVE, filled.flags).initial,
        ),
        (*((now,) if now else ()), *beside),
        restored=named if seen.pattern == RESTORE else None,
        end=end,
        line=tuple(m.memory_id for m in line),
        next_version=1 + max((m.version for m in line if end and m.root_id == end.root_id), default=0),
    )


async def fill_observation(
    conn: Connection, subject: Subject, seen: ObservationRow, line: list[Memory]
) -> ObservationRow | None:
    named = next((m for m in line if m.memory_id == seen.related_memory_id), None)
    if seen.pattern == RESTORE and named is None and seen.related_memory_id:
        held = await observations.load(conn, subject, [seen.related_memory_id])
        return restate_observation(seen, held[0]) if held else None
    if named is None or named.status == "erased":
        return None
    if seen.pattern == RESTORE:
        return replace(
            seen,
            kind=named.type,
            key=named.key,
            value=named.value,
            text=named.content_text,
            polarity=named.polarity,
            flags=named.flags,
            epistemic=_epistemic(named.epistemic_type, named.type),
            language=named.language,
            valid_until=keep_if_ahead(named.valid_until, seen.said_at),
        )
    old = Content(named.type, named.key, named.value, named.content_text, named.polarity, valid_until=named.valid_until)
    value = seen.value.get(VALUE)
    # an item with only a value has it as its text too
    text = "" if value is not None and seen.text == show_value(value) else seen.text
    new = edit_content(old, text, value, seen.said_at)
    return replace(
        seen,
        kind=new.type,
        key=new.key,
        value=dict(new.value),
        text=new.text,
        polarity=new.polarity,
        flags=tuple(dict.fromkeys((*seen.flags, *new.flags))),
        epistemic=_epistemic(named.epistemic_type, new.type),
        language=detect(new.text),
        valid_until=keep_if_ahead(new.valid_until, seen.said_at),
    )


def restate_observation(seen: ObservationRow, held: ObservationRow) -> ObservationRow:
    return replace(
        seen,
        kind=held.kind,
        key=held.key,
        value=held.value,
        text=held.text,
        polarity=held.polarity,
        flags=held.flags,
        epistemic=held.epistemic,
        language=held.language,
        retracts=held.retracts,
        old_value=held.old_value,
        valid_until=keep_if_ahead(held.valid_until, seen.said_at),
        related_memory_id=held.related_memory_id,
    )


def _epistemic(was: Epistemic, kind: MemoryType) -> Epistemic:
    if was != "outdated":
        return was
    return "preference" if kind in WANTED else "fact"


def keep_if_ahead(until: datetime | None, now: datetime) -> datetime | None:
    return until if until and until > now else None


def continue_version(fresh: Memory, choice: UserChoice) -> Memory:
    """The version with the line that it continues, even if its last version is no longer active."""
    origin = {**fresh.provenance, **({versions.RESTORED: str(choice.restored)} if choice.restored else {})}
    fresh = replace(fresh, provenance=origin)
    if choice.end is None or choice.end.memory_id in fresh.supersedes:
        return fresh
    if not fresh.supersedes:
        fresh = replace(fresh, root_id=choice.end.root_id, version=choice.next_version)
    return replace(fresh, supersedes=(*fresh.supersedes, choice.end.memory_id))


NOT_USED = Effect(misses=1)
"""Like that of an answer without use; the answer itself has counted the injection."""


async def judge(
    conn: Connection, subject: Subject, seen: ObservationRow, policy: Policy
) -> tuple[MemoryStats, MemoryStats] | None:
    """The active version of the memory before and after; None without an active one."""
    named = seen.related_memory_id
    line = await versions.line(conn, subject, named) if named else []
    active = await keeping.active(conn, subject, [each.memory_id for each in line if each.status == "active"])
    if not active:
        return None
    before, after = active[-1], apply_judgement(active[-1], seen.pattern, seen.said_at, policy)
    await _put(conn, subject, before, after)
    return before, after


async def end_suppression(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Ends the suppression of those of these memories that were suppressed."""
    for before in await keeping.active(conn, subject, ids):
        await _put(conn, subject, before, bring_up_again(before))


async def suppress_version(conn: Connection, subject: Subject, memory_id: UUID, at: datetime) -> None:
    """Suppresses a new version of a suppressed memory."""
    for before in await keeping.active(conn, subject, [memory_id]):
        await _put(conn, subject, before, silence(before, at))


async def _put(conn: Connection, subject: Subject, before: MemoryStats, after: MemoryStats) -> None:
    await keeping.save(conn, subject, [after])
    if before.shown and not after.shown:
        await chunks.hide(conn, subject, [after.memory_id])
    if after.shown and not before.shown:
        await show_memories(conn, subject, [after.memory_id])


def apply_judgement(stats: MemoryStats, pattern: str, at: datetime, policy: Policy) -> MemoryStats:
    """The memory after this verdict; repeating it changes nothing, except that each `useless` counts."""
    if pattern == NEVER_AGAIN:
        return silence(stats, at)
    if pattern == BRING_UP_AGAIN:
        return bring_up_again(stats)
    return apply_effect(stats, NOT_USED, at, policy)


def silence(stats: MemoryStats, at: datetime) -> MemoryStats:
    """Known but hidden; its previous confidence is recorded."""
    if stats.silenced_at is not None:
        return stats
    if stats.fused_at is not None:
        return replace(stats, silenced_at=at)
    return replace(stats, silenced_at=at, fused_at=at, fused_from=stats.confidence)


def bring_up_again(stats: MemoryStats) -> MemoryStats:
    """Visible again, unless it was fused before."""
    if stats.silenced_at is None:
        return stats
    if stats.fused_at != stats.silenced_at:
        return replace(stats, silenced_at=None)
    return replace(stats, silenced_at=None, fused_at=None, fused_from=None)
