"""Turn -> observations: load, think, save. Writes observations, entities, mentions, turn chunks, summaries, usage."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from schemas.envelope import Envelope
from schemas.events import ObservationRecorded, ObservationUrgent, Payload, TurnCommitted
from schemas.topics import FEEDBACK_RECORDED, OBSERVATION_RECORDED, OBSERVATION_URGENT, Topic
from services.observer import budget, digest, extract, recall, received, rows
from services.observer.budget import Budget
from services.observer.extraction import Extraction
from services.observer.prompts import Known
from shared import clock, heard
from shared.bus.delivery import Delivered
from shared.db import Connection, Subject
from shared.errors import TransientError
from shared.reading import ObserveContext
from shared.runtime import Runtime
from shared.spent import Spent
from shared.store import answers, chunks, entities, inbox, injections, observations, outbox, outcomes, turns, usage
from shared.store.observations import ObservationRow
from shared.store.turns import Turn
from shared.store.usage import Usage
from shared.telemetry import MODEL_ANSWERS_KEPT, MODEL_BUDGET_USED_UP, OUTCOME_SECONDS, logger

CONSUMER = "observer"


@dataclass(frozen=True)
class Thought:
    """A turn and what was understood of it."""

    turn: Turn
    extraction: Extraction
    rows: tuple[ObservationRow, ...]
    told: received.Told


async def observe_turns(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has its observations, chunks and mentions, and the event that carries it on; again changes nothing."""
    by_turn = dict.fromkeys(_payload(event).turn_id for event in events)
    ids = [event.envelope.event_id for event in events]
    async with rt.db.transaction(subject) as conn:
        loaded = [turn for turn in await turns.load(conn, subject, by_turn) if not turn.observed]
        named = await entities.recent_counts(conn, subject, rt.policy.observer.entity_window_turns) if loaded else {}
        states = await turns.session_states(conn, subject, {turn.session_id for turn in loaded})
        asks = bool(loaded) and rt.models.chat_model_id is not None and rt.policy.observer.use_model
        known = await recall.known(conn, subject, loaded if asks else (), rt.policy.observer.model_known_max)
        spent = await usage.today(conn, subject) if asks else Spent()
        earlier = await received.load(conn, subject, loaded)
    left = await _left(rt, subject, spent) if asks else Budget()
    thoughts: list[Thought] = []
    try:
        for turn in loaded:
            context = ObserveContext(turn.said_at, recent_mentions=named, answer_before=earlier.answer(turn))
            thoughts.append(await _think(rt, turn, context, known.get(turn.turn_id, ()), left, earlier))
            left = left.after(thoughts[-1].extraction.spent)
        renewed = await digest.renew(rt.db, subject, states, [(t.turn, t.rows) for t in thoughts], rt.policy.observer)
        async with rt.db.transaction(subject) as conn:
            await inbox.claim(conn, CONSUMER, ids)
            await _save(conn, subject, thoughts, renewed)
    except Exception:
        await _count_alone(rt, subject, thoughts)
        raise
    _measure(thoughts)


def _payload(event: Delivered) -> TurnCommitted:
    assert isinstance(event.payload, TurnCommitted)  # noqa: S101 # the topic carries nothing else
    return event.payload


async def _left(rt: Runtime, subject: Subject, spent: Spent) -> Budget:
    """What today's shares of the user and of the tenant still allow."""
    limits = rt.policy.observer
    own = budget.left(limits.model_tokens_per_day, limits.model_seconds_per_day, spent)
    if not (limits.tenant_model_tokens_per_day or limits.tenant_model_seconds_per_day):
        return own
    async with rt.db.system() as conn:
        all_spent = await usage.tenant_today(conn, subject.tenant_id)
    shared = budget.left(limits.tenant_model_tokens_per_day, limits.tenant_model_seconds_per_day, all_spent)
    return budget.least(own, shared)


async def _think(
    rt: Runtime,
    turn: Turn,
    context: ObserveContext,
    known: Sequence[Known],
    left: Budget,
    earlier: received.Earlier,
) -> Thought:
    found = await extract.extract(
        rt.models,
        rt.policy.observer,
        heard.turn_text(turn),
        context,
        known,
        budget=left,
        prompt_version=turn.dimension("prompt_version"),
    )
    made = heard.observation_rows(turn, found.observed, rt.policy.confidence)
    return Thought(turn, found, made, earlier.judge(turn, found.observed, made))


async def _save(conn: Connection, subject: Subject, thoughts: Sequence[Thought], renewed: digest.Renewed) -> None:
    notes = {t.turn.turn_id: rows.notes(t.turn, t.extraction, renewed.note(t.turn)) for t in thoughts}
    if await turns.note_observed(conn, subject, notes) != set(notes):
        raise TransientError("another observer has had a turn of this batch")
    await observations.insert(conn, subject, [row for t in thoughts for row in t.rows])
    await entities.put(conn, subject, [m for t in thoughts for m in rows.mention_rows(t.turn, t.extraction.observed)])
    await chunks.put(conn, subject, [c for t in thoughts for c in rows.turn_chunks(t.turn)])
    await digest.save(conn, subject, renewed)
    await injections.receive(conn, subject, [r for t in thoughts for r in t.told.receptions])
    await usage.add(conn, subject, _used(thoughts))
    await answers.put(conn, subject, [a for t in thoughts for a in rows.kept_answers(t.turn, t.extraction)])
    await outbox.put(conn, [event for t in thoughts for event in _events(subject, t)])
    finished = await outcomes.settle(conn, subject, [t.turn.turn_id for t in thoughts if not t.rows])
    for each in finished:
        OUTCOME_SECONDS.observe(each.took_s)
    for t in thoughts:
        notes = t.extraction.notes
        logger().info("turn_observed", turn_id=str(t.turn.turn_id), observations=len(t.rows), detector=notes)


def _used(thoughts: Sequence[Thought]) -> list[Usage]:
    found = [t.extraction for t in thoughts]
    return [Usage(extract.PURPOSE, each.spent, each.unreadable is not None) for each in found]


async def _count_alone(rt: Runtime, subject: Subject, thoughts: Sequence[Thought]) -> None:
    """What was asked for a batch that could not be saved was spent all the same; the next try asks again."""
    if any(t.extraction.spent.calls for t in thoughts):
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                await usage.add(conn, subject, _used(thoughts))


def _measure(thoughts: Sequence[Thought]) -> None:
    for t in thoughts:
        if extract.USED_UP in t.extraction.notes:
            MODEL_BUDGET_USED_UP.inc()
        if unread := t.extraction.unreadable:
            MODEL_ANSWERS_KEPT.labels(unread.prompt, unread.model).inc()


def _events(subject: Subject, thought: Thought) -> list[tuple[Topic, Envelope]]:
    turn = thought.turn
    urgent = [row for row in thought.rows if row.priority == "urgent"]
    normal = [row for row in thought.rows if row.priority != "urgent"]
    events: list[tuple[Topic, Envelope]] = []
    if urgent:
        payload = ObservationUrgent(
            observation_ids=tuple(r.observation_id for r in urgent), turn_id=turn.turn_id, pattern=urgent[0].pattern
        )
        events.append((OBSERVATION_URGENT, envelope(subject, turn, payload)))
    if normal:
        recorded = ObservationRecorded(observation_ids=tuple(r.observation_id for r in normal), turn_id=turn.turn_id)
        events.append((OBSERVATION_RECORDED, envelope(subject, turn, recorded)))
    told = thought.told.events
    events += [(FEEDBACK_RECORDED, envelope(subject, turn, each, f":{n}")) for n, each in enumerate(told)]
    return events


def envelope(subject: Subject, turn: Turn, payload: Payload, which: str = "") -> Envelope:
    """The event of this turn that carries the payload; `which` tells it from others of its type."""
    return Envelope(
        event_id=clock.uuid7(),
        event_type=payload.event_type,
        idempotency_key=f"{payload.event_type}:{turn.turn_id}{which}",
        trace_id=turn.trace_id,
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=turn.session_id,
        occurred_at=clock.now(),
        policy_version=turn.policy_version,
        payload=payload.model_dump(mode="json"),
    )


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The turn's outcome says that it was quarantined."""
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await outcomes.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            turn_id=_payload(event).turn_id,
        )
