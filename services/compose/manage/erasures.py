"""Erasures: requests, views, and retries by operators."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from schemas.erasure import (
    DeletionReceipt,
    ErasurePage,
    ErasureRequest,
    ErasureRequeue,
    ErasureStep,
    ErasureView,
    ForgetRequest,
    ResidueView,
)
from services.compose.receipts.recorder import Recorder
from shared import clock
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.erasure.request import again_asked, receipt, request
from shared.errors import RefusedError, refuse_field
from shared.runtime import Runtime
from shared.store.erasure import progress, residue, tombstones
from shared.store.erasure.tombstones import Tombstone
from shared.store.operator_acts import note_act
from shared.telemetry import logger


async def request_erasure(
    rt: Runtime, recorder: Recorder, wish: ErasureRequest, *, sent_at: datetime | None = None
) -> DeletionReceipt:
    """Requests the erasure; the same idempotency key returns the first receipt.

    Packages answered before are recorded first, because it covers them too.
    """
    await recorder.wait_until_recorded(Subject(wish.tenant_id, wish.user_id))
    begun = await request(rt.db, rt.policy, wish, sent_at=sent_at)
    rt.forget(Subject(wish.tenant_id, wish.user_id), begun.tombstone.epoch)
    logger().info(
        "erasure_requested",
        tenant_id=wish.tenant_id,
        tombstone_id=str(begun.tombstone.tombstone_id),
        scope=wish.scope,
        fresh=begun.fresh,
    )
    return receipt(begun.tombstone)


def to_request(subject: Subject, wish: ForgetRequest, requested_by: str | None) -> ErasureRequest:
    """The erasure of the named memories; without any, of everything learnt about the user."""
    return ErasureRequest(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        scope="items" if wish.memory_ids else "personal",
        memory_ids=wish.memory_ids,
        requested_by=requested_by,
        reason=wish.reason,
        idempotency_key=wish.idempotency_key,
    )


async def load_view(rt: Runtime, subject: Subject, tombstone_id: UUID) -> ErasureView:
    """The erasure and its progress; RefusedError if the user has none with this id."""
    tombstone, steps = await rt.db.read(
        subject, tombstones.one(subject, tombstone_id), progress.steps(subject, tombstone_id)
    )
    if tombstone is None:
        raise _refuse_unknown()
    return _view(tombstone, steps)


async def load_page(rt: Runtime, subject: Subject, limit: int) -> ErasurePage:
    """The user's erasures, newest first."""
    (found,) = await rt.db.read(subject, tombstones.page(subject, limit))
    return ErasurePage(erasures=tuple(_view(each, ()) for each in found))


async def scan_residue(rt: Runtime, subject: Subject, tombstone_id: UUID) -> ResidueView:
    """The current residue of the erasure, by a new scan; empty once it is completed."""
    async with rt.db.as_erasure(subject) as conn:
        tombstone = await _load(conn, subject, tombstone_id)
        left = await residue.residue(conn, subject, tombstone)
    return ResidueView(tombstone_id=tombstone_id, status=tombstone.status, **residue.to_proof(left))


async def requeue(rt: Runtime, tombstone_id: UUID, wish: ErasureRequeue) -> ErasureView:
    """Restarts an escalated erasure; RefusedError if it is not escalated."""
    subject = Subject(wish.tenant_id, wish.user_id)
    async with rt.db.as_erasure(subject) as conn:
        tombstone = await _load(conn, subject, tombstone_id)
        if not (tombstone.status == "escalated" and rules.may(tombstone.status, "processing")):
            problem = f"is {tombstone.status}; only escalated ones are requeued"
            raise refuse_field("not_escalated", "tombstone_id", problem, 409)
        why = f"requeued by {wish.requested_by}: {wish.reason}"
        await again_asked(conn, subject, tombstone, why, rt.version, clock.uuid7().hex)
        await note_act(conn, subject, f"erasure:{tombstone_id}", "erasure.requeued", wish)
    return await load_view(rt, subject, tombstone_id)


async def _load(conn: Connection, subject: Subject, tombstone_id: UUID) -> Tombstone:
    tombstone = await tombstones.one(subject, tombstone_id).on(conn)
    if tombstone is None:
        raise _refuse_unknown()
    return tombstone


def _refuse_unknown() -> RefusedError:
    return refuse_field("not_found", "tombstone_id", "the user has no such erasure", 404)


def _view(tombstone: Tombstone, steps: Sequence[ErasureStep]) -> ErasureView:
    return ErasureView(
        **receipt(tombstone).model_dump(),
        session_ids=tombstone.session_ids,
        memory_ids=tombstone.memory_ids,
        requested_by=tombstone.requested_by,
        reason=tombstone.reason,
        attempts=tombstone.attempts,
        error=tombstone.error,
        escalated_at=tombstone.escalated_at,
        completed_at=tombstone.completed_at,
        history=tuple(tombstone.history),
        steps=tuple(steps),
        proof=tombstone.proof,
    )
