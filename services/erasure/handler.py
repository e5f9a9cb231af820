"""Carries out erasures: runs the steps, scans for residue, reports the result. Updates tombstones; writes
audit_events."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events import ErasureRequested, ObservationRecorded, ObservationUrgent
from schemas.topics import OBSERVATION_RECORDED, OBSERVATION_URGENT
from schemas.vocabulary import TombstoneStatus
from services.erasure import steps
from services.erasure.steps import StepError
from shared import cache, clock
from shared.bus.delivery import Delivered
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.erasure.request import state_event
from shared.metrics.erasure import ERASURE_FAILURES, ERASURE_RESIDUE, ERASURE_SECONDS
from shared.runtime import Runtime
from shared.store import inbox, outbox
from shared.store.erasure import delete, progress, residue, tombstones
from shared.store.erasure.residue import Residue
from shared.store.erasure.tombstones import Tombstone
from shared.store.outbox import Outgoing
from shared.telemetry import logger

CONSUMER = "erasure"
WAIT = timedelta(seconds=2)
"""A step that only needs time is retried after this, without costing an attempt."""


async def erase_all(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Completes each tombstone, schedules its next attempt, or escalates it; a repeat changes nothing."""
    for tombstone_id in dict.fromkeys(event.read(ErasureRequested).tombstone_id for event in events):
        await work(rt, subject, tombstone_id)
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])


async def work(rt: Runtime, subject: Subject, tombstone_id: UUID) -> TombstoneStatus | None:
    """The state of the tombstone after one attempt, None if it does not exist; an interrupted attempt is resumed. The
    searched words are not stored.
    """
    tombstone = await begin_erasure(rt, subject, tombstone_id)
    if tombstone is None or tombstone.status != "processing":
        return tombstone.status if tombstone else None
    try:
        while True:
            await steps.run(rt, subject, tombstone)
            if status := await complete_erasure(rt, subject, tombstone):
                return status
    except StepError as error:
        return await note_failure(rt, subject, tombstone, error)
    finally:
        cache.forget_texts()


async def begin_erasure(rt: Runtime, subject: Subject, tombstone_id: UUID) -> Tombstone | None:
    """Loads the tombstone, and starts processing if it is due."""
    async with rt.db.as_erasure(subject) as conn:
        tombstone = await tombstones.one(subject, tombstone_id).on(conn)
        if tombstone is None or not rules.may(tombstone.status, "processing") or tombstone.status == "escalated":
            return tombstone
        if tombstone.next_try_at > await tombstones.load_now(conn):
            return tombstone
        return await _move(conn, rt, subject, tombstone, "processing", attempts=tombstone.attempts)


async def _move(
    conn: Connection,
    rt: Runtime,
    subject: Subject,
    tombstone: Tombstone,
    to: TombstoneStatus,
    *,
    store: str | None = None,
    **details: Any,
) -> Tombstone:
    """Moves the tombstone to its next state and publishes that in the same transaction."""
    at = await tombstones.load_now(conn)
    if await tombstones.move(conn, subject, tombstone, to, at=at, **details) is None:
        return tombstone
    event = _state(rt, subject, tombstone, to, details.get("attempts", 0), store=store, error=details.get("error"))
    await outbox.put(conn, [event])
    passed = [*tombstone.history, {"from": tombstone.status, "to": to, "at": at.isoformat()}]
    return replace(tombstone, status=to, attempts=details.get("attempts", 0), history=passed)


def _state(
    rt: Runtime, subject: Subject, tombstone: Tombstone, to: TombstoneStatus, attempt: int, **more: Any
) -> Outgoing:
    told = {"trace_id": tombstone.tombstone_id.hex, "policy_version": rt.version}
    return state_event(subject, tombstone, tombstone.status, to, attempt=attempt, **told, **more)


async def complete_erasure(rt: Runtime, subject: Subject, tombstone: Tombstone) -> TombstoneStatus | None:
    """Scans for residue and completes the erasure in one transaction; StepError if rows are left. None if another
    erasure has hidden rows that this one also covers: it takes them over in another pass.
    """
    async with rt.db.as_erasure(subject) as conn:
        rest = await residue.residue(conn, subject, tombstone)
        if not rest.rows:
            return await close_erasure(conn, rt, subject, tombstone, rest)
        await progress.requeue(conn, subject, tombstone.tombstone_id)
        if await residue.take_over(conn, subject, tombstone, rest):
            return None
    ERASURE_RESIDUE.inc(rest.rows)
    raise StepError("residue", " ".join(f"{name}={count}" for name, count in rest.left.items()))


async def close_erasure(
    conn: Connection, rt: Runtime, subject: Subject, tombstone: Tombstone, rest: Residue
) -> TombstoneStatus:
    done = await progress.steps(subject, tombstone.tombstone_id).on(conn)
    proof = {
        "scope": tombstone.scope,
        "epoch": tombstone.epoch,
        "stores": {each.step: each.affected for each in done},
        "details": {each.step: each.detail for each in done if each.detail},
        "residue": residue.to_proof(rest),
    }
    at = await tombstones.load_now(conn)
    took = await tombstones.move(conn, subject, tombstone, "completed", at=at, attempts=tombstone.attempts, proof=proof)
    if took is None:
        return tombstone.status
    await tombstones.audit(
        conn, subject, clock.uuid7(), tombstone, {"scope": tombstone.scope, "stores": proof["stores"]}
    )
    affected = sum(each.affected for each in done)
    state = _state(rt, subject, tombstone, "completed", tombstone.attempts, affected=affected)
    await outbox.put(conn, [state, *await release_waiting(conn, rt, subject)])
    ERASURE_SECONDS.observe(took)
    logger().info("erasure_completed", tombstone_id=str(tombstone.tombstone_id), took_s=round(took, 3), rows=affected)
    return "completed"


async def release_waiting(conn: Connection, rt: Runtime, subject: Subject) -> list[Outgoing]:
    """Releases observations behind the fence: analysed ones to the evolver, the others to the analyzer."""
    origin = {"trace_id": clock.uuid7().hex, "policy_version": rt.version}
    events: list[Outgoing] = []
    for row in await delete.load_waiting(conn, subject):
        kind, topic = (
            (ObservationUrgent, OBSERVATION_URGENT) if row["analyzed"] else (ObservationRecorded, OBSERVATION_RECORDED)
        )
        payload = kind(observation_ids=tuple(row["ids"]), turn_id=row["turn_id"])
        about = f"{row['turn_id']}:released:{origin['trace_id']}"
        events.append((topic, outbox.event(payload, subject, about, session_id=row["session_id"], **origin)))
    return events


async def note_failure(rt: Runtime, subject: Subject, tombstone: Tombstone, error: StepError) -> TombstoneStatus:
    """Schedules the next attempt, or escalates the tombstone if its attempts are used up."""
    ERASURE_FAILURES.labels(error.store).inc()
    attempts = tombstone.attempts + (0 if error.waiting else 1)
    policy = rt.policy.erasure
    wait = WAIT if error.waiting else rules.backoff(attempts, policy)
    details: dict[str, Any] = {"attempts": attempts, "error": str(error)[:500], "store": error.store}
    async with rt.db.as_erasure(subject) as conn:
        standing = await _move(conn, rt, subject, tombstone, "failed", **details)
        standing = await _move(conn, rt, subject, standing, "retry_pending", wait=wait, **details)
        if rules.is_exhausted(attempts, policy):
            standing = await _move(conn, rt, subject, standing, "escalated", **details)
    logger().warning("erasure_step_failed", store=error.store, reason=error.reason, attempts=attempts)
    return standing.status


async def escalate(rt: Runtime, subject: Subject, tombstone_id: UUID) -> bool:
    """Whether the tombstone is escalated now because its deadline has passed."""
    async with rt.db.as_erasure(subject) as conn:
        found = await tombstones.one(subject, tombstone_id).on(conn)
        if found is None or not rules.may(found.status, "escalated") or found.status == "escalated":
            return False
        moved = await _move(conn, rt, subject, found, "escalated", attempts=found.attempts, error="deadline passed")
    logger().error("erasure_overdue", tombstone_id=str(tombstone_id))
    return moved.status == "escalated"


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Gives up the event: the tombstone continues from its state, at its next attempt or by an operator."""
    async with rt.db.as_erasure(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        found = await tombstones.one(subject, event.read(ErasureRequested).tombstone_id).on(conn)
    if found is not None and found.status == "processing":
        await note_failure(rt, subject, found, StepError("worker", reason))
