"""Requests an erasure: one transaction records it, puts it in force, and publishes it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from schemas.envelope import Envelope
from schemas.erasure import DeletionReceipt, ErasureRequest
from schemas.events import DeletionEvent, ErasureRequested, MemoryChanged
from schemas.topics import ERASURE_REQUESTED, ERASURE_STATE, MEMORY_CHANGED
from schemas.vocabulary import TombstoneStatus
from shared import clock
from shared.db import Connection, Database
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.erasure import items, rules
from shared.errors import TransientError, refuse_field
from shared.policy import Policy
from shared.store import memory, outbox
from shared.store.chunks import show_memories
from shared.store.erasure import extent, hide, tombstones
from shared.store.erasure.extent import ErasureExtent
from shared.store.erasure.hide import HiddenCounts
from shared.store.erasure.tombstones import Tombstone
from shared.store.outbox import Outgoing

AT_ONCE: tuple[TombstoneStatus, ...] = ("requested", "verified", "tombstoned", "queued")
"""The states of a tombstone within the transaction of the request."""
ROWS_A_SECOND = 2000
LEAST = timedelta(seconds=5)
"""Estimate for the steps: rows per second, and a minimum time."""


@dataclass(frozen=True)
class Asked:
    """The tombstone, and whether it is new; a repeated idempotency key returns the earlier one."""

    tombstone: Tombstone
    fresh: bool


async def request(
    db: Database,
    policy: Policy,
    wish: ErasureRequest,
    *,
    sent_at: datetime | None = None,
    trace_id: str | None = None,
) -> Asked:
    """The erasure is in force: tombstone, fence, epoch, invisibility and event are one transaction's.

    One that was put on a topic (`sent_at`) counts as requested then: what its user put there afterwards is not of it.
    RefusedError names the field that does not fit, a session or memory that the user does not have, a profile that
    policy does not know. TransientError: the database is away, or somebody writes of the user for too long.
    """
    _refuse_misfits(wish, policy)
    subject = Subject(wish.tenant_id, wish.user_id)
    key = wish.idempotency_key or clock.uuid7().hex
    async with db.as_erasure(subject) as conn:
        if known := await tombstones.by_key(conn, subject, key):
            return Asked(known, fresh=False)
        covered = await find_covered(conn, subject, wish)
        at = await tombstones.load_now(conn)
        since = min(at, sent_at or at)
        profile = wish.profile or policy.erasure.profile
        tombstone = Tombstone(
            tombstone_id=clock.uuid7(),
            scope=wish.scope,
            session_ids=covered.sessions,
            memory_ids=covered.memories if wish.scope == "items" else (),
            status="queued",
            requested_by=wish.requested_by or wish.user_id,
            reason=wish.reason,
            idempotency_key=key,
            profile=profile,
            epoch=await tombstones.next_epoch(conn, subject),
            item_count=0,
            row_count=0,
            attempts=0,
            error=None,
            history=history(at),
            proof=None,
            requested_at=since,
            deadline_at=rules.deadline(since, policy.erasure.profiles[profile], policy.erasure.holidays),
            next_try_at=at,
        )
        told = trace_id or tombstone.tombstone_id.hex
        return Asked(await enforce(conn, subject, tombstone, covered, policy.version, told), fresh=True)


def _refuse_misfits(wish: ErasureRequest, policy: Policy) -> None:
    by_another = wish.requested_by not in (None, wish.user_id)
    problems = (
        ((wish.scope == "session") != bool(wish.session_ids), "session_ids", _ONLY.format("session")),
        ((wish.scope == "items") != bool(wish.memory_ids), "memory_ids", _ONLY.format("items")),
        (by_another and not (wish.reason or "").strip(), "reason", "is required unless the user is the requester"),
        (
            wish.profile is not None and wish.profile not in policy.erasure.profiles,
            "profile",
            f"is none of {', '.join(policy.erasure.profiles)}",
        ),
    )
    for wrong, field, problem in problems:
        if wrong:
            raise refuse_field("invalid_request", field, problem, 422)


_ONLY = "is required for scope {0}, and not allowed for others"


async def find_covered(conn: Connection, subject: Subject, wish: ErasureRequest) -> ErasureExtent:
    """The scope; RefusedError `not_found` names the first session or memory that the user does not have."""
    if wish.scope == "session":
        sessions = await extent.known_sessions(conn, subject, wish.session_ids)
        for n, session in enumerate(wish.session_ids):
            if session not in sessions:
                raise refuse_field("not_found", f"session_ids.{n}", "the user has no such session", 404)
        return await extent.of_sessions(conn, subject, sorted(sessions))
    if wish.scope == "items":
        there = await extent.known_memories(conn, subject, wish.memory_ids)
        for n, memory_id in enumerate(wish.memory_ids):
            if memory_id not in there:
                raise refuse_field("not_found", f"memory_ids.{n}", "the user has no such memory", 404)
        return await items.of(conn, subject, sorted(there))
    return ErasureExtent(wish.scope)


async def again_asked(
    conn: Connection, subject: Subject, tombstone: Tombstone, why: str, policy_version: str, trace_id: str
) -> None:
    """Requeues the erasure for an operator: resets its attempts and writes its event to the outbox."""
    at = await tombstones.load_now(conn)
    moved = await tombstones.move(conn, subject, tombstone, "processing", at=at, attempts=0, error=why)
    if moved is None:
        raise TransientError("the erasure has changed meanwhile")
    event = to_request_event(subject, tombstone, trace_id=trace_id, policy_version=policy_version)
    state = state_event(
        subject, tombstone, tombstone.status, "processing", trace_id=trace_id, policy_version=policy_version
    )
    await outbox.put(conn, [state, (ERASURE_REQUESTED, event)])


async def enforce(
    conn: Connection, subject: Subject, tombstone: Tombstone, covered: ErasureExtent, policy_version: str, trace_id: str
) -> Tombstone:
    """Writes the tombstone, hides or empties its scope, and writes the events to the outbox. The caller holds the
    user's exclusive lock and is in the tombstone's epoch.
    """
    active = await load_ended(conn, subject, covered)
    hidden = await _hide(conn, subject, tombstone, covered)
    counted = hidden.rows.get("memory_items", 0)
    standing = replace(tombstone, item_count=counted, row_count=hidden.total)
    await tombstones.insert(conn, subject, standing)
    if covered.scope == "items":
        await tombstones.suppress(conn, subject, tombstone.tombstone_id, tombstone.epoch, covered.memories)
    await outbox.put(
        conn,
        [
            *tell_changes(subject, active, policy_version, trace_id),
            *tell_states(subject, standing, trace_id, policy_version),
        ],
    )
    return standing


async def load_ended(conn: Connection, subject: Subject, covered: ErasureExtent) -> Sequence[Memory]:
    """The named active memories, before the erasure."""
    found = await memory.by_ids(conn, subject, covered.memories)
    return [each for each in found if each.status == "active"]


async def _hide(conn: Connection, subject: Subject, tombstone: Tombstone, covered: ErasureExtent) -> HiddenCounts:
    id = tombstone.tombstone_id
    before = HiddenCounts()
    if covered.scope == "items":
        await items.blot(conn, subject, id, covered, before)
    hidden = await hide.hide_rows(conn, subject, id, covered)
    for table, count in before.rows.items():
        hidden.add(table, count)
    if covered.scope == "items":
        await items.settle(conn, subject, covered)
    revived = await hide.blank_texts(conn, subject, id, covered, hidden)
    if revived:
        await show_memories(conn, subject, revived)
    return hidden


def history(at: datetime) -> list[dict[str, object]]:
    """The states of a tombstone within the transaction of the request, with their times."""
    steps = zip((None, *AT_ONCE[:-1]), AT_ONCE, strict=True)
    return [{"from": before, "to": after, "at": at.isoformat(), "attempt": 0, "error": None} for before, after in steps]


def tell_states(subject: Subject, tombstone: Tombstone, trace_id: str, version: str) -> list[Outgoing]:
    """The events of the request and of each passed state."""
    event = to_request_event(subject, tombstone, trace_id=trace_id, policy_version=version)
    moved = [
        state_event(subject, tombstone, before, after, trace_id=trace_id, policy_version=version, nth=n)
        for n, (before, after) in enumerate(pairwise(AT_ONCE), 1)
    ]
    return [*moved, (ERASURE_REQUESTED, event)]


def to_request_event(subject: Subject, tombstone: Tombstone, *, trace_id: str, policy_version: str) -> Envelope:
    """The event that hands the tombstone to the worker, and preserves it if the database is lost."""
    payload = ErasureRequested(
        tombstone_id=tombstone.tombstone_id,
        scope=tombstone.scope,
        item_ids=tombstone.memory_ids,
        session_ids=tombstone.session_ids,
        requested_at=tombstone.requested_at,
        retention_policy=tombstone.profile,
        epoch=tombstone.epoch,
    )
    named = f"erasure:{subject.user_id}:{tombstone.tombstone_id}"
    event = outbox.event(payload, subject, named, trace_id=trace_id, policy_version=policy_version)
    return event.model_copy(update={"idempotency_key": named})


def state_event(
    subject: Subject,
    tombstone: Tombstone,
    before: TombstoneStatus,
    after: TombstoneStatus,
    *,
    trace_id: str,
    policy_version: str,
    attempt: int = 0,
    store: str | None = None,
    affected: int = 0,
    error: str | None = None,
    nth: int | None = None,
) -> Outgoing:
    """The event of a state change: step `nth`, or the one after its history."""
    moved = DeletionEvent.model_validate(
        {
            "tombstone_id": tombstone.tombstone_id,
            "from": before,
            "to": after,
            "attempt": attempt,
            "store": store,
            "affected": affected,
            "error_code": error,
        }
    )
    about = f"{tombstone.tombstone_id}:{len(tombstone.history) if nth is None else nth}:{before}:{after}"
    return ERASURE_STATE, outbox.event(moved, subject, about, trace_id=trace_id, policy_version=policy_version)


def tell_changes(subject: Subject, ended: Sequence[Memory], policy_version: str, trace_id: str) -> list[Outgoing]:
    """The events for each erased memory; for the scopes all and personal only the tombstone reports it."""
    return [
        (
            MEMORY_CHANGED,
            outbox.event(
                MemoryChanged(
                    memory_id=each.memory_id,
                    root_id=each.root_id,
                    version=each.version,
                    change="erased",
                    status="erased",
                    confidence_before=round(each.confidence, 4),
                ),
                subject,
                f"{each.memory_id}:erased",
                trace_id=trace_id,
                policy_version=policy_version,
            ),
        )
        for each in ended
    ]


def receipt(tombstone: Tombstone) -> DeletionReceipt:
    """The view for the requester; `estimated_completion` is estimated from the rows, and the real time once it is
    completed."""
    rows = tombstone.row_count
    estimated = _in_force_since(tombstone) + LEAST + timedelta(seconds=rows / ROWS_A_SECOND)
    return DeletionReceipt(
        receipt_id=tombstone.tombstone_id,
        tombstone_id=tombstone.tombstone_id,
        scope=tombstone.scope,
        status=tombstone.status,
        item_count=tombstone.item_count,
        row_count=rows,
        requested_at=tombstone.requested_at,
        estimated_completion=tombstone.completed_at or estimated,
        deadline_at=tombstone.deadline_at,
        profile=tombstone.profile,
    )


def _in_force_since(tombstone: Tombstone) -> datetime:
    """Later than it was requested where the request had to wait in a topic."""
    first = next(iter(tombstone.history), None)
    return datetime.fromisoformat(first["at"]) if first else tombstone.requested_at
