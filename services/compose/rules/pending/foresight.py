"""Predicts how the workers will settle pending statements, one after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from services.compose.rules.pending.pending_changes import (
    MemorySnapshot,
    PendingChanges,
    PendingObservation,
)
from services.compose.rules.resolving.outdated import OutdatedStatement, outdated_statements
from shared.domain.statements import ActiveMemory, sense_of
from shared.extraction.edited import Content
from shared.language.normalise import fold
from shared.policy import ConfidencePolicy
from shared.resolution.from_rows import left_id
from shared.resolution.operations import Confirm, Operation, Retract, Write
from shared.resolution.resolve import resolve


@dataclass(slots=True)
class PredictedMemory:
    """The state of memory after the statements so far."""

    active: dict[UUID, MemorySnapshot]
    masked: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict[str, list[Mapping[str, Any]]])
    texts: set[str] = field(default_factory=set[str])
    gone: list[OutdatedStatement] = field(default_factory=list[OutdatedStatement])
    stating: dict[UUID, tuple[PendingObservation, set[str]]] = field(
        default_factory=dict[UUID, tuple[PendingObservation, set[str]]]
    )


def settle_statements(
    pending: Sequence[PendingObservation], remembered: Sequence[MemorySnapshot], policy: ConfidencePolicy
) -> PendingChanges:
    """How the pending statements, in order, will change these memories.

    `remembered` is newest first. A memory that is newer than a statement, or says the same, stays.
    """
    course = PredictedMemory({each.known.memory_id: each for each in remembered})
    for each in pending:
        settle_next(course, each, policy)
    stating = tuple((said, frozenset(keys)) for said, keys in course.stating.values())
    ended = {turn: tuple(gone) for turn, gone in course.ended.items()}
    outdated = outdated_statements(reversed(course.gone))
    return PendingChanges(course.masked, ended, frozenset(course.texts), stating, outdated)


def list_operations(
    pending: Sequence[PendingObservation], remembered: Sequence[MemorySnapshot], policy: ConfidencePolicy
) -> dict[UUID, Operation]:
    """The operation that the workers will derive for each statement, the earlier ones applied."""
    course = PredictedMemory({each.known.memory_id: each for each in remembered})
    operations = {each.memory_id: settle_next(course, each, policy) for each in pending}
    return {memory_id: operation for memory_id, operation in operations.items() if operation is not None}


def settle_next(course: PredictedMemory, each: PendingObservation, policy: ConfidencePolicy) -> Operation | None:
    """Applies the next statement; None if it is a memory already."""
    if each.memory_id in course.active:
        return None
    operation = resolve(each.statement, [r.known for r in course.active.values()], policy)
    _follow(course, each, operation)
    return operation


def _follow(course: PredictedMemory, each: PendingObservation, operation: Operation) -> None:
    match operation:
        case Write(ends=ends) if not is_outlived(course, each, ends):
            same = next((k for k in ends if k.sense == each.statement.sense and k.type == each.statement.type), None)
            each = replace(each, rest=operation.left.text if operation.left else "")
            held = course.active.get(ends[0].memory_id) if ends else None
            _end_memory(course, each, [k for k in ends if k is not same])
            if same:
                _raise_level(course, same, operation)
            else:
                course.active[each.memory_id] = to_snapshot(each, operation)
            if held and operation.left and operation.left is not operation.content:
                rest = _to_rest(held.known, each, operation.left)
                course.active[rest.memory_id] = MemorySnapshot(rest, held.place, learnt=False)
        case Confirm(target=target):
            _raise_level(course, target, operation)
        case Retract(targets=targets) if not is_outlived(course, each, targets):
            held_before = dict(course.active)
            each = replace(each, rest="\n".join(content.text for _, content in operation.left))
            _end_memory(course, each, targets)
            for old, content in operation.left:
                rest = _to_rest(old, each, content)
                course.active[rest.memory_id] = MemorySnapshot(rest, held_before[old.memory_id].place, learnt=False)
        case _:
            pass


def is_outlived(course: PredictedMemory, each: PendingObservation, ends: Sequence[ActiveMemory]) -> bool:
    """Whether a memory was learnt after the statement, or from the same turn."""
    held = [course.active[known.memory_id] for known in ends]
    return not each.now and any(
        r.learnt
        and (
            r.known.valid_at > each.statement.said_at or (r.place is not None and r.place.turn_id == each.place.turn_id)
        )
        for r in held
    )


def _raise_level(course: PredictedMemory, target: ActiveMemory, operation: Write | Confirm) -> None:
    """Raises the memory to the better level of both, because it was stated again."""
    held, relation = course.active[target.memory_id], operation.relation
    known = replace(held.known, provenance=relation.provenance, assertion=relation.assertion)
    course.active[target.memory_id] = replace(held, known=known)


def to_snapshot(each: PendingObservation, written: Write) -> MemorySnapshot:
    statement = each.statement
    active = ActiveMemory(
        memory_id=each.memory_id,
        root_id=each.memory_id,
        version=1,
        type=statement.type,
        key=statement.key,
        sense=statement.sense,
        provenance=written.relation.provenance,
        assertion=written.relation.assertion,
        flags=statement.flags,
        confidence=written.relation.confidence,
        valid_at=statement.said_at,
        source_sessions=(statement.session_id,),
        polarity=each.polarity,
        text=each.text,
        words=each.words,
        told=each.told,
    )
    return MemorySnapshot(
        amend_memory(active, written.content) if written.content else active, each.place, learnt=False
    )


def _to_rest(old: ActiveMemory, each: PendingObservation, left: Content) -> ActiveMemory:
    """The part of an ended memory that stays, as a memory of its own."""
    its_id = left_id(each.memory_id, old.memory_id)
    since = each.statement.said_at
    return replace(amend_memory(old, left), memory_id=its_id, root_id=its_id, version=1, valid_at=since, replaced=())


def amend_memory(known: ActiveMemory, content: Content) -> ActiveMemory:
    value = dict(content.value)
    return replace(
        known,
        type=content.type,
        key=content.key,
        sense=sense_of(content.key, value, content.text, content.polarity),
        polarity=content.polarity,
        flags=content.flags,
        text=content.text,
        words=(content.text, *(str(value[name]) for name in ("target", "value") if value.get(name))),
        told=content.text,
        value=value,
        valid_until=content.valid_until,
    )


def _end_memory(course: PredictedMemory, each: PendingObservation, ends: Sequence[ActiveMemory]) -> None:
    keys: set[str] = set()
    for ended in ends:
        held = course.active.pop(ended.memory_id)
        course.texts.add(fold(ended.text.strip()))
        if not each.forgotten:
            course.gone.append(_to_outdated(each, held))
        if held.learnt:
            course.masked[str(ended.memory_id)] = each.cause
            keys.add(f"memory:{ended.memory_id}")
        elif ended.memory_id in course.stating:
            keys |= course.stating.pop(ended.memory_id)[1]
        if at := held.place:
            gone = {"ordinal": at.ordinal, "span": at.span, "word": at.word, "cause": each.cause}
            gone |= {"until": each.statement.said_at, "forgotten": each.forgotten}
            course.ended.setdefault(at.turn_id, []).append(gone)
            keys.add(f"turn:{at.turn_id}:{at.ordinal}")
    if keys and (each.statement.key or each.statement.assertion == "correction" or each.rest):
        course.stating.setdefault(each.memory_id, (each, set()))[1].update(keys)


def _to_outdated(each: PendingObservation, held: MemorySnapshot) -> OutdatedStatement:
    word = held.place.word if held.place else None
    instead = None if each.statement.retracts else each.text
    turns = frozenset({held.place.turn_id} if held.place else ())
    return OutdatedStatement(
        each.statement.said_at, held.known.text, held.known.told, word, instead, turns, certain=True
    )
