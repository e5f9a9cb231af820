"""The effects of time and use on memories: each is a row of the journal, and `apply` carries it out.

Rules decide (`rules/due.py`, `rules/merge.py`), the journal records, `apply` carries out: the same rows give the same
memories, now or in a rebuild.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import MemoryChanged
from schemas.topics import MEMORY_CHANGED
from services.evolver.rules import due, merge
from services.evolver.rules.merge import MergeCandidate
from shared import clock
from shared.db import Connection
from shared.domain.decay import Due, MemoryStats
from shared.domain.memories import Memory
from shared.domain.statements import speaker_of
from shared.domain.subjects import Subject
from shared.metrics.memory import UPKEEP_DONE
from shared.policy import Policy
from shared.store import chunks, keeping, memory, observations, outbox, upkeep
from shared.store.chunks import chunk_of
from shared.store.observations import SettledConflict
from shared.store.upkeep import Upkeep

STEP = 1e-6
"""Confidences closer than this are equal."""


@dataclass(frozen=True)
class UpkeepChange:
    """The effect of a record on one memory; `before` is None for a new one."""

    done: Upkeep
    before: MemoryStats | None
    after: MemoryStats


@dataclass
class _Ledger:
    """The memories after the records so far; unwritten changes are in `touched`."""

    known: dict[UUID, MemoryStats]
    touched: dict[UUID, None] = field(default_factory=dict[UUID, None])
    hidden: list[UUID] = field(default_factory=list[UUID])
    ended: list[SettledConflict] = field(default_factory=list[SettledConflict])

    def put(self, after: MemoryStats, at: datetime) -> None:
        before = self.known[after.memory_id]
        self.known[after.memory_id] = after
        self.touched[after.memory_id] = None
        if before.shown and not after.shown:
            self.hidden.append(after.memory_id)
        if after.status != "active":
            self.ended.append(SettledConflict(after.memory_id, "replaced", at))

    async def write(self, conn: Connection, subject: Subject) -> None:
        await keeping.save(conn, subject, [self.known[id] for id in self.touched])
        if self.hidden:
            await chunks.hide(conn, subject, self.hidden)
        await observations.settle_conflicts(conn, subject, self.ended)
        self.touched, self.hidden, self.ended = {}, [], []


async def apply(conn: Connection, subject: Subject, records: Sequence[Upkeep], policy: Policy) -> list[UpkeepChange]:
    """The effects of these journal records, in order; memories that are no longer active stay unchanged.

    Times are those of the record and nothing is random. The caller holds the user's lock and the transaction.
    """
    named = {id for record in records for id in record.memory_ids}
    ledger = _Ledger({kept.memory_id: kept for kept in await keeping.active(conn, subject, named)})
    changes: list[UpkeepChange] = []
    for record in records:
        active = [ledger.known[id] for id in dict.fromkeys(record.memory_ids) if _active(ledger.known.get(id))]
        if record.job == "consolidation":
            changes += await _merge(conn, subject, ledger, record, active, policy)
            continue
        for before in active:
            after = due.apply_job(before, record.job, record.detail, record.at, policy)
            ledger.put(after, record.at)
            changes.append(UpkeepChange(record, before, after))
    await ledger.write(conn, subject)
    return changes


def _active(kept: MemoryStats | None) -> bool:
    return kept is not None and kept.status == "active"


async def _merge(
    conn: Connection, subject: Subject, ledger: _Ledger, record: Upkeep, members: Sequence[MemoryStats], policy: Policy
) -> list[UpkeepChange]:
    """Merges the set; no effect if one of them is no longer active."""
    if len(members) != len(record.memory_ids):
        return []
    await ledger.write(conn, subject)
    rows = {row.memory_id: row for row in await memory.by_ids(conn, subject, record.memory_ids)}
    ordered = sorted(members, key=lambda stats: (stats.valid_at, stats.memory_id))
    versions = [rows[member.memory_id] for member in ordered]
    root = versions[0].root_id
    fresh = merge_versions(versions, await keeping.latest_version(conn, subject, root) + 1, policy)
    pinned = any(stats.pinned for stats in ordered)
    changes: list[UpkeepChange] = []
    for before in ordered:
        ended = replace(before, status="merged", superseded_by=fresh.memory_id, invalid_at=fresh.valid_at)
        ledger.put(ended, record.at)
        changes.append(UpkeepChange(record, before, ended))
    await ledger.write(conn, subject)
    await memory.insert(conn, subject, fresh)
    await chunks.put(conn, subject, [chunk_of(fresh)])
    (merged,) = await keeping.active(conn, subject, [fresh.memory_id])
    ledger.known[merged.memory_id] = merged
    if pinned:
        ledger.put(replace(merged, pinned=True), record.at)
    return [*changes, UpkeepChange(record, None, merged)]


def to_candidate(row: Memory, model: str | None = None) -> MergeCandidate:
    """The memory for consolidation."""
    return MergeCandidate(
        memory_id=row.memory_id,
        type=row.type,
        key=row.key,
        text=row.content_text,
        polarity=row.polarity,
        epistemic=row.epistemic_type,
        speaker=speaker_of(row.value),
        provenance=row.provenance_class,
        assertion=row.assertion,
        confidence=row.confidence,
        model=model,
        day=row.value.get("event_date"),
    )


def merge_versions(versions: Sequence[Memory], version: int, policy: Policy) -> Memory:
    """The memory merged from these versions, oldest first: the text of one of them, the evidence of all."""
    one = merge.merge_memories([to_candidate(row) for row in versions], policy.confidence)
    speaks = next(row for row in versions if row.memory_id == one.speaks)
    validated = [row.last_validated_at for row in versions if row.last_validated_at]
    return replace(
        speaks,
        memory_id=one.memory_id,
        root_id=versions[0].root_id,
        version=version,
        confidence=one.confidence,
        provenance_class=one.provenance,
        provenance={**speaks.provenance, "merged": [str(row.memory_id) for row in versions]},
        assertion=one.assertion,
        flags=tuple(dict.fromkeys(flag for row in versions for flag in row.flags)),
        supersedes=tuple(row.memory_id for row in versions),
        valid_at=max(row.valid_at for row in versions),
        last_validated_at=max(validated, default=None),
        source_sessions=tuple(sorted({session for row in versions for session in row.source_sessions})),
        source_turns=memory.turns_kept(turn for row in versions for turn in row.source_turns),
        created_at=None,
    )


async def perform(
    conn: Connection, subject: Subject, wanted: Sequence[tuple[Due, Envelope]], policy: Policy
) -> list[UpkeepChange]:
    """Records, carries out and reports all changes with their cause; the caller holds the lock."""
    done = await upkeep.insert(conn, subject, [due for due, _ in wanted])
    changes = await apply(conn, subject, done, policy) if done else []
    causes = {record.upkeep_id: cause for record, (_, cause) in zip(done, wanted, strict=True)}
    told = ((change, to_changed(change)) for change in changes)
    await outbox.put(conn, [_event(c, payload, causes[c.done.upkeep_id]) for c, payload in told if payload])
    for record in done:
        UPKEEP_DONE.labels(record.job).inc()
    return changes


def _event(change: UpkeepChange, payload: MemoryChanged, cause: Envelope) -> outbox.Outgoing:
    fresh = {
        "event_id": clock.uuid7(),
        "event_type": payload.event_type,
        "idempotency_key": f"{payload.event_type}:{payload.memory_id}:{change.done.upkeep_id}",
        "occurred_at": clock.now(),
        "payload": payload.model_dump(mode="json"),
    }
    return MEMORY_CHANGED, cause.model_copy(update=fresh)


def to_changed(change: UpkeepChange) -> MemoryChanged | None:
    """The event of the change; none if only counts have changed."""
    before, after = change.before, change.after
    moved = before is None or abs(before.confidence - after.confidence) > STEP
    match change.done.job:
        case "feedback" | "calibration":
            if not moved and after.status == "active":
                return None
            risen = before is not None and after.confidence > before.confidence
            what = "confirmed" if risen and change.done.job == "feedback" else "calibrated"
        case "consolidation":
            what = "created" if before is None else "merged"
        case "expiry" | "misses":
            what = "expired"
        case "fuse":
            what = "fused"
        case "outdated":
            what = "outdated"
        case "refreshed":
            what = "confirmed"
    return MemoryChanged(
        memory_id=after.memory_id,
        root_id=after.root_id,
        version=after.version,
        change=what,
        status=after.status,
        superseded_by=after.superseded_by,
        confidence_before=round(before.confidence, 4) if before else None,
        confidence_after=round(after.confidence, 4),
    )


def make_envelope(subject: Subject, at: datetime, policy_version: str) -> Envelope:
    """The envelope of an event without a turn: a round of upkeep of this user at that time."""
    trace = clock.uuid7()
    return Envelope(
        event_id=trace,
        event_type=MemoryChanged.event_type,
        idempotency_key=f"upkeep:{trace}",
        trace_id=trace.hex,
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        occurred_at=at,
        policy_version=policy_version,
    )
