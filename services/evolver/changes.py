"""The changes of one evolver transaction to memories, and the rows that report them.

The fence separates observations that an erasure covers from those that may be written. The rest of a memory of which a
part ends becomes a separate memory with the provenance of the whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import EvolutionBlockedByErasure, MemoryChanged, Payload
from schemas.topics import MEMORY_CHANGED, Topic
from schemas.vocabulary import MemoryStatus
from services.evolver import chosen
from services.evolver.chosen import UserChoice
from shared import clock
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import MAY_AMEND, SUSPECTED, ActiveMemory, is_twin
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.extraction.edited import Content
from shared.extraction.turn_texts import EDIT, JUDGEMENTS, RESTORE, is_forgotten
from shared.metrics.erasure import EVOLUTION_BLOCKED
from shared.resolution.from_rows import known_of, left_id, statement_of, with_content
from shared.resolution.operations import Advice, Write
from shared.runtime import Runtime
from shared.store import memory
from shared.store.chunks import Chunk, chunk_of
from shared.store.erasure import tombstones
from shared.store.erasure.tombstones import SuppressionProbe, Tombstone
from shared.store.history import AMENDED
from shared.store.memory import FORGOTTEN
from shared.store.observations import Mark, OpenConflict, SettledConflict


@dataclass(frozen=True)
class Fence:
    """`waiting` observations are covered by an open erasure and settled after it. `barred` ones repeat, in a turn from
    before an erasure, erased text, and are never written.
    """

    waiting: Mapping[UUID, EvolutionBlockedByErasure] = field(default_factory=dict[UUID, EvolutionBlockedByErasure])
    barred: Mapping[UUID, EvolutionBlockedByErasure] = field(default_factory=dict[UUID, EvolutionBlockedByErasure])


OPEN = Fence()


async def read_fence(conn: Connection, subject: Subject, due: Sequence[ObservationRow]) -> Fence:
    """The state of these observations; the caller holds the transaction that would write them."""
    if not due:
        return OPEN
    under_way = [each for each in await tombstones.in_force(conn, subject) if rules.is_fenced(each.status)]
    waiting = {seen.observation_id: to_blocked(seen, each) for seen in due if (each := find_covering(seen, under_way))}
    probes = [
        SuppressionProbe(seen.observation_id, seen.turn_id, statement_of(seen).sense)
        for seen in due
        if seen.observation_id not in waiting
    ]
    # the hashes are queried directly: a rebuild has them, and no tombstones
    barred = await tombstones.find_suppressed(conn, subject, probes)
    blocked = {
        id: EvolutionBlockedByErasure(observation_id=id, reason="erased", tombstone_id=tombstone, epoch=epoch)
        for id, (tombstone, epoch) in barred.items()
    }
    return Fence(waiting, blocked)


def find_covering(seen: ObservationRow, under_way: Sequence[Tombstone]) -> Tombstone | None:
    return next((each for each in under_way if each.covers(seen.session_id)), None)


def to_blocked(seen: ObservationRow, by: Tombstone) -> EvolutionBlockedByErasure:
    return EvolutionBlockedByErasure(
        observation_id=seen.observation_id, reason=by.status, tombstone_id=by.tombstone_id, epoch=by.epoch
    )


Change = Literal["created", "superseded", "retracted", "confirmed", "pinned", "unpinned"]


@dataclass
class MemoryChanges:
    """The changes of one transaction: the resulting memories, and the rows that report them, written at its end."""

    conn: Connection
    subject: Subject
    rt: Runtime
    known: dict[UUID, ActiveMemory]
    envelopes: dict[UUID, Envelope]
    fused: frozenset[UUID] = frozenset()
    silenced: frozenset[UUID] = frozenset()
    advice: Mapping[UUID, Advice] = field(default_factory=dict[UUID, Advice])
    marks: list[Mark] = field(default_factory=list[Mark])
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    hidden: list[UUID] = field(default_factory=list[UUID])
    conflicts: list[OpenConflict] = field(default_factory=list[OpenConflict])
    settled: list[SettledConflict] = field(default_factory=list[SettledConflict])
    events: list[tuple[Topic, Envelope]] = field(default_factory=list[tuple[Topic, Envelope]])
    choices: dict[UUID, UserChoice] = field(default_factory=dict[UUID, UserChoice])

    def choose(self, choice: UserChoice) -> ObservationRow:
        """The user's choices, each with its content and the active memories concerned."""
        self.known |= {m.memory_id: known_of(m) for m in choice.active}
        self.fused |= {m.memory_id for m in choice.active if m.fused_from is not None}
        self.silenced |= {m.memory_id for m in choice.active if m.silenced_at is not None}
        self.choices[choice.seen.observation_id] = choice
        return choice.seen

    def mark(self, seen: ObservationRow, reason: str, memory_id: UUID) -> None:
        """The statement changed this memory, or would have."""
        self.marks.append(Mark(seen.observation_id, "evolved", reason, memory_id))

    def add(self, seen: ObservationRow, fresh: Memory) -> None:
        """The stored version is known, found by searches, and reported."""
        self.known[fresh.memory_id] = known_of(fresh)
        self.chunks.append(chunk_of(fresh))
        report_created(self, seen, fresh)


def is_choice(seen: ObservationRow) -> bool:
    """Whether the user names the version that is to hold."""
    return seen.detector == "items" and seen.pattern in (RESTORE, EDIT)


def is_judgement(seen: ObservationRow) -> bool:
    """Whether the user judges the use of a named memory, and not its content."""
    return seen.detector == "items" and seen.pattern in JUDGEMENTS


async def end(
    changes: MemoryChanges,
    seen: ObservationRow,
    ends: Sequence[ActiveMemory],
    status: Literal["superseded", "retracted"],
    by: UUID | None,
    at: datetime | None = None,
) -> None:
    """Ends these memories, now or at the time of the statement."""
    if not ends:
        return
    ids = [old.memory_id for old in ends]
    forgotten = status == "retracted" and is_forgotten(seen)
    await memory.close(changes.conn, changes.subject, ids, status, at or seen.said_at, by, forgotten=forgotten)
    for old in ends:
        changes.known.pop(old.memory_id, None)
        changes.hidden.append(old.memory_id)
        changes.settled.append(SettledConflict(old.memory_id, "replaced", seen.said_at))
        changed = to_changed(old, status, status, by=by, before=old.confidence)
        report_change(changes, seen, changed, old.memory_id)


async def find_twins(changes: MemoryChanges, seen: ObservationRow, fresh: Memory) -> list[ActiveMemory]:
    """The memories that cannot be active beside the version: others under its key, or with the same text."""
    told = replace(seen, kind=fresh.type, key=fresh.key, value=fresh.value, text=fresh.content_text)
    said = replace(statement_of(told), sense=fresh.content_hash, quote="", old_key=None, related=None)
    active = [known_of(each) for each in await memory.load_concerned(changes.subject, [said]).on(changes.conn)]
    return [each for each in active if is_twin(each, said)]


async def suppress_with(
    changes: MemoryChanges, seen: ObservationRow, fresh: Memory, ended: Sequence[ActiveMemory]
) -> None:
    """The version of a suppressed memory is suppressed too."""
    if any(old.memory_id in changes.silenced for old in ended):
        await chosen.suppress_version(changes.conn, changes.subject, fresh.memory_id, seen.said_at)
        changes.silenced |= {fresh.memory_id}
        changes.hidden.append(fresh.memory_id)


def to_changed(
    target: ActiveMemory,
    change: Change,
    status: MemoryStatus,
    *,
    by: UUID | None = None,
    before: float | None = None,
    after: float | None = None,
) -> MemoryChanged:
    return MemoryChanged(
        memory_id=target.memory_id,
        root_id=target.root_id,
        version=target.version,
        change=change,
        status=status,
        superseded_by=by,
        confidence_before=before,
        confidence_after=after,
    )


def block(changes: MemoryChanges, blocked: EvolutionBlockedByErasure) -> None:
    """Reports that an erasure covers the observation."""
    EVOLUTION_BLOCKED.inc()
    cause = changes.envelopes.get(blocked.observation_id) or next(iter(changes.envelopes.values()))
    _add_event(changes, cause, blocked, f"{blocked.observation_id}:{blocked.tombstone_id}")


def report_created(changes: MemoryChanges, seen: ObservationRow, fresh: Memory) -> None:
    """Reports the new version."""
    changed = to_changed(known_of(fresh), "created", "active", after=fresh.confidence)
    report_change(changes, seen, changed, fresh.memory_id)


def report_change(changes: MemoryChanges, seen: ObservationRow, payload: Payload, about: UUID) -> None:
    """Reports the change that the observation caused."""
    _add_event(changes, changes.envelopes[seen.observation_id], payload, f"{about}:{seen.observation_id}")


def _add_event(changes: MemoryChanges, cause: Envelope, payload: Payload, about: str) -> None:
    fresh = {
        "event_id": clock.uuid7(),
        "event_type": payload.event_type,
        "idempotency_key": f"{payload.event_type}:{about}",
        "occurred_at": clock.now(),
        "payload": payload.model_dump(mode="json"),
    }
    changes.events.append((MEMORY_CHANGED, cause.model_copy(update=fresh)))


def to_version(seen: ObservationRow, write: Write) -> Memory:
    """The version that the statement becomes: it continues the first memory that it ends, or starts a new line."""
    # the observation's id becomes the memory's, so that a write receipt names it from the start
    first = write.ends[0] if write.ends else None
    sessions = {seen.session_id, *(s for old in write.ends for s in old.source_sessions)}
    return Memory(
        memory_id=seen.observation_id,
        root_id=first.root_id if first else seen.observation_id,
        version=first.version + 1 if first else 1,
        type=seen.kind,
        key=seen.key,
        value=seen.value,
        content_text=seen.text,
        content_hash=statement_of(seen).sense,
        language=seen.language,
        polarity=seen.polarity,
        status="active",
        confidence=write.relation.confidence,
        provenance_class=write.relation.provenance,
        provenance={
            "observation_id": str(seen.observation_id),
            "turn_id": str(seen.turn_id),
            "ordinal": seen.ordinal,
            "span": [seen.span_start, seen.span_end],
            "detector": seen.detector,
            "pattern": seen.pattern,
            **({"experiment": seen.experiment} if seen.experiment else {}),
        },
        assertion=write.relation.assertion,
        epistemic_type=seen.epistemic,
        flags=tuple(flag for flag in seen.flags if flag not in (SUSPECTED, MAY_AMEND)),
        supersedes=tuple(old.memory_id for old in write.ends),
        superseded_by=None,
        valid_at=seen.said_at,
        invalid_at=None,
        valid_until=seen.valid_until,
        last_validated_at=seen.said_at,
        source_sessions=tuple(sorted(sessions)),
        source_turn_id=seen.turn_id,
        source_turns=(seen.turn_id,),
    )


async def leave_rest(changes: MemoryChanges, seen: ObservationRow, write: Write) -> None:
    """What the memory that the version replaces says beside what has ended stays, where the version does not say it."""
    if write.left is not None and write.left is not write.content:
        await leave_part(changes, seen, write.ends[0], write.left)


async def leave_part(changes: MemoryChanges, seen: ObservationRow, ended: ActiveMemory, part: Content) -> None:
    """This part of a memory that has ended stays, unless something active says it or has its key.

    Nothing is stored of a fused memory.
    """
    if ended.memory_id in changes.fused:
        return
    row = with_content(seen, part)
    statement = replace(statement_of(row), quote="", old_key=None, related=None)
    active = await memory.load_concerned(changes.subject, [statement]).on(changes.conn)
    if any(is_twin(known_of(each), statement) for each in active):
        return
    (old,) = await memory.by_ids(changes.conn, changes.subject, [ended.memory_id])
    fresh = _to_rest(old, row, statement.sense)
    await memory.insert(changes.conn, changes.subject, fresh)
    await suppress_with(changes, seen, fresh, [ended])
    changes.add(seen, fresh)


def _to_rest(old: Memory, row: ObservationRow, sense: str) -> Memory:
    """A new line with the text and turns of the old memory."""
    its_id = left_id(row.observation_id, old.memory_id)
    origin = {name: value for name, value in old.provenance.items() if name != FORGOTTEN}
    return replace(
        old,
        memory_id=its_id,
        root_id=its_id,
        version=1,
        type=row.kind,
        key=row.key,
        value=row.value,
        content_text=row.text,
        content_hash=sense,
        language=row.language,
        polarity=row.polarity,
        status="active",
        provenance={**origin, AMENDED: str(old.memory_id)},
        flags=row.flags,
        supersedes=(),
        superseded_by=None,
        valid_at=row.said_at,
        invalid_at=None,
        valid_until=row.valid_until,
        created_at=None,
    )
