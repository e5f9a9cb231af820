"""Proposals for promotion: a timer finds and checks memories that qualify. Writes promotions.

An approval is only recorded; the knowledge side continues from there (promotions.status `approved`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

import orjson

from schemas.envelope import Envelope
from schemas.events import PromotionProposed
from schemas.topics import PROMOTION_PROPOSED, Topic
from services.evolver.promotable import PromotionFigures, conflict_ratio, eligible, verdict
from shared import clock
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.memory import PROMOTIONS
from shared.policy import PromotionPolicy
from shared.runtime import Runtime
from shared.store import outbox, promotions
from shared.store.promotions import PromotionCandidate, Proposal
from shared.telemetry import logger

SLACK_S = 60.0
"""The next round sees transactions that took up to this time."""


async def propose_forever(rt: Runtime) -> None:
    """A round every `evolution.every_s`, until cancelled: first over all memories, then over changed ones."""
    since: datetime | None = None
    while True:
        try:
            began = await propose(rt, since)
            since = began - timedelta(seconds=max(SLACK_S, rt.policy.evolution.every_s))
        except TransientError as error:
            logger().warning("promotion_waits", error=str(error))
        await asyncio.sleep(rt.policy.evolution.every_s)


async def propose(rt: Runtime, since: datetime | None = None) -> datetime:
    """Proposes every memory that qualifies and changed after `since`; the start time of this round."""
    async with rt.db.system() as conn:
        found, began = await promotions.load_due(conn, rt.policy.evolution.promotion.least_confidence, since)
    for subject in found:
        await propose_of(rt, subject)
    return began


async def propose_of(rt: Runtime, subject: Subject) -> None:
    """Proposes the user's qualifying memories, once each, and ends proposals that are over."""
    policy = rt.policy.evolution.promotion
    async with rt.db.transaction(subject) as conn:
        ended = await promotions.end(conn, subject)
        made = _proposals(await promotions.candidates(conn, subject, policy.least_confidence), policy)
        fresh = await promotions.put(conn, subject, made, timedelta(days=policy.expires_days))
        new = [each for each in made if each.proposal_id in fresh]
        await outbox.put(conn, [_event(subject, each, rt.version) for each in new if each.status == "pending_approval"])
    for status in (*ended, *(each.status for each in new)):
        PROMOTIONS.labels(status).inc()


def _proposals(found: Sequence[PromotionCandidate], policy: PromotionPolicy) -> list[Proposal]:
    figured = [(each, figures_of(each)) for each in found]
    return [_proposal(each, figures, policy) for each, figures in figured if not eligible(figures, policy)]


def figures_of(memory: PromotionCandidate) -> PromotionFigures:
    """The criteria of the memory."""
    return PromotionFigures(
        confidence=memory.confidence,
        uses_30d=memory.used + memory.said_again,
        sessions=memory.sessions,
        epistemic=memory.epistemic,
        conflict_ratio=conflict_ratio(memory.against, memory.confirmations),
    )


def _proposal(memory: PromotionCandidate, figures: PromotionFigures, policy: PromotionPolicy) -> Proposal:
    words = f"{memory.content_text}\n{orjson.dumps(memory.value).decode()}" if memory.value else memory.content_text
    judged = verdict(memory.type, words)
    parts = {"used": memory.used, "said_again": memory.said_again}
    shown = {**asdict(figures), **parts, "thresholds": policy.model_dump()}
    return Proposal(clock.uuid7(), memory.memory_id, judged.class_, "store", judged.status, shown, judged.reason)


def _event(subject: Subject, proposal: Proposal, version: str) -> tuple[Topic, Envelope]:
    payload = PromotionProposed(proposal_id=proposal.proposal_id, visibility=proposal.visibility)
    told = {"trace_id": clock.uuid7().hex, "policy_version": version}
    return PROMOTION_PROPOSED, outbox.event(payload, subject, proposal.memory_id, **told)
