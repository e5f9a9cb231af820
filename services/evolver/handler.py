"""Proposals and corrections -> memory versions: the only writer of memory tables."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import (
    AnalysisProposed,
    MemoryChanged,
    MemoryWriteRejected,
    ObservationRecorded,
)
from schemas.vocabulary import Assertion
from services.evolver import chosen, governed, imported
from services.evolver.changes import (
    MemoryChanges,
    block,
    end,
    is_choice,
    is_judgement,
    leave_part,
    leave_rest,
    read_fence,
    report_change,
    report_created,
    suppress_with,
    to_changed,
    to_version,
)
from services.evolver.chosen import UserChoice
from shared.bus.delivery import Delivered
from shared.db import Connection
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, candidate_id, is_twin
from shared.domain.subjects import Subject
from shared.extraction.turn_texts import IMPORT, takes_back_before
from shared.metrics.turns import OUTCOME_SECONDS
from shared.resolution.from_rows import known_of, statement_of, with_content
from shared.resolution.operations import NO_ADVICE, Confirm, Operation, Reject, Retract, Write
from shared.resolution.resolve import resolve
from shared.runtime import Runtime
from shared.store import chunks, inbox, memory, observations, outbox, turn_states, versions
from shared.store.chunks import chunk_of, show_memories
from shared.store.observations import Mark, OpenConflict, SettledConflict
from shared.telemetry import logger

CONSUMER = "evolver"
Act = Callable[[MemoryChanges, ObservationRow], Coroutine[Any, Any, Reject | None]]
USERS_WORD: frozenset[Assertion] = frozenset({"directive", "confirmed", "correction", "declared"})
"""Explicit statements of the user, which reset rejections."""
SAID_OUTRIGHT = frozenset({"directive", "correction", "confirmed"})
"""Statements that settle conflicts about the memory that they confirm."""


async def apply_proposals(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Applies or rejects each proposal once, after earlier corrections."""
    envelopes = {o: event.envelope for event in events for o in event.read(AnalysisProposed).observation_ids}
    await _evolve(rt, subject, events, envelopes, urgent=False)


async def apply_corrections(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Applies corrections durably: they skip analysis, and so does what preceded them.

    The corrected statement may still wait for the analyzer: it is settled first, otherwise it would be written later
    and coexist with its correction.
    """
    envelopes = {o: event.envelope for event in events for o in event.read(ObservationRecorded).observation_ids}
    await _evolve(rt, subject, events, envelopes, urgent=True)


async def _evolve(
    rt: Runtime, subject: Subject, events: Sequence[Delivered], envelopes: dict[UUID, Envelope], *, urgent: bool
) -> None:
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        due = await observations.load_due(conn, subject, envelopes, urgent_only=not urgent)
        if not due:
            return
        fence = await read_fence(conn, subject, due)
        due = [seen for seen in due if seen.observation_id not in fence.waiting]
        changes = await begin_changes(conn, rt, subject, due, envelopes)
        for blocked in fence.waiting.values():
            block(changes, blocked)
        for seen in due:
            if blocked := fence.barred.get(seen.observation_id):
                changes.marks.append(Mark(seen.observation_id, "blocked", "erased"))
                block(changes, blocked)
                continue
            if act := _find_act(seen):
                if refused := await act(changes, seen):
                    await _apply(changes, seen, refused)
                continue
            if is_choice(seen):
                choice = await chosen.load(conn, subject, seen, rt.policy.confidence)
                if choice is None:
                    await _apply(changes, seen, Reject("skip", "no_such_version"))
                    continue
                seen = changes.choose(choice)
                if governed.is_separation(choice):
                    await governed.part(changes, choice)
                    continue
                await _end_suppression(changes, choice)
            if is_judgement(seen):
                await _judge(changes, seen)
                continue
            if takes_back_before(seen):
                targets = [known_of(m) for m in await memory.said_before(conn, subject, seen.turn_id)]
                await _apply(changes, seen, _to_retraction(targets))
                continue
            known = list(changes.known.values())
            advice = changes.advice.get(seen.observation_id, NO_ADVICE)
            await _apply(changes, seen, resolve(statement_of(seen), known, rt.policy.confidence, advice))
            if choice := changes.choices.get(seen.observation_id):
                await versions.settle(conn, subject, choice.line, seen.said_at)
        await chunks.put(conn, subject, changes.chunks)
        if changes.hidden:
            await chunks.hide(conn, subject, changes.hidden)
        await observations.open_conflicts(conn, subject, changes.conflicts)
        await observations.settle_conflicts(conn, subject, changes.settled)
        await observations.mark(conn, subject, changes.marks)
        await observations.settle(conn, subject, [o.observation_id for o in due], "applied")
        await outbox.put(conn, changes.events)
        finished = await turn_states.settle(conn, subject, {o.turn_id for o in due})
    for done in finished:
        OUTCOME_SECONDS.observe(done.took_s)


def _find_act(seen: ObservationRow) -> Act | None:
    """Handles an item that names a memory and does not change its text."""
    if seen.detector != "items":
        return None
    return governed.govern if seen.pattern in governed.ACTS else imported.take_in if seen.pattern == IMPORT else None


def _to_retraction(targets: Sequence[ActiveMemory]) -> Operation:
    return Retract(tuple(targets), "taken_back") if targets else Reject("skip", "nothing_known_to_retract")


async def begin_changes(
    conn: Connection, rt: Runtime, subject: Subject, due: Sequence[ObservationRow], envelopes: dict[UUID, Envelope]
) -> MemoryChanges:
    advice = await observations.advice(conn, subject, [o.observation_id for o in due])
    advised = {memory_id for advised_on in advice.values() for memory_id in advised_on}
    active = await memory.load_concerned(subject, [statement_of(o) for o in due], advised).on(conn)
    cause = next(iter(envelopes.values()))
    fused = frozenset(m.memory_id for m in active if m.fused_from is not None)
    silenced = frozenset(m.memory_id for m in active if m.silenced_at is not None)
    causes = {o.observation_id: cause for o in due} | envelopes
    return MemoryChanges(conn, subject, rt, {m.memory_id: known_of(m) for m in active}, causes, fused, silenced, advice)


async def _apply(changes: MemoryChanges, seen: ObservationRow, operation: Operation) -> None:
    match operation:
        case Write():
            await _write(changes, seen, operation)
        case Confirm():
            await _confirm(changes, seen, operation)
        case Retract():
            await _retract(changes, seen, operation)
        case Reject():
            held = operation.held.memory_id if operation.held else None
            if held and operation.action == "ask":
                changes.conflicts.append(_to_conflict(seen, held, operation.reason))
            changes.marks.append(Mark(seen.observation_id, "rejected", f"{operation.action}:{operation.reason}", held))
            rejected = MemoryWriteRejected(observation_id=seen.observation_id, reason=operation.reason)
            report_change(changes, seen, rejected, seen.observation_id)


def _to_conflict(seen: ObservationRow, held: UUID, kind: str) -> OpenConflict:
    conflict_id = candidate_id(seen.turn_id, f"conflict {held} {seen.observation_id}")
    return OpenConflict(conflict_id, held, seen.observation_id, kind, seen.said_at)


async def _write(changes: MemoryChanges, seen: ObservationRow, write: Write) -> None:
    conn, subject = changes.conn, changes.subject
    if write.content:
        seen = with_content(seen, write.content)
        write = replace(write, ends=(*write.ends, *await _find_twins(changes, seen, write)))
    fresh = to_version(seen, write)
    if write.content:
        (old,) = await memory.by_ids(conn, subject, [write.ends[0].memory_id])
        # its text comes from both turns, so erasing either erases it
        turns = memory.turns_kept((*old.source_turns, seen.turn_id))
        fresh = replace(fresh, source_turns=turns, provenance={**fresh.provenance, "amended": str(old.memory_id)})
    choice = changes.choices.get(seen.observation_id)
    if choice:
        fresh = chosen.continue_version(fresh, choice)
        await versions.succeed(conn, subject, fresh)
    await end(changes, seen, write.ends, "superseded", fresh.memory_id)
    await memory.insert(conn, subject, fresh)
    await suppress_with(changes, seen, fresh, write.ends)
    changes.known[fresh.memory_id] = replace(known_of(fresh), replaced=tuple(old.text for old in write.ends))
    changes.chunks.append(chunk_of(fresh))
    await leave_rest(changes, seen, write)
    action = "supersede" if write.ends else "create"
    changes.mark(seen, f"{action}:{write.relation.reason}", fresh.memory_id)
    report_created(changes, seen, fresh)
    logger().debug("memory_written", memory_id=str(fresh.memory_id), type=fresh.type, version=fresh.version)


async def _find_twins(changes: MemoryChanges, seen: ObservationRow, write: Write) -> list[ActiveMemory]:
    """Memories that cannot be active besides the amended one: with the same text, or another under its key."""
    statement = statement_of(seen)
    active = await memory.load_concerned(changes.subject, [statement]).on(changes.conn)
    ending = {old.memory_id for old in write.ends}
    return [known_of(m) for m in active if m.memory_id not in ending and is_twin(known_of(m), statement)]


async def _confirm(changes: MemoryChanges, seen: ObservationRow, confirm: Confirm) -> None:
    relation, target = confirm.relation, confirm.target
    by_user = seen.assertion in USERS_WORD
    fused = target.memory_id in changes.fused
    hidden = fused and not by_user
    sessions = await memory.confirm(
        changes.conn,
        changes.subject,
        target.memory_id,
        confidence=relation.confidence,
        provenance_class=relation.provenance,
        assertion=relation.assertion,
        at=seen.said_at,
        session=seen.session_id,
        turn=seen.turn_id,
        by_user=by_user,
    )
    if by_user and fused and target.memory_id not in changes.silenced:
        await show_memories(changes.conn, changes.subject, [target.memory_id])
        changes.fused -= {target.memory_id}
    gained = replace(
        target, confidence=relation.confidence, provenance=relation.provenance, assertion=relation.assertion
    )
    changes.known[target.memory_id] = replace(target if hidden else gained, source_sessions=sessions)
    changes.mark(seen, f"confirm:{relation.reason}", target.memory_id)
    if seen.assertion in SAID_OUTRIGHT:
        changes.settled.append(SettledConflict(target.memory_id, "kept", seen.said_at))
    before, after = (None, None) if hidden else (target.confidence, relation.confidence)
    changed = to_changed(target, "confirmed", "active", before=before, after=after)
    report_change(changes, seen, changed, seen.observation_id)


async def _judge(changes: MemoryChanges, seen: ObservationRow) -> None:
    """Applies the user's verdict on a memory's use, and reports it if it shows or hides the memory."""
    judgement = await chosen.judge(changes.conn, changes.subject, seen, changes.rt.policy)
    if judgement is None:
        await _apply(changes, seen, Reject("skip", "no_such_version"))
        return
    before, after = judgement
    changes.mark(seen, f"{seen.pattern}:said_by_hand", after.memory_id)
    if after.silenced_at is None:
        changes.silenced -= {after.memory_id}
    else:
        changes.silenced |= {after.memory_id}
        changes.fused |= {after.memory_id}
    if before.shown != after.shown:
        changed = MemoryChanged(
            memory_id=after.memory_id,
            root_id=after.root_id,
            version=after.version,
            change="shown" if after.shown else "silenced",
            status=after.status,
        )
        report_change(changes, seen, changed, after.memory_id)


async def _end_suppression(changes: MemoryChanges, choice: UserChoice) -> None:
    """Restoring or confirming a memory ends its suppression."""
    lifted = changes.silenced & {each.memory_id for each in choice.active}
    if choice.restored and lifted:
        await chosen.end_suppression(changes.conn, changes.subject, lifted)
        changes.silenced -= lifted


async def _retract(changes: MemoryChanges, seen: ObservationRow, retract: Retract) -> None:
    await end(changes, seen, retract.targets, "retracted", None)
    for ended, part in retract.left:
        await leave_part(changes, seen, ended, part)
    changes.mark(seen, f"retract:{retract.reason}", retract.targets[0].memory_id)


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Quarantines the observations; their turns' outcomes say so."""
    payload = event.payload
    assert isinstance(payload, AnalysisProposed | ObservationRecorded)  # noqa: S101 # the topics carry nothing else
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        if isinstance(payload, AnalysisProposed):
            await observations.settle(conn, subject, payload.observation_ids, "blocked")
        await turn_states.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            observation_ids=payload.observation_ids,
        )
