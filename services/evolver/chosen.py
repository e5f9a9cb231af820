"""The choice of the user for a named memory: its content, and the line of versions that it continues.

An item that restores says what was: an older version, or a statement that was held as a conflict. One that edits says
what is to be. The content of what is restored is read here, never taken from the client.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from schemas.memory_types import types_with
from schemas.vocabulary import Assertion, Epistemic, MemoryType
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.extraction.edited import VALUE, Content, edit_content, show_value
from shared.extraction.turn_texts import EDIT, RESTORE
from shared.language.normalise import detect
from shared.policy import ConfidencePolicy
from shared.resolution.from_rows import statement_of
from shared.store import memory, observations, versions

WANTED = types_with("wanted")
DIRECTIVE: Assertion = "directive"


@dataclass(frozen=True)
class UserChoice:
    """The statement with its content, what it may replace, and the end of the line that nothing active continues."""

    seen: ObservationRow
    active: tuple[Memory, ...] = ()
    restored: UUID | None = None
    end: Memory | None = None
    next_version: int = 1
    line: tuple[UUID, ...] = ()


def is_choice(seen: ObservationRow) -> bool:
    """Whether the user names what is to hold."""
    return seen.detector == "items" and seen.pattern in (RESTORE, EDIT)


async def load(conn: Connection, subject: Subject, seen: ObservationRow, policy: ConfidencePolicy) -> UserChoice | None:
    """The choice that an item states; None where what it names is not there."""
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
    # where what it became is gone, whatever else the line holds
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
    # an item that gives only a value carries it as its text too
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
    """The version with the line that it continues, though what that ended with held no longer."""
    origin = {**fresh.provenance, **({versions.RESTORED: str(choice.restored)} if choice.restored else {})}
    fresh = replace(fresh, provenance=origin)
    if choice.end is None or choice.end.memory_id in fresh.supersedes:
        return fresh
    if not fresh.supersedes:
        fresh = replace(fresh, root_id=choice.end.root_id, version=choice.next_version)
    return replace(fresh, supersedes=(*fresh.supersedes, choice.end.memory_id))
