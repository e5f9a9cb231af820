"""Proposals to offer a memory to the enterprise side, shown and decided. Approval is recorded, and nothing else yet."""

from collections.abc import Iterable
from uuid import UUID

from schemas.promotion import PromotionDecision, PromotionPage, PromotionStatus, PromotionView
from schemas.turn_events import FieldProblem
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.knowledge.port import Scope
from shared.metrics.memory import PROMOTIONS
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import knowledge, promotions
from shared.store.promotions import Promotion

DECIDED: dict[str, PromotionStatus] = {"approve": "approved", "reject": "rejected"}
ENDED = "memory_ended"
"""Why a proposal was rejected that nobody decided: its memory was corrected, taken back or fused."""


async def page(rt: Runtime, subject: Subject, status: str | None, limit: int) -> PromotionPage:
    """The user's proposals, newest first; those that nobody decided in time have expired."""
    async with rt.db.transaction(subject) as conn:
        ended = await promotions.end(conn, subject)
        found = await promotions.list_promotions(conn, subject, status, limit)
    _count(ended)
    return PromotionPage(promotions=tuple(_view(each) for each in found))


async def decide(rt: Runtime, proposal_id: UUID, asked: PromotionDecision) -> PromotionView:
    """The proposal as it stands now: decided, or `expired`, or `rejected` because its memory holds no more.

    The same decision again changes nothing. RefusedError `not_found`; `not_pending` where it was decided otherwise;
    `consent_required` where what is personal is approved without.
    """
    subject = Subject(asked.tenant_id, asked.user_id)
    async with rt.db.transaction(subject) as conn:
        changed = await promotions.end(conn, subject)
        found = await promotions.one(conn, subject, proposal_id)
        if found is None:
            raise refuse_promotion("not_found", "proposal_id", "not found", 404)
        if _decides(found, asked):
            changed.append(DECIDED[asked.decision])
            visibility = asked.visibility or found.visibility
            reason = redact(asked.reason, rt.policy.personal_data.kept)[0] or None
            await promotions.decide(
                conn, subject, proposal_id, status=changed[-1], reason=reason, visibility=visibility
            )
            found = await promotions.one(conn, subject, proposal_id) or found
            if found.status == "approved":
                await knowledge.note_change(conn, Scope(subject.tenant_id))
    _count(changed)
    return _view(found)


def _decides(found: Promotion, asked: PromotionDecision) -> bool:
    """Whether there is something to decide; RefusedError where it was decided otherwise, or consent is missing."""
    if found.status == "pending_approval":
        if asked.decision == "approve" and found.class_ == "personal" and not asked.consent:
            raise refuse_promotion("consent_required", "consent", "what is personal needs the person's consent")
        return True
    if found.status in (DECIDED[asked.decision], "expired") or found.reason == ENDED:
        return False
    raise refuse_promotion("not_pending", "proposal_id", f"is {found.status}", 409)


def _count(statuses: Iterable[PromotionStatus]) -> None:
    for status in statuses:
        PROMOTIONS.labels(status).inc()


def refuse_promotion(code: str, field: str, problem: str, status: int = 422) -> RefusedError:
    return RefusedError(code, f"{field}: {problem}", (FieldProblem(field=field, problem=problem),), status)


def _view(found: Promotion) -> PromotionView:
    named = {name: getattr(found, name) for name in PromotionView.model_fields}
    return PromotionView.model_validate(named)
