"""Observations -> proposals: load, think, save. Writes proposals; moves observations to `analyzed`."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import AnalysisProposed, ObservationRecorded
from schemas.topics import ANALYSIS_PROPOSED, Topic
from services.analyzer import rules
from shared import clock
from shared.bus.delivery import Delivered
from shared.db import Subject
from shared.known import known_of, statement_of
from shared.relate import Known
from shared.runtime import Runtime
from shared.store import inbox, memory, observations, outbox, outcomes
from shared.store.observations import Mark, ObservationRow, ProposalRow
from shared.telemetry import logger

CONSUMER = "analyzer"


async def propose(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each observation has a proposal and the event that carries it on; again changes nothing."""
    wanted = [o for event in events for o in _payload(event).observation_ids]
    async with rt.db.transaction(subject) as conn:
        found = [o for o in await observations.load(conn, subject, wanted) if o.state == "new"]
        keys = {o.key for o in found if o.key}
        active = [
            *await memory.related(conn, subject, keys, {statement_of(o).sense for o in found if not o.key}),
            *await memory.by_ids(conn, subject, {o.related_memory_id for o in found if o.related_memory_id}),
        ]
        known = [known_of(m) for m in active if m.status == "active"]
        proposals = [_row(o, known, rt) for o in found]
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        new = await observations.propose(conn, subject, proposals)
        await observations.mark(
            conn, subject, [Mark(p.observation_id, "analyzed") for p in proposals if p.proposal_id in new]
        )
        traces = {o: event.envelope for event in events for o in _payload(event).observation_ids}
        kinds = {o.observation_id: o for o in found}
        fresh = [p for p in proposals if p.proposal_id in new]
        await outbox.put(conn, _events(fresh, kinds, traces))
    logger().info("observations_analyzed", proposals=len(fresh))


def _payload(event: Delivered) -> ObservationRecorded:
    assert isinstance(event.payload, ObservationRecorded)  # noqa: S101 # the topic carries nothing else
    return event.payload


def _row(seen: ObservationRow, known: Sequence[Known], rt: Runtime) -> ProposalRow:
    relation = rules.propose(statement_of(seen), known, rt.policy.confidence)
    return ProposalRow(
        proposal_id=clock.uuid7(),
        turn_id=seen.turn_id,
        observation_id=seen.observation_id,
        action=relation.action,
        target_memory_id=relation.target.memory_id if relation.target else None,
        type=seen.kind,
        key=seen.key,
        provenance=relation.provenance,
        confidence=relation.confidence,
        reason=relation.reason,
    )


def _events(
    proposals: Iterable[ProposalRow], seen: dict[UUID, ObservationRow], traces: dict[UUID, Envelope]
) -> list[tuple[Topic, Envelope]]:
    return [
        (
            ANALYSIS_PROPOSED,
            traces[p.observation_id].model_copy(
                update={
                    "event_id": clock.uuid7(),
                    "event_type": AnalysisProposed.event_type,
                    "idempotency_key": f"analysis.proposed:{p.proposal_id}",
                    "occurred_at": clock.now(),
                    "payload": AnalysisProposed(
                        proposal_id=p.proposal_id,
                        observation_ids=(p.observation_id,),
                        action=p.action,
                        target_memory_id=p.target_memory_id,
                        type=p.type,
                        provenance=p.provenance,
                        epistemic_type=seen[p.observation_id].epistemic,
                        confidence=p.confidence,
                    ).model_dump(mode="json"),
                }
            ),
        )
        for p in proposals
    ]


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The observations are quarantined and their turn's outcome says so."""
    payload = _payload(event)
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await outcomes.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            turn_id=payload.turn_id,
            observation_ids=payload.observation_ids,
        )
