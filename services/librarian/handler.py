"""Ingests resources to the knowledge side: load, think (ingest each), save. Updates resources; increments
knowledge_versions."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.events import ResourceIngestRequested
from shared.bus.delivery import Delivered
from shared.domain.subjects import Subject
from shared.knowledge import citations
from shared.knowledge.port import KnowledgeUnavailable, Resource, Scope
from shared.metrics.turns import RESOURCES
from shared.runtime import Runtime
from shared.store import inbox, knowledge, quarantine, resources, turns
from shared.store.resources import Pending, SettledResource, Sign
from shared.telemetry import logger

CONSUMER = "librarian"


@dataclass(frozen=True)
class Offer:
    """A pending resource with its content; None if its text has been erased."""

    pending: Pending
    resource: Resource | None

    @property
    def content_hash(self) -> str:
        """A hash of the content, or a marker for missing content."""
        return hashlib.sha256((self.resource.content or "" if self.resource else "").encode()).hexdigest()

    @property
    def sign(self) -> Sign:
        """The idempotency key of the same content at the same address."""
        return (self.pending.org_id, self.pending.uri_hash, self.content_hash)


async def keep(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Ingests each resource, or marks it as skipped, failed or pending; a repeat changes nothing."""
    offers, signs = await _load(rt, subject, [event.read(ResourceIngestRequested).ref_id for event in events])
    settled: list[SettledResource] = []
    for each in offers:
        done = await _offer(rt, subject, each, signs)
        if done.state == "ingested":
            signs.add(each.sign)
        settled.append(done)
    # as an erasure would, so that what was erased meanwhile is settled too: by its document's id it is found over there
    async with rt.db.as_erasure(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        states = await resources.settle(conn, subject, settled)
        orgs = {each.pending.org_id for each, done in zip(offers, settled, strict=True) if done.state == "ingested"}
        for org_id in sorted(orgs):
            await knowledge.note_change(conn, Scope(subject.tenant_id, org_id))
    for state in states:
        RESOURCES.labels(state).inc()
    for each in settled:
        logger().info("resource_settled", resource_id=str(each.resource_id), state=each.state, reason=each.reason)


async def _load(rt: Runtime, subject: Subject, ids: Sequence[UUID]) -> tuple[list[Offer], set[Sign]]:
    async with rt.db.transaction(subject) as conn:
        waiting = await resources.load_pending(conn, subject, dict.fromkeys(ids))
        turns_by_id = {
            turn.turn_id: turn for turn in await turns.load(conn, subject, {each.turn_id for each in waiting})
        }
        named = rt.policy.knowledge.send_user
        signs = await resources.load_known(conn, subject, {each.uri_hash for each in waiting}, user_named=named)
    most = rt.policy.knowledge.ingest_max_chars
    offers = [
        Offer(
            each, citations.resource_of(turn, each.ordinal, most) if (turn := turns_by_id.get(each.turn_id)) else None
        )
        for each in waiting
    ]
    return offers, signs


async def _offer(rt: Runtime, subject: Subject, offer: Offer, signs: set[Sign]) -> SettledResource:
    """What becomes of one try; what the other side refuses is not offered again, and an absence is waited out."""
    resource_id, policy = offer.pending.resource_id, rt.policy.knowledge
    if offer.resource is None:
        return SettledResource(resource_id, "skipped", "erased")
    if offer.sign in signs:
        return SettledResource(resource_id, "skipped", "known_already", content_hash=offer.content_hash)
    try:
        if reason := await _why_withheld(rt):
            return SettledResource(resource_id, "skipped", reason)
        async with rt.db.transaction(subject) as conn:
            if not await resources.may_offer(conn, subject, resource_id, user_named=policy.send_user):
                return SettledResource(resource_id, "skipped", "erased")
        user_id = subject.user_id if policy.send_user else ""
        receipt = await rt.knowledge.ingest(
            offer.resource,
            Scope(subject.tenant_id, offer.pending.org_id, user_id=user_id),
            key=str(resource_id),
            deadline_s=policy.ingest_deadline_s,
        )
    except KnowledgeUnavailable as error:
        last = error.reason in ("refused", "not_configured") or offer.pending.attempts + 1 >= policy.ingest_attempts
        return SettledResource(resource_id, "failed" if last else "pending", f"knowledge_{error.reason}")
    return SettledResource(resource_id, "ingested", None, receipt.document_id, offer.content_hash)


async def _why_withheld(rt: Runtime) -> str | None:
    """The reason not to ingest user documents, if others would find them. Raises KnowledgeUnavailable while that is
    unknown."""
    policy = rt.policy.knowledge
    can = await rt.knowledge.learn(deadline_s=policy.ingest_deadline_s)
    if not can.ingest:
        return "knowledge_takes_nothing"
    return None if policy.ingest_shared or (can.separates_users and policy.send_user) else "users_not_separated"


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Marks the resource as failed and quarantines the event."""
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await resources.settle(
            conn, subject, [SettledResource(event.read(ResourceIngestRequested).ref_id, "failed", "given_up")]
        )
        await quarantine.put(
            conn, subject, stage=CONSUMER, turn_id=None, event_id=event.envelope.event_id, reason=reason
        )
    RESOURCES.labels("failed").inc()
