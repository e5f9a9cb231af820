"""Observations -> proposals: load, think, save. Writes proposals, usage; moves observations to `analyzed`."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import AnalysisProposed, ObservationRecorded
from schemas.topics import ANALYSIS_PROPOSED, Topic
from services.analyzer import advise
from services.analyzer.advise import Advised, StatementAnalysis
from shared import clock
from shared.bus.delivery import Delivered
from shared.bus.precedence import step
from shared.db import Connection, epoch_of
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.memory import ANALYSIS_ADVICE, ANALYSIS_WITHOUT
from shared.metrics.models import MODEL_ANSWERS_KEPT
from shared.resolution.from_rows import known_of, statement_of
from shared.runtime import Runtime
from shared.store import inbox, memory, model_answers, observations, outbox, turn_states
from shared.store.observations import ProposalRow
from shared.telemetry import logger

CONSUMER = "analyzer"


async def propose(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each observation has a proposal and the event that carries it on; again changes nothing."""
    wanted = [o for event in events for o in _payload(event).observation_ids]
    async with rt.transaction_of(subject) as (rt, conn):
        unanalyzed = [o for o in await observations.load(conn, subject, wanted) if o.state == "new"]
        active = await memory.load_concerned(subject, [statement_of(o) for o in unanalyzed]).on(conn)
        epoch = await epoch_of(conn)
    async with step():
        advised = advise.begin(unanalyzed, [known_of(m) for m in active], rt.policy)
    try:
        await advise.ask(rt, subject, advised)
        proposed = await _save(rt, subject, events, advised, epoch)
    except Exception:
        await _count_alone(rt, subject, advised, epoch)
        raise
    _measure(advised)
    logger().info("observations_analyzed", proposals=proposed)


async def _save(rt: Runtime, subject: Subject, events: Sequence[Delivered], advised: Advised, epoch: int) -> int:
    """How many proposals are new."""
    kinds = {thought.seen.observation_id: thought.seen for thought in advised.thoughts}
    traces = {o: event.envelope for event in events for o in _payload(event).observation_ids}
    async with rt.db.transaction(subject, since=epoch) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        # a correction may have settled some of them since they were loaded
        still = await observations.analyze(conn, subject, kinds)
        rows = [_row(thought) for thought in advised.thoughts if thought.seen.observation_id in still]
        new = await observations.propose(conn, subject, rows)
        await _keep(conn, subject, advised, rt.policy.retention.model_answers_days)
        fresh = [row for row in rows if row.proposal_id in new]
        await outbox.put(conn, _events(fresh, kinds, traces))
    return len(fresh)


async def _keep(conn: Connection, subject: Subject, advised: Advised, days: int) -> None:
    await model_answers.add_usage(conn, subject, advised.asking.used)
    await model_answers.put_cached(conn, subject, advised.asking.cache.fresh)
    await model_answers.put_answers(conn, subject, advised.asking.unreadable, days)


async def _count_alone(rt: Runtime, subject: Subject, advised: Advised, epoch: int) -> None:
    """What was asked for a batch that could not be saved was spent all the same; the next try knows the answers.

    Where something of the user was erased meanwhile the answers are not kept: they may quote it.
    """
    if advised.asking.called:
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                if await epoch_of(conn) == epoch:
                    await _keep(conn, subject, advised, rt.policy.retention.model_answers_days)
                else:
                    await model_answers.add_usage(conn, subject, advised.asking.used)


def _measure(advised: Advised) -> None:
    for thought in advised.thoughts:
        for told in thought.told.values():
            ANALYSIS_ADVICE.labels(told.by, told.verdict).inc()
        for reason in thought.without:
            ANALYSIS_WITHOUT.labels(reason).inc()
    for unread in advised.asking.unreadable:
        MODEL_ANSWERS_KEPT.labels(unread.prompt, unread.model).inc()


def _payload(event: Delivered) -> ObservationRecorded:
    assert isinstance(event.payload, ObservationRecorded)  # noqa: S101 # the topic carries nothing else
    return event.payload


def _row(thought: StatementAnalysis) -> ProposalRow:
    seen, change = thought.seen, thought.proposal()
    return ProposalRow(
        proposal_id=clock.uuid7(),
        turn_id=seen.turn_id,
        observation_id=seen.observation_id,
        action=change.action,
        target_memory_id=change.target.memory_id if change.target else None,
        type=seen.kind,
        key=seen.key,
        provenance=change.provenance,
        confidence=change.confidence,
        reason=change.reason,
        evidence=change.evidence,
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
        await turn_states.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            turn_id=payload.turn_id,
            observation_ids=payload.observation_ids,
        )
