"""Proposals to promote a memory to the enterprise: views and decisions. Approved ones are written to knowledge."""

from collections.abc import Iterable
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import PromotionApproved
from schemas.promotion import PromotionDecision, PromotionPage, PromotionRetry, PromotionStatus, PromotionView
from schemas.topics import PROMOTION_APPROVED, Topic
from shared import clock
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.errors import refuse_field
from shared.knowledge.owners import find_audience
from shared.knowledge.port import Scope
from shared.metrics.memory import PROMOTIONS
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import knowledge, outbox, promoted, promotions
from shared.store import operator_acts as acts
from shared.store.promotions import Promotion

DECIDED: dict[str, PromotionStatus] = {"approve": "approved", "reject": "rejected"}
ENDED = "memory_ended"
"""Reasons of proposals that were rejected without a decision: the memory was corrected, retracted or fused."""


async def load_page(rt: Runtime, subject: Subject, status: str | None, limit: int) -> PromotionPage:
    """The user's proposals, newest first; those not decided in time have expired."""
    async with rt.db.transaction(subject) as conn:
        ended = await promotions.end(conn, subject)
        found = await promotions.list_promotions(conn, subject, status, limit)
    _count_statuses(ended)
    return PromotionPage(promotions=tuple(_view(each) for each in found))


async def decide(rt: Runtime, proposal_id: UUID, decision: PromotionDecision) -> PromotionView:
    """Decides the proposal; it may be `expired`, or `rejected` because its memory is not active any more.

    The same decision again changes nothing. RefusedError: `not_found`; `not_pending` if it was decided otherwise;
    `consent_required` if personal data is approved without consent; `organisation_required` if the user has none.
    """
    subject = Subject(decision.tenant_id, decision.user_id)
    async with rt.db.transaction(subject) as conn:
        changed = await promotions.end(conn, subject)
        proposal = await _load(conn, subject, proposal_id)
        if _needs_decision(proposal, decision):
            changed.append(DECIDED[decision.decision])
            proposal = await _record_decision(rt, conn, subject, proposal, decision)
            if proposal.status == "approved":
                await knowledge.note_change(conn, Scope(subject.tenant_id))
                if rt.knowledge.configured:
                    await _request_write(rt, conn, subject, proposal)
    _count_statuses(changed)
    rt.db.wake()
    return _view(proposal)


async def retry(rt: Runtime, proposal_id: UUID, request: PromotionRetry) -> PromotionView:
    """Sends an approved promotion to knowledge again, unless it has arrived.

    RefusedError: `not_found`; `not_approved` if nothing was to be written; `knowledge_not_configured`.
    """
    subject = Subject(request.tenant_id, request.user_id)
    async with rt.db.transaction(subject) as conn:
        proposal = await _load(conn, subject, proposal_id)
        if proposal.status not in ("approved", "write_failed"):
            raise refuse_field("not_approved", "proposal_id", f"is {proposal.status}", 409)
        if not rt.knowledge.configured:
            raise refuse_field("knowledge_not_configured", "proposal_id", "there is no knowledge side", 409)
        await _request_write(rt, conn, subject, proposal)
        failed = {"write_reason": proposal.write_reason}
        await acts.note_act(conn, subject, f"promotion:{proposal_id}", "promotion.retried", request, failed)
        proposal = await _load(conn, subject, proposal_id)
    rt.db.wake()
    return _view(proposal)


async def _load(conn: Connection, subject: Subject, proposal_id: UUID) -> Promotion:
    proposal = await promotions.one(conn, subject, proposal_id)
    if proposal is None:
        raise refuse_field("not_found", "proposal_id", "not found", 404)
    return proposal


async def _record_decision(
    rt: Runtime, conn: Connection, subject: Subject, proposal: Promotion, decision: PromotionDecision
) -> Promotion:
    """Records the decision; RefusedError if it is approved for an organisation and the user has none."""
    visibility = decision.visibility or proposal.visibility
    audience = find_audience(visibility, decision.org_id or proposal.said_in)
    if audience is None and decision.decision == "approve":
        raise refuse_field("organisation_required", "org_id", f"{visibility} is for one organisation: name it")
    await promotions.decide(
        conn,
        subject,
        proposal.proposal_id,
        status=DECIDED[decision.decision],
        reason=redact(decision.reason, rt.policy.personal_data.kinds_kept)[0] or None,
        visibility=visibility,
        org_id=audience or "",
    )
    about, kind = f"promotion:{proposal.proposal_id}", f"promotion.{DECIDED[decision.decision]}"
    details = {"visibility": visibility, "org_id": audience, "consent": decision.consent}
    await acts.note_act(conn, subject, about, kind, decision, details, once=True)
    return await _load(conn, subject, proposal.proposal_id)


async def _request_write(rt: Runtime, conn: Connection, subject: Subject, found: Promotion) -> None:
    """Sends the event to the librarian in the same transaction, unless the promotion is written already."""
    if await promoted.request(conn, subject, found.proposal_id):
        await outbox.put(conn, [_build_event(subject, found, rt.version)])


def _build_event(subject: Subject, found: Promotion, version: str) -> tuple[Topic, Envelope]:
    payload = PromotionApproved(proposal_id=found.proposal_id, visibility=found.visibility)
    told = {"trace_id": clock.uuid7().hex, "policy_version": version}
    return PROMOTION_APPROVED, outbox.event(payload, subject, found.proposal_id, **told)


def _needs_decision(proposal: Promotion, decision: PromotionDecision) -> bool:
    """Whether a decision is open; RefusedError if it was decided otherwise, or consent is missing."""
    if proposal.status == "pending_approval":
        if decision.decision == "approve" and proposal.class_ == "personal" and not decision.consent:
            raise refuse_field("consent_required", "consent", "what is personal needs the person's consent")
        return True
    stands = "approved" if proposal.status == "write_failed" else proposal.status
    if stands in (DECIDED[decision.decision], "expired") or proposal.reason == ENDED:
        return False
    raise refuse_field("not_pending", "proposal_id", f"is {proposal.status}", 409)


def _count_statuses(statuses: Iterable[PromotionStatus]) -> None:
    for status in statuses:
        PROMOTIONS.labels(status).inc()


def _view(found: Promotion) -> PromotionView:
    named = {name: getattr(found, name) for name in PromotionView.model_fields}
    return PromotionView.model_validate(named)
