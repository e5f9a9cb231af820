"""Receipts of writes: what the workers made of a write, or will make of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from schemas.memory_item import WriteReceipt
from services.compose.context.changes import OpenTurns, find_withholding_reason, predict_operations, to_pending
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.errors import RefusedError
from shared.extraction import ObserveContext, Observed, ObservePolicy, observe
from shared.extraction.turn_texts import (
    EDIT,
    JUDGEMENTS,
    MERGE,
    PIN,
    RESTORE,
    UNPIN,
    observation_rows,
    turn_text,
    withhold,
)
from shared.resolution.operations import Confirm, Operation, Reject, Retract, Write
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy, show
from shared.store import memory, observations, turn_states, turns, user_state
from shared.store.turn_states import OPEN

NOTHING = "nothing_to_remember"
SAID_AGAIN = "said_again"
CHANGED_NOTHING = frozenset({"already_pinned", "not_pinned", "already_merged"})
"""Reasons of actions that found nothing to change."""
NOT_FOUND, GONE = 404, 410
FOLLOWED_MOST = 8
"""How many merges are followed from a memory."""


@dataclass(frozen=True)
class Fate:
    """The result of a write: a memory, a part of an existing one, or nothing, with the reason."""

    status: str
    memory_id: UUID | None = None
    reason: str | None = None
    held_back: str | None = None


async def load_receipt(rt: Runtime, subject: Subject, receipt_id: UUID) -> WriteReceipt:
    """The current receipt of a write; RefusedError 404 if the user has none, 410 if it was erased.

    Until the workers have handled it, the receipt predicts their result from the current state.
    """
    async with rt.db.transaction(subject) as conn:
        stored = await turns.load(conn, subject, [receipt_id])
        row = await turn_states.outcome(conn, subject, receipt_id)
        if not stored or row is None:
            raise RefusedError("not_found", f"receipt_id: no write {receipt_id} of this user", status=NOT_FOUND)
        seen = await observations.of_turns(conn, subject, [receipt_id])
        done = await find_decision(conn, subject, row, seen, rt.policy.compose.sanitize)
    if done is not None and done.status == "erased":
        raise RefusedError("erased", f"receipt_id: what was written with {receipt_id} was erased", status=GONE)
    turn = stored[0]
    fate = done or await _predict_fate(rt, subject, turn)
    return WriteReceipt.model_validate(
        {
            "receipt_id": turn.turn_id,
            "turn_id": turn.turn_id,
            "written_at": turn.committed_at,
            "settled": done is not None,
            **vars(fate),
        }
    )


def choose_wanted(rows: Sequence[ObservationRow]) -> ObservationRow | None:
    """The observation that the write was made for: the dictated note, or the item that names a memory."""
    order = ("items", "remember", "structured")
    own = [row for row in rows if row.detector in order]
    return min(own, key=lambda row: order.index(row.detector), default=next(iter(rows), None))


async def find_decision(
    conn: Connection,
    subject: Subject,
    row: Mapping[str, Any],
    seen: Sequence[ObservationRow],
    sanitize: SanitizePolicy,
) -> Fate | None:
    """What the workers decided; None if they have not yet."""
    outcome: Mapping[str, Any] = row["outcome"] or {}
    if outcome.get("status") == "erased":
        return Fate("erased")
    wanted = choose_wanted(seen)
    if wanted is None:
        explained = outcome.get("explain", outcome.get("retention_explain", ()))
        return Fate("rejected", reason=_explain_nothing(explained)) if row["observed_at"] else None
    if wanted.state in OPEN:
        return None
    verb, _, reason = (wanted.reason or wanted.state).partition(":")
    left = await find_current_memory(conn, subject, wanted.related_memory_id) if wanted.state == "evolved" else None
    if wanted.state != "evolved":
        return Fate("rejected", reason=reason or verb)
    if left is None:
        return Fate("accepted", reason="erased")
    held = _find_held_back_rule(left.content_text, left.provenance_class, sanitize)
    if left.memory_id != wanted.related_memory_id:
        return Fate("merged", left.memory_id, "consolidated", held)
    if verb == "confirm" or reason in CHANGED_NOTHING:
        return Fate("merged", left.memory_id, reason, held)
    return Fate("accepted", left.memory_id, held_back=held)


async def find_current_memory(conn: Connection, subject: Subject, memory_id: UUID | None) -> Memory | None:
    """The memory, or the one that it was merged into."""
    for _ in range(FOLLOWED_MOST):
        versions = await memory.by_ids(conn, subject, [memory_id]) if memory_id else []
        if not versions or versions[0].status == "erased":
            return None
        if versions[0].status != "merged":
            return versions[0]
        memory_id = versions[0].superseded_by
    return None


def _explain_nothing(explained: Sequence[Mapping[str, Any]]) -> str:
    """Why a turn left no statement; refusals come before skipped statements."""
    for decision in ("refused", "dropped"):
        for each in explained:
            if each.get("decision") == decision:
                return ":".join(filter(None, (each.get("reason"), each.get("rule"))))
    return NOTHING


async def _predict_fate(rt: Runtime, subject: Subject, turn: Turn) -> Fate:
    """What the workers will decide, after all pending statements before it."""
    pending, epoch = await rt.db.read(
        subject, turns.load_pending(subject, rt.policy.compose.pending_turns_max), user_state.epoch(subject)
    )
    earlier = [each for each in pending if each.turn_id != turn.turn_id and each.committed_at <= turn.committed_at]
    why = await find_withholding_reason(rt.db, subject, earlier, turn)
    turn = withhold(turn, why) if why else turn
    context = ObserveContext(turn.said_at, answer_before="")
    reading = ObservePolicy(profile_slots=frozenset(rt.policy.observer.profile_slots))
    observed = await asyncio.to_thread(observe, turn_text(turn), context, reading)
    rows = observation_rows(turn, observed, rt.policy.confidence)
    rows = tuple(row for row in rows if row.retracts or row.detector == "items") if why else rows
    wanted = choose_wanted(rows)
    if wanted is None:
        return Fate("rejected", reason=f"wish:{why}" if why else _explain_nothing(explain_reading(observed)))
    if wanted.detector == "items" and wanted.pattern in JUDGEMENTS:
        return Fate("accepted", wanted.related_memory_id)
    if wanted.detector == "items" and wanted.pattern in (RESTORE, EDIT, PIN, UNPIN, MERGE):
        return add_held_back(wanted, await predict_edit(rt, subject, wanted), rt)
    said = to_pending(rows)
    before = OpenTurns(earlier, epoch, rt.read_turns)
    foreseen = await predict_operations(rt.db, subject, before, said, rt.policy.confidence)
    return add_held_back(wanted, _fate(wanted, foreseen.get(wanted.observation_id)), rt)


def add_held_back(wanted: ObservationRow, fate: Fate, rt: Runtime) -> Fate:
    """The fate with the rule that hides an accepted statement."""
    if fate.status == "rejected":
        return fate
    return replace(fate, held_back=_find_held_back_rule(wanted.text, wanted.assertion, rt.policy.compose.sanitize))


def _find_held_back_rule(text: str, provenance: str, sanitize: SanitizePolicy) -> str | None:
    """The rule that keeps packages from showing all of the text."""
    return show(text, "foreign" if provenance == "tool" else "own", sanitize).held_back


def explain_reading(observed: Observed) -> list[dict[str, Any]]:
    refused = [{"decision": "refused", "reason": each.reason, "rule": each.rule} for each in observed.refused]
    return [*refused, *({"decision": each.decision, "reason": each.reason} for each in observed.explain)]


def _fate(wanted: ObservationRow, operation: Operation | None) -> Fate:
    match operation:
        case Confirm(relation=relation, target=target):
            return Fate("merged", target.memory_id, relation.reason)
        case Retract(targets=targets):
            return Fate("accepted", targets[0].memory_id)
        case Reject(reason=reason):
            return Fate("rejected", reason=reason)
        case Write() | None:
            return Fate("accepted", wanted.observation_id)


async def predict_edit(rt: Runtime, subject: Subject, wanted: ObservationRow) -> Fate:
    """An edit that changes nothing confirms the active version, and a pin keeps the memory; any other choice makes a
    new version."""
    pinning = wanted.pattern in (PIN, UNPIN)
    if wanted.related_memory_id and (pinning or (wanted.pattern != MERGE and not wanted.value)):
        async with rt.db.transaction(subject) as conn:
            named = await memory.by_ids(conn, subject, [wanted.related_memory_id])
        if pinning and named and named[0].pinned == (wanted.pattern == PIN):
            return Fate("merged", named[0].memory_id, "already_pinned" if named[0].pinned else "not_pinned")
        if pinning:
            return Fate("accepted", wanted.related_memory_id)
        holds = bool(named) and wanted.pattern == RESTORE and named[0].status == "active"
        if named and (holds or named[0].content_text == wanted.text):
            return Fate("merged", named[0].memory_id, SAID_AGAIN)
    return Fate("accepted", wanted.observation_id)
