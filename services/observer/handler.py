"""Turn -> observations by the rules: load, read, save. Writes observations, mentions, chunks, summaries, receipts."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from schemas.events import TurnCommitted
from schemas.topics import FEEDBACK_RECORDED
from services.observer import cite, extract, rows
from services.observer.extract import Extraction
from services.observer.feedback import received
from services.observer.rows import make_envelope, to_events, to_extract
from services.observer.session_summaries import SummaryInput, SummaryUpdates, save_updates, update_summaries
from shared.bus.delivery import Delivered, give_way, step
from shared.db import Connection, epoch_of
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.errors import TransientError
from shared.extraction import ObserveContext, ReadingNote, turn_texts
from shared.extraction.standing_wishes import Wishes
from shared.extraction.wishes import to_unread as not_read
from shared.metrics.turns import OUTCOME_SECONDS
from shared.model_calls.calls import AnswerCache, ModelCalls
from shared.runtime import Runtime
from shared.store import (
    chunks,
    contexts,
    experience,
    inbox,
    model_answers,
    observations,
    outbox,
    sessions,
    told_before,
    turn_states,
    turns,
)
from shared.store.chunks import Chunk
from shared.store.outbox import Outgoing
from shared.store.told_before import NamedEntities
from shared.telemetry import logger

CONSUMER = "observer"


@dataclass(frozen=True)
class TurnBatch:
    """Unobserved turns, and what is needed to read them."""

    turns: Sequence[Turn]
    named: NamedEntities
    earlier: received.PreviousPackages
    habits: extract.HabitTellings
    wishes: Wishes
    unread: Mapping[UUID, tuple[ReadingNote, ...]]
    """For each withheld turn the notes about its messages."""
    epoch: int
    """The epoch of the user when the turns were loaded: nothing that was erased later is written about."""
    calls: ModelCalls | None = None
    """The earlier answers of models, if they count."""


@dataclass(frozen=True)
class ObservedTurn:
    """A turn, its findings, and the rows that they become."""

    turn: Turn
    extraction: Extraction
    rows: tuple[ObservationRow, ...]
    feedback: received.FeedbackResult
    question: str = ""
    """The latest text of the user, for which the turn uses its tools."""
    chunks: tuple[Chunk, ...] = ()

    @property
    def summary_input(self) -> SummaryInput:
        """The input for the summary and the names of its session."""
        turn = turn_texts.keep_session_end(self.turn) if self.turn.withheld else self.turn
        return SummaryInput(turn, self.rows, self.extraction.observed.mentions)


async def observe_turns(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has its observations, chunks, mentions and next events; a repetition changes nothing.

    Only the rules read it: a model adds its findings later, in a second step that an event requests.
    """
    by_turn = dict.fromkeys(_payload(event).turn_id for event in events)
    ids = [event.envelope.event_id for event in events]
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, by_turn, live=True)
        states = await sessions.states(conn, subject, {turn.session_id for turn in loaded.turns})
    observed = await _read_all(rt, loaded)
    inputs = [t.summary_input for t in observed if not t.turn.imported]
    updates = await update_summaries(rt, subject, states, inputs)
    await give_way()
    async with rt.db.transaction(subject, since=loaded.epoch) as conn:
        await inbox.claim(conn, CONSUMER, ids)
        await _save(conn, subject, observed, updates, rt.policy.session.entity_slots_max)
        await told_before.put_wishes(conn, subject, loaded.wishes.changed.values())
        if rt.knowledge.configured:
            await cite.request_ingestion(conn, subject, [t.turn for t in observed], rt.policy.knowledge.ingest)
        await outbox.put(conn, _to_extract(rt, subject, observed, updates))


async def observe_again(rt: Runtime, subject: Subject, turn_ids: Iterable[UUID]) -> None:
    """Derives observations and mentions from turns that have none, without events: the basis of memories.

    Search gets only the short messages in which habits are searched. Earlier answers of models count as if the models
    had been asked at once.
    """
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, turn_ids)
    observed = await _read_all(rt, loaded)
    async with rt.db.transaction(subject, since=loaded.epoch) as conn:
        notes = {t.turn.turn_id: rows.make_notes(t.turn, t.extraction, {}) for t in observed}
        await turn_states.note_observed(conn, subject, notes, withheld=list_withheld(observed))
        await told_before.put_wishes(conn, subject, loaded.wishes.changed.values())
        await _save_findings(conn, subject, observed)
        await chunks.put(conn, subject, [c for t in observed for c in extract.list_habit_chunks(t.chunks)])


async def _load(
    conn: Connection, rt: Runtime, subject: Subject, turn_ids: Iterable[UUID], *, live: bool = False
) -> TurnBatch:
    """Loads the unobserved turns; with `live` it marks the parts of them that packages had shown before."""
    policy = rt.policy.observer
    batch = [turn for turn in await turns.load(conn, subject, turn_ids) if not turn.observed]
    batch, standing, unread = await _obey_wishes(conn, subject, batch)
    if live:
        batch = await received.mark_recalled(conn, subject, batch)
    named = await told_before.named_near(conn, subject, [turn.turn_id for turn in batch], policy.entity_window_turns)
    earlier = await received.load(conn, subject, batch)
    counted = await extract.load_habits(conn, subject, batch)
    calls = None if live else await load_answers(conn, rt, subject, batch)
    return TurnBatch(batch, named, earlier, counted, standing, unread, await epoch_of(conn), calls)


async def load_answers(conn: Connection, rt: Runtime, subject: Subject, batch: Sequence[Turn]) -> ModelCalls:
    """The earlier answers of models about these turns."""
    keys = [key for turn in batch if (key := extract.find_question(rt.models, rt.policy.observer, turn))]
    return ModelCalls(AnswerCache(await model_answers.find_cached(conn, subject, {key.hash for key in keys})))


async def _obey_wishes(
    conn: Connection, subject: Subject, batch: Sequence[Turn]
) -> tuple[list[Turn], Wishes, dict[UUID, tuple[ReadingNote, ...]]]:
    """The turns, withheld ones without text; the wishes that hold after them; notes about unread messages."""
    standing = await told_before.load_wishes(subject, {turn.session_id for turn in batch}).on(conn)
    answers = [(turn.session_id, turn.seq - 1) for turn in batch if not turn.list_texts("user_message")]
    for session_id, seq, why in await turns.withheld_at(conn, subject, answers):
        standing.note(session_id, seq, why)
    visible: list[Turn] = []
    unread: dict[UUID, tuple[ReadingNote, ...]] = {}
    for turn in batch:
        text = turn_texts.turn_text(turn)
        if why := standing.hear(turn_texts.place_of(turn), text):
            unread[turn.turn_id] = not_read(text, why)
            turn = turn_texts.withhold(turn, why)
        visible.append(turn)
    return visible, standing, unread


def _payload(event: Delivered) -> TurnCommitted:
    assert isinstance(event.payload, TurnCommitted)  # noqa: S101 # the topic carries nothing else
    return event.payload


async def _read_all(rt: Runtime, loaded: TurnBatch) -> list[ObservedTurn]:
    """Reads each turn as if it had come alone, with the names and questions before it, whatever its batch contains."""
    observed: list[ObservedTurn] = []
    for turn in loaded.turns:
        async with step():
            observed.append(await _observe(rt, loaded, turn))
    return observed


async def _observe(rt: Runtime, loaded: TurnBatch, turn: Turn) -> ObservedTurn:
    extraction = await _read(rt, loaded, turn)
    findings = extraction.observed
    if not turn.imported:
        findings = loaded.habits.add_habits(turn, findings, rt.policy.observer)
    extraction = replace(extraction, observed=extract.keep_allowed(rt.policy.observer, findings))
    loaded.named.note(rows.to_mention_rows(turn, extraction.observed))
    observed_rows = turn_texts.observation_rows(turn, extraction.observed, rt.policy.confidence)
    feedback = (
        received.FeedbackResult()
        if turn.withheld or turn.imported
        else loaded.earlier.judge(turn, extraction.observed, observed_rows)
    )
    chunks = () if turn.withheld else await asyncio.to_thread(rows.to_chunks, turn, rt.policy.compose.sanitize)
    question = loaded.earlier.questions.get(turn.turn_id, "")
    return ObservedTurn(turn, extraction, observed_rows, feedback, question, tuple(chunks))


async def _read(rt: Runtime, loaded: TurnBatch, turn: Turn) -> Extraction:
    window = rt.policy.observer.entity_window_turns
    context = ObserveContext(
        turn.said_at,
        recent_mentions=loaded.named.count_before(turn.turn_id, window),
        session_mentions=loaded.named.in_session(turn.turn_id, turn.session_id, window),
        answer_before=loaded.earlier.find_answer(turn),
    )
    if turn.withheld:
        return await extract.read_retractions(turn_texts.turn_text(turn), context, loaded.unread[turn.turn_id])
    if turn.imported:
        return await extract.list_names(rt.policy.observer, turn_texts.read_words(turn), context)
    if loaded.calls is None:
        return await extract.read(rt.policy.observer, turn_texts.turn_text(turn), context)
    return await extract.extract(
        rt.models,
        rt.policy.observer,
        turn_texts.turn_text(turn),
        context,
        prompt_version=turn.dimension(extract.PROMPT),
        calls=loaded.calls,
        turn_id=turn.turn_id,
    )


async def _save(
    conn: Connection,
    subject: Subject,
    observed: Sequence[ObservedTurn],
    updates: SummaryUpdates,
    names: int,
) -> None:
    notes = {t.turn.turn_id: rows.make_notes(t.turn, t.extraction, updates.note(t.turn)) for t in observed}
    recalled = {t.turn.turn_id: t.turn.recalled for t in observed if t.turn.recalled}
    if await turn_states.note_observed(conn, subject, notes, recalled, list_withheld(observed)) != set(notes):
        raise TransientError("another observer has observed a turn of this batch")
    await _save_findings(conn, subject, observed)
    await chunks.put(conn, subject, [c for t in observed for c in t.chunks])
    await save_updates(conn, subject, updates, names)
    await experience.receive(conn, subject, [r for t in observed for r in rows.to_tool_receipts(t.turn, t.question)])
    await contexts.receive(conn, subject, [r for t in observed for r in t.feedback.receptions])
    await outbox.put(conn, [event for t in observed for event in _list_events(subject, t)])
    finished = await turn_states.settle(conn, subject, [t.turn.turn_id for t in observed if not t.rows])
    for each in finished:
        OUTCOME_SECONDS.observe(each.took_s)
    for t in observed:
        notes = t.extraction.notes
        logger().info("turn_observed", turn_id=str(t.turn.turn_id), observations=len(t.rows), detector=notes)


def list_withheld(observed: Sequence[ObservedTurn]) -> dict[UUID, str]:
    return {t.turn.turn_id: t.turn.withheld for t in observed if t.turn.withheld}


async def _save_findings(conn: Connection, subject: Subject, observed: Sequence[ObservedTurn]) -> None:
    await observations.insert(conn, subject, [row for t in observed for row in t.rows])
    await told_before.put_mentions(
        conn, subject, [m for t in observed for m in rows.to_mention_rows(t.turn, t.extraction.observed)]
    )


def _list_events(subject: Subject, observed: ObservedTurn) -> list[Outgoing]:
    turn, events = observed.turn, enumerate(observed.feedback.events)
    feedback = [(FEEDBACK_RECORDED, make_envelope(subject, turn, each, f":{n}")) for n, each in events]
    return [*to_events(subject, turn, observed.rows), *feedback]


def _to_extract(
    rt: Runtime, subject: Subject, observed: Sequence[ObservedTurn], updates: SummaryUpdates
) -> list[Outgoing]:
    """Requests the second step for turns about which, or about whose summaries, a model may be asked."""
    may_ask = extract.may_ask(rt.models, rt.policy.observer)
    summed = {version.turn.turn_id for version in updates.versions} if may_ask and rt.policy.session.use_model else ()
    return [
        to_extract(subject, t.turn)
        for t in observed
        if t.turn.turn_id in summed or extract.find_question(rt.models, rt.policy.observer, t.turn)
    ]


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Quarantines the turn; its outcome says so."""
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await turn_states.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            turn_id=_payload(event).turn_id,
        )
