"""Proposals and corrections -> memory versions: the only writer of memory tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import AnalysisProposed, MemoryChanged, MemoryWriteRejected, ObservationRecorded, Payload
from schemas.topics import MEMORY_CHANGED, Topic
from schemas.vocabulary import MemoryStatus
from services.evolver import rules
from shared import clock
from shared.bus.delivery import Delivered
from shared.db import Connection, Subject
from shared.known import known_of, statement_of
from shared.relate import SUPPOSED, Known
from shared.resolve import Confirm, Operation, Reject, Retract, Write, meant, named, resolve
from shared.runtime import Runtime
from shared.store import chunks, inbox, memory, observations, outbox, outcomes
from shared.store.chunks import Chunk
from shared.store.memory import Memory
from shared.store.observations import Mark, ObservationRow
from shared.telemetry import OUTCOME_SECONDS, logger
from shared.text import language, segment

CONSUMER = "evolver"
Change = Literal["created", "superseded", "retracted", "confirmed"]


@dataclass
class Evolution:
    """What one transaction does: memories as they become, and the rows that tell of it, written at its end."""

    conn: Connection
    subject: Subject
    rt: Runtime
    known: dict[UUID, Known]
    envelopes: dict[UUID, Envelope]
    marks: list[Mark] = field(default_factory=list[Mark])
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    hidden: list[UUID] = field(default_factory=list[UUID])
    events: list[tuple[Topic, Envelope]] = field(default_factory=list[tuple[Topic, Envelope]])


async def apply_proposals(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each proposal is applied or rejected, once, after the corrections that were said before it."""
    envelopes = {o: event.envelope for event in events for o in _proposal(event).observation_ids}
    await _evolve(rt, subject, events, envelopes, urgent=False)


async def apply_corrections(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each correction is durable now: it skips analysis (seed 004 section 2.3.0.1-A), and so does what came before it.

    What it corrects may still be on its way through the analyzer: that is settled first, or it would be written later
    and stand beside its own correction.
    """
    envelopes = {o: event.envelope for event in events for o in _corrections(event).observation_ids}
    await _evolve(rt, subject, events, envelopes, urgent=True)


def _proposal(event: Delivered) -> AnalysisProposed:
    assert isinstance(event.payload, AnalysisProposed)  # noqa: S101 # the topic carries nothing else
    return event.payload


def _corrections(event: Delivered) -> ObservationRecorded:
    assert isinstance(event.payload, ObservationRecorded)  # noqa: S101 # the topic carries nothing else
    return event.payload


async def _evolve(
    rt: Runtime, subject: Subject, events: Sequence[Delivered], envelopes: dict[UUID, Envelope], *, urgent: bool
) -> None:
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        found = await observations.due(conn, subject, envelopes, urgent_only=not urgent)
        if not found:
            return
        evolution = await _begun(conn, rt, subject, found, envelopes)
        for seen in found:
            replaced = await _replaced(evolution, seen)
            known = list(evolution.known.values())
            await _apply(evolution, seen, resolve(statement_of(seen), known, replaced, rt.policy.confidence))
        await chunks.put(conn, subject, evolution.chunks)
        if evolution.hidden:
            await chunks.hide(conn, subject, evolution.hidden)
        await observations.mark(conn, subject, evolution.marks)
        await observations.settle(conn, subject, [o.observation_id for o in found], "applied")
        await outbox.put(conn, evolution.events)
        finished = await outcomes.settle(conn, subject, {o.turn_id for o in found})
    for done in finished:
        OUTCOME_SECONDS.observe(done.took_s)


async def _begun(
    conn: Connection, rt: Runtime, subject: Subject, found: Sequence[ObservationRow], envelopes: dict[UUID, Envelope]
) -> Evolution:
    keys = {o.key for o in found if o.key} | _old_keys(found)
    active = [
        *await memory.related(conn, subject, keys, {statement_of(o).sense for o in found if not o.key}),
        *await memory.by_ids(conn, subject, {o.related_memory_id for o in found if o.related_memory_id}),
    ]
    known = {m.memory_id: known_of(m) for m in active if m.status == "active"}
    cause = next(iter(envelopes.values()))
    return Evolution(conn, subject, rt, known, {o.observation_id: cause for o in found} | envelopes)


def _old_keys(found: Sequence[ObservationRow]) -> set[str]:
    return {key for o in found if isinstance(key := o.value.get("old_key"), str)}


async def _replaced(evolution: Evolution, seen: ObservationRow) -> list[Known]:
    """The active memories that a correction or a denial says are no longer so."""
    if seen.related_memory_id and (seen.retracts or seen.assertion not in SUPPOSED):
        return [k for k in evolution.known.values() if k.memory_id == seen.related_memory_id]
    if seen.assertion != "correction" and not seen.retracts:
        return []
    old = named(seen.value.get("old_key"), evolution.known.values())
    if old or not seen.old_value:
        return old
    said = await memory.saying(evolution.conn, evolution.subject, seen.old_value)
    return meant(seen.kind, [known_of(m) for m in said])


async def _apply(evolution: Evolution, seen: ObservationRow, operation: Operation) -> None:
    match operation:
        case Write():
            await _write(evolution, seen, operation)
        case Confirm():
            await _confirm(evolution, seen, operation)
        case Retract():
            await _retract(evolution, seen, operation)
        case Reject():
            held = operation.held.memory_id if operation.held else None
            evolution.marks.append(
                Mark(seen.observation_id, "rejected", f"{operation.action}:{operation.reason}", held)
            )
            rejected = MemoryWriteRejected(observation_id=seen.observation_id, reason=operation.reason)
            _tell(evolution, seen, rejected, seen.observation_id)


async def _write(evolution: Evolution, seen: ObservationRow, write: Write) -> None:
    conn, subject = evolution.conn, evolution.subject
    fresh = _version(seen, write, evolution.known)
    await _end(evolution, seen, write.ends, "superseded", fresh.memory_id)
    await memory.insert(conn, subject, fresh)
    evolution.known[fresh.memory_id] = known_of(fresh)
    evolution.chunks.append(_chunk(fresh))
    action = "supersede" if write.ends else "create"
    evolution.marks.append(Mark(seen.observation_id, "evolved", f"{action}:{write.relation.reason}", fresh.memory_id))
    _tell(evolution, seen, _changed(known_of(fresh), "created", "active", after=fresh.confidence), fresh.memory_id)
    logger().debug("memory_written", memory_id=str(fresh.memory_id), type=fresh.type, version=fresh.version)


def _version(seen: ObservationRow, write: Write, known: dict[UUID, Known]) -> Memory:
    # the candidate's id becomes the memory's, so that a write receipt names it from the start (X34)
    root, version = rules.lineage(write.ends, seen.observation_id)
    sessions = {seen.session_id, *(s for old in write.ends for s in old.source_sessions)}
    return Memory(
        memory_id=seen.observation_id,
        root_id=root,
        version=version,
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
        flags=seen.flags,
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


def _chunk(fresh: Memory) -> Chunk:
    standing = "confirmed" if fresh.provenance_class == "confirmed_by_user" else fresh.provenance_class
    topic = rules.topic_of(fresh.key)
    text = rules.contextual(fresh.type, topic, f"{fresh.valid_at:%Y-%m}", standing, fresh.content_text, fresh.language)
    terms = segment.terms(f"{topic or ''} {fresh.content_text}")
    return Chunk(
        chunk_id=clock.uuid7(),
        text=text,
        terms=tuple(terms),
        language=language.detect(fresh.content_text),
        normalizer_version=segment.SEGMENTER_VERSION,
        said_at=fresh.valid_at,
        memory_id=fresh.memory_id,
        session_id=fresh.source_sessions[0] if fresh.source_sessions else None,
    )


async def _confirm(evolution: Evolution, seen: ObservationRow, confirm: Confirm) -> None:
    relation, target = confirm.relation, confirm.target
    sessions = await memory.confirm(
        evolution.conn,
        evolution.subject,
        target.memory_id,
        confidence=relation.confidence,
        provenance_class=relation.provenance,
        assertion=relation.assertion,
        at=seen.said_at,
        session=seen.session_id,
        turn=seen.turn_id,
    )
    evolution.known[target.memory_id] = replace(
        target,
        confidence=relation.confidence,
        provenance=relation.provenance,
        assertion=relation.assertion,
        source_sessions=sessions,
    )
    evolution.marks.append(Mark(seen.observation_id, "evolved", f"confirm:{relation.reason}", target.memory_id))
    changed = _changed(target, "confirmed", "active", before=target.confidence, after=relation.confidence)
    _tell(evolution, seen, changed, seen.observation_id)


async def _retract(evolution: Evolution, seen: ObservationRow, retract: Retract) -> None:
    await _end(evolution, seen, retract.targets, "retracted", None)
    evolution.marks.append(
        Mark(seen.observation_id, "evolved", f"retract:{retract.reason}", retract.targets[0].memory_id)
    )


async def _end(
    evolution: Evolution,
    seen: ObservationRow,
    ends: Sequence[Known],
    status: Literal["superseded", "retracted"],
    by: UUID | None,
) -> None:
    if not ends:
        return
    ids = [old.memory_id for old in ends]
    await memory.close(evolution.conn, evolution.subject, ids, status, seen.said_at, by)
    for old in ends:
        evolution.known.pop(old.memory_id, None)
        evolution.hidden.append(old.memory_id)
        changed = _changed(old, status, status, by=by, before=old.confidence)
        _tell(evolution, seen, changed, old.memory_id)


def _changed(
    target: Known,
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


def _tell(evolution: Evolution, seen: ObservationRow, payload: Payload, about: UUID) -> None:
    cause = evolution.envelopes[seen.observation_id]
    fresh = {
        "event_id": clock.uuid7(),
        "event_type": payload.event_type,
        "idempotency_key": f"{payload.event_type}:{about}:{seen.observation_id}",
        "occurred_at": clock.now(),
        "payload": payload.model_dump(mode="json"),
    }
    evolution.events.append((MEMORY_CHANGED, cause.model_copy(update=fresh)))


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The observations are quarantined and their turns' outcomes say so."""
    payload = event.payload
    assert isinstance(payload, AnalysisProposed | ObservationRecorded)  # noqa: S101 # the topics carry nothing else
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        if isinstance(payload, AnalysisProposed):
            await observations.settle(conn, subject, payload.observation_ids, "blocked")
        await outcomes.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            observation_ids=payload.observation_ids,
        )
