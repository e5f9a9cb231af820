"""Timed upkeep: resumes work that a broker lost, prunes old claims, measures lateness."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from schemas.envelope import Envelope
from schemas.events import (
    AnalysisProposed,
    ErasureRequested,
    ObservationRecorded,
    ObservationUrgent,
    Payload,
    PromotionApproved,
    ResourceIngestRequested,
    TurnCommitted,
)
from schemas.topics import (
    ANALYSIS_PROPOSED,
    ERASURE_REQUESTED,
    OBSERVATION_RECORDED,
    OBSERVATION_URGENT,
    PROMOTION_APPROVED,
    RESOURCE_INGEST,
    TURN_COMMITTED,
    Topic,
)
from shared import clock
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import make_session_end
from shared.metrics.outbox import REDRIVEN
from shared.metrics.turns import TURNS_WITHOUT_OUTCOME
from shared.runtime import Runtime
from shared.store import (
    aged,
    contexts,
    experience,
    inbox,
    model_answers,
    observations,
    operator_acts,
    outbox,
    promoted,
    resources,
    sessions,
    topics_made,
    turn_states,
)
from shared.store.erasure import tombstones
from shared.telemetry import logger

LIMIT = 500
PRUNE = 50_000
ERASURE_IDLE = timedelta(seconds=10)
"""An erasure that was not touched for this long, although its next attempt is due, has lost its worker or its event."""
BUSY_FACTOR = 10
"""While workers make progress, late work is more likely queued than lost: its grace period is multiplied by this."""


async def redrive(rt: Runtime) -> dict[str, int]:
    """Redrives work older than the grace period whose event is neither handled nor waiting; the counts by kind. If the
    broker has lost its topics, this is all work older than the new topics. The event gets a new id, because a claimed
    id would count as handled.
    """
    grace = timedelta(seconds=rt.policy.delivery.redrive_after_s)
    async with rt.db.system() as conn:
        if not await outbox.claim_redrive(conn) or (await outbox.depth(conn)).age_s > grace.total_seconds() / 2:
            return {}
        since_loss = await topics_made.load_age(conn)
        if since_loss is not None:
            grace = since_loss
        elif await inbox.busy(conn, grace):
            grace *= BUSY_FACTOR
        requeued = {
            "turn": [_turn(row) for row in await turn_states.load_unobserved(conn, grace, LIMIT)],
            "observation": [_observation(row, rt.version) for row in await observations.overdue(conn, grace, LIMIT)],
            "proposal": [_proposal(row, rt.version) for row in await observations.load_unapplied(conn, grace, LIMIT)],
            "resource": [_resource(row, rt.version) for row in await resources.overdue(conn, grace, LIMIT)],
            "promotion": [_promotion(row, rt.version) for row in await promoted.overdue(conn, grace, LIMIT)],
            "erasure": [_erasure(row, rt.version) for row in await tombstones.overdue(conn, ERASURE_IDLE, LIMIT)],
        }
        counts = {kind: await requeue_events(conn, kind, events) for kind, events in requeued.items()}
        if since_loss is not None and all(len(events) < LIMIT for events in requeued.values()):
            await topics_made.forget(conn, since_loss)
    rt.db.wake()
    return counts


async def requeue_events(conn: Connection, kind: str, events: Sequence[tuple[Topic, Envelope]]) -> int:
    fresh = await outbox.put_again(conn, events)
    if fresh:
        REDRIVEN.labels(kind).inc(fresh)
        logger().warning("work_driven_again", kind=kind, count=fresh)
    return fresh


def _turn(row: Mapping[str, Any]) -> tuple[Topic, Envelope]:
    payload = TurnCommitted(turn_id=row["turn_id"], seq=row["seq"])
    return TURN_COMMITTED, _envelope(row, payload, row["policy_version"], row["trace_id"], row["turn_id"])


def _observation(row: Mapping[str, Any], version: str) -> tuple[Topic, Envelope]:
    urgent = row["priority"] == "urgent"
    kind = ObservationUrgent if urgent else ObservationRecorded
    payload = kind(observation_ids=tuple(row["observation_ids"]), turn_id=row["turn_id"])
    topic = OBSERVATION_URGENT if urgent else OBSERVATION_RECORDED
    return topic, _envelope(row, payload, version, clock.uuid7().hex, row["turn_id"])


def _proposal(row: Mapping[str, Any], version: str) -> tuple[Topic, Envelope]:
    payload = AnalysisProposed(
        proposal_id=row["proposal_id"],
        observation_ids=(row["observation_id"],),
        action=row["action"],
        target_memory_id=row["target_memory_id"],
        type=row["type"],
        provenance=row["provenance"],
        epistemic_type=row["epistemic"],
        confidence=row["confidence"],
    )
    return ANALYSIS_PROPOSED, _envelope(row, payload, version, clock.uuid7().hex, row["proposal_id"])


def _resource(row: Mapping[str, Any], version: str) -> tuple[Topic, Envelope]:
    payload = ResourceIngestRequested(
        ref_id=row["resource_id"],
        ref_type="artifact" if row["ref_type"] == "tool" else row["ref_type"],
        source_type=row["source_type"],
        uri_hash=row["uri_hash"],
    )
    return RESOURCE_INGEST, _envelope(row, payload, version, clock.uuid7().hex, row["resource_id"])


def _promotion(row: Mapping[str, Any], version: str) -> tuple[Topic, Envelope]:
    payload = PromotionApproved(proposal_id=row["proposal_id"], visibility=row["visibility"])
    told = {**row, "session_id": None}
    return PROMOTION_APPROVED, _envelope(told, payload, version, clock.uuid7().hex, row["proposal_id"])


def _erasure(row: Mapping[str, Any], version: str) -> tuple[Topic, Envelope]:
    payload = ErasureRequested(
        tombstone_id=row["tombstone_id"],
        scope=row["scope"],
        item_ids=tuple(row["memory_ids"]),
        session_ids=tuple(row["session_ids"]),
        requested_at=row["requested_at"],
        retention_policy=row["profile"],
        epoch=row["epoch"],
    )
    about = f"{row['tombstone_id']}:{row['attempts']}:{row['updated_at'].isoformat()}"
    return ERASURE_REQUESTED, _envelope({**row, "session_id": None}, payload, version, clock.uuid7().hex, about)


def _envelope(row: Mapping[str, Any], payload: Payload, version: str, trace: str, about: object) -> Envelope:
    subject = Subject(row["tenant_id"], row["user_id"])
    told = {"trace_id": trace, "policy_version": version, "session_id": row["session_id"]}
    return outbox.event(payload, subject, about, **told)


async def end_idle(rt: Runtime) -> int:
    """Requests the end of idle sessions; their number. Compose commits the ending turn like any other; a repeated
    request gives the same turn. While the outbox is behind, nothing is requested, because the turn could arrive after
    newer ones.
    """
    behind = rt.policy.delivery.redrive_after_s / 2
    async with rt.db.system() as conn:
        if not await outbox.claim_redrive(conn) or (await outbox.depth(conn)).age_s > behind:
            return 0
        idle_sessions = await sessions.idle(conn, timedelta(hours=rt.policy.session.idle_hours), LIMIT)
        turns_due = [
            make_session_end(Subject(row["tenant_id"], row["user_id"]), row["session_id"], row["next_seq"])
            for row in idle_sessions
        ]
        count = await outbox.ask(conn, turns_due)
    if count:
        rt.db.wake()
        logger().info("idle_sessions_end", count=count)
    return count


async def measure(rt: Runtime) -> None:
    """Updates the gauge of late turns."""
    async with rt.db.system() as conn:
        late = await turn_states.count_late(conn, timedelta(seconds=rt.policy.delivery.redrive_after_s))
    TURNS_WITHOUT_OUTCOME.set(late)


async def prune_all(rt: Runtime) -> None:
    """Deletes old claims and expired rows, a bounded number per transaction."""
    while await prune(rt) >= PRUNE:
        logger().info("inbox_pruned", count=PRUNE)
    while await prune_models(rt) >= PRUNE:
        logger().info("models_pruned", count=PRUNE)
    while await prune_injections(rt) >= PRUNE:
        logger().info("injections_pruned", count=PRUNE)
    while await prune_contexts(rt) >= PRUNE:
        logger().info("contexts_pruned", count=PRUNE)
    while await prune_erasures(rt) >= PRUNE:
        logger().info("erasures_pruned", count=PRUNE)
    while await prune_receipts(rt) >= PRUNE:
        logger().info("receipts_pruned", count=PRUNE)


async def prune(rt: Runtime) -> int:
    """Deletes old claims; their number."""
    async with rt.db.system() as conn:
        keep = timedelta(days=rt.policy.retention.claims_days)
        return await inbox.prune(conn, keep, PRUNE) + await outbox.forget_redriven(conn, keep)


async def prune_injections(rt: Runtime) -> int:
    """Deletes expired injections; their number."""
    async with rt.db.system() as conn:
        return await contexts.prune_injections(conn, timedelta(days=rt.policy.retention.injections_days), PRUNE)


async def prune_contexts(rt: Runtime) -> int:
    """Deletes expired packages and receipts; their number."""
    keep = rt.policy.retention
    days = timedelta(days=keep.receipts_days), timedelta(days=keep.packages_days)
    async with rt.db.system() as conn:
        return await contexts.prune(conn, *days, PRUNE)


async def prune_erasures(rt: Runtime) -> int:
    """Deletes expired proofs of erasures and audit events; their number."""
    years = rt.policy.retention.proofs_years
    async with rt.db.system() as conn:
        return await aged.prune_erasures(conn, years, PRUNE) + await operator_acts.prune(conn, years, PRUNE)


async def prune_receipts(rt: Runtime) -> int:
    """Deletes expired tool receipts; their number."""
    async with rt.db.system() as conn:
        return await experience.prune(conn, timedelta(days=rt.policy.retention.tool_receipts_days), PRUNE)


async def prune_models(rt: Runtime) -> int:
    """Deletes expired model answers and usage rows; their number."""
    async with rt.db.system() as conn:
        return await model_answers.prune_answers(conn, PRUNE) + await model_answers.prune_usage(
            conn, timedelta(days=rt.policy.retention.usage_days), PRUNE
        )
