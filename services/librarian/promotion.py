"""Ingests approved promotions to the knowledge side: load, ingest each, save. Updates promotions; increments
knowledge_versions. The documents name no user: everybody for whom they were approved finds them, and an erasure of the
memory deletes them.
"""

from collections.abc import Sequence
from uuid import UUID

from schemas.events import PromotionApproved
from shared.bus.delivery import Delivered
from shared.domain.subjects import Subject
from shared.knowledge.owners import find_audience
from shared.knowledge.port import KnowledgeUnavailable, Resource, Scope
from shared.language.normalise import clip, detect, visible
from shared.metrics.memory import PROMOTIONS
from shared.runtime import Runtime
from shared.secrets import ADDRESSES, redact
from shared.store import inbox, knowledge, promoted, quarantine
from shared.store.promoted import Approved, SettledWrite
from shared.telemetry import logger

CONSUMER = "librarian-promotions"
MAX_TITLE = 80


async def write(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Ingests each promotion, or marks it as failed or pending; a repeat changes nothing."""
    ids = dict.fromkeys(event.read(PromotionApproved).proposal_id for event in events)
    async with rt.db.transaction(subject) as conn:
        waiting = await promoted.load_waiting(conn, subject, ids)
    settled = [await _offer(rt, subject, each) for each in waiting]
    written = {each.proposal_id for each in settled if each.state == "written"}
    # as an erasure would, so that what was erased meanwhile is settled too: by its document's id it is found over there
    async with rt.db.as_erasure(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        states = await promoted.settle(conn, subject, settled)
        orgs = {find_audience(each.visibility, each.org_id) for each in waiting if each.proposal_id in written}
        for org_id in sorted(each for each in orgs if each is not None):
            await knowledge.note_change(conn, Scope(subject.tenant_id, org_id))
    for state in states:
        if state != "waiting":
            PROMOTIONS.labels(state).inc()
    for each in settled:
        logger().info("promotion_settled", proposal_id=str(each.proposal_id), state=each.state, reason=each.reason)


async def _offer(rt: Runtime, subject: Subject, approved: Approved) -> SettledWrite:
    """What becomes of one try; what the other side refuses is not offered again, and an absence is waited out."""
    proposal_id, policy = approved.proposal_id, rt.policy.knowledge
    if approved.content is None:
        return SettledWrite(proposal_id, "write_failed", "memory_ended")
    org_id = find_audience(approved.visibility, approved.org_id)
    if org_id is None:
        return SettledWrite(proposal_id, "write_failed", "no_organisation")
    try:
        if reason := await _why_withheld(rt, org_id):
            return SettledWrite(proposal_id, "write_failed", reason)
        async with rt.db.transaction(subject) as conn:
            if not await promoted.may_offer(conn, subject, proposal_id):
                return SettledWrite(proposal_id, "waiting", "erased")
        receipt = await rt.knowledge.ingest(
            to_resource(approved, approved.content),
            Scope(subject.tenant_id, org_id),
            key=str(proposal_id),
            deadline_s=policy.ingest_deadline_s,
        )
    except KnowledgeUnavailable as error:
        last = error.reason in ("refused", "not_configured") or approved.attempts + 1 >= policy.ingest_attempts
        return SettledWrite(proposal_id, "write_failed" if last else "waiting", f"knowledge_{error.reason}")
    return SettledWrite(proposal_id, "written", None, receipt.document_id)


async def _why_withheld(rt: Runtime, org_id: str) -> str | None:
    """The reason not to ingest it, if users beyond the approval would find it."""
    can = await rt.knowledge.learn(deadline_s=rt.policy.knowledge.ingest_deadline_s)
    if not can.ingest:
        return "knowledge_takes_nothing"
    return "organisations_not_separated" if org_id and not can.separates_users else None


def to_resource(approved: Approved, content: str) -> Resource:
    """The document for the knowledge side: the text, the class and the visibility of the promotion; no user."""
    text = redact(visible(content), ADDRESSES)[0]
    return Resource(
        source_type="memory_snapshot",
        source_uri=f"smartbrain://promotion/{approved.proposal_id}",
        title=clip(text, MAX_TITLE),
        language=detect(text),
        content=text,
        meta={"visibility": approved.visibility, "class": approved.class_, "type": approved.type},
        created_at=approved.decided_at,
    )


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Marks the write as failed and quarantines the event."""
    proposal_id: UUID = event.read(PromotionApproved).proposal_id
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        states = await promoted.settle(conn, subject, [SettledWrite(proposal_id, "write_failed", "given_up")])
        await quarantine.put(
            conn, subject, stage=CONSUMER, turn_id=None, event_id=event.envelope.event_id, reason=reason
        )
    for state in states:
        PROMOTIONS.labels(state).inc()
