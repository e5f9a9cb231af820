"""Turn -> observations by the rules: load, think, save. Writes observations, mentions, chunks, summaries, receipts."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from schemas.events import TurnCommitted
from schemas.topics import FEEDBACK_RECORDED
from services.observer import cite, digest, extract, rows
from services.observer.extract import Extraction
from services.observer.feedback import received
from services.observer.rows import envelope, to_events, to_extract
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
from shared.model_calls.answer_cache import AnswerCache
from shared.model_calls.calls import ModelCalls
from shared.runtime import Runtime
from shared.store import (
    chunks,
    contexts,
    entities,
    experience,
    inbox,
    model_answers,
    observations,
    outbox,
    sessions,
    turn_states,
    turns,
    wishes,
)
from shared.store.chunks import Chunk
from shared.store.entities import NamedEntities
from shared.store.outbox import Outgoing
from shared.telemetry import logger

CONSUMER = "observer"


@dataclass(frozen=True)
class TurnBatch:
    """Turns that nobody has observed, and what reading them needs beside their words."""

    turns: Sequence[Turn]
    named: NamedEntities
    earlier: received.PreviousPackages
    habits: extract.HabitTellings
    wishes: Wishes
    unread: Mapping[UUID, tuple[ReadingNote, ...]]
    """Of each turn that is withheld, what its outcome says of its messages."""
    epoch: int
    """The user's when the turns were loaded: what was erased since is not written about."""
    asking: ModelCalls | None = None
    """The answers of models, where those count."""


@dataclass(frozen=True)
class ObservedTurn:
    """A turn and what was understood of it."""

    turn: Turn
    extraction: Extraction
    rows: tuple[ObservationRow, ...]
    told: received.FeedbackResult
    asked: str = ""
    chunks: tuple[Chunk, ...] = ()

    @property
    def heard(self) -> digest.SummaryInput:
        """What the summary and the names of its session are made from."""
        turn = turn_texts.keep_session_end(self.turn) if self.turn.withheld else self.turn
        return digest.SummaryInput(turn, self.rows, self.extraction.observed.mentions)


async def observe_turns(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has its observations, chunks and mentions, and the events that carry it on; again changes nothing.

    The rules alone read it: whatever a model may add comes later, by the event that asks for it.
    """
    by_turn = dict.fromkeys(_payload(event).turn_id for event in events)
    ids = [event.envelope.event_id for event in events]
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, by_turn, live=True)
        states = await sessions.states(conn, subject, {turn.session_id for turn in loaded.turns})
    thoughts = await _think(rt, loaded)
    renewed = await digest.renew(rt, subject, states, [t.heard for t in thoughts if not t.turn.imported])
    await give_way()
    async with rt.db.transaction(subject, since=loaded.epoch) as conn:
        await inbox.claim(conn, CONSUMER, ids)
        await _save(conn, subject, thoughts, renewed, rt.policy.session.entity_slots_max)
        await wishes.put(conn, subject, loaded.wishes.changed.values())
        if rt.knowledge.configured:
            await cite.request(conn, subject, [t.turn for t in thoughts], rt.policy.knowledge.ingest)
        await outbox.put(conn, _to_extract(rt, subject, thoughts, renewed))


async def observe_again(rt: Runtime, subject: Subject, turn_ids: Iterable[UUID]) -> None:
    """What memories rest on is derived from turns that have none: observations and mentions, no events.

    Search has no more than the short messages in which habits are looked for. What models answered before counts, as if
    they had been asked at once.
    """
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, turn_ids)
    thoughts = await _think(rt, loaded)
    async with rt.db.transaction(subject, since=loaded.epoch) as conn:
        notes = {t.turn.turn_id: rows.notes(t.turn, t.extraction, {}) for t in thoughts}
        await turn_states.note_observed(conn, subject, notes, withheld=list_withheld(thoughts))
        await wishes.put(conn, subject, loaded.wishes.changed.values())
        await _save_found(conn, subject, thoughts)
        await chunks.put(conn, subject, [c for t in thoughts for c in extract.list_counted(t.chunks)])


async def _load(
    conn: Connection, rt: Runtime, subject: Subject, turn_ids: Iterable[UUID], *, live: bool = False
) -> TurnBatch:
    """The turns that nobody has observed; `live`: what memory had shown of them before is looked for."""
    policy = rt.policy.observer
    batch = [turn for turn in await turns.load(conn, subject, turn_ids) if not turn.observed]
    batch, silence, unread = await _obey_wishes(conn, subject, batch)
    if live:
        batch = await received.mark_recalled(conn, subject, batch)
    named = await entities.named_near(conn, subject, [turn.turn_id for turn in batch], policy.entity_window_turns)
    earlier = await received.load(conn, subject, batch)
    counted = await extract.load_habits(conn, subject, batch)
    asking = None if live else await load_answers(conn, rt, subject, batch)
    return TurnBatch(batch, named, earlier, counted, silence, unread, await epoch_of(conn), asking)


async def load_answers(conn: Connection, rt: Runtime, subject: Subject, found: Sequence[Turn]) -> ModelCalls:
    inputs = [asked for turn in found if (asked := extract.asked_about(rt.models, rt.policy.observer, turn))]
    return ModelCalls(AnswerCache(await model_answers.find_cached(conn, subject, {asked.hash for asked in inputs})))


async def _obey_wishes(
    conn: Connection, subject: Subject, batch: Sequence[Turn]
) -> tuple[list[Turn], Wishes, dict[UUID, tuple[ReadingNote, ...]]]:
    """The turns, those that are not to be remembered without their words; what holds after them; what was not read."""
    silence = await wishes.load_standing(subject, {turn.session_id for turn in batch}).on(conn)
    answers = [(turn.session_id, turn.seq - 1) for turn in batch if not turn.list_texts("user_message")]
    for session_id, seq, why in await turns.withheld_at(conn, subject, answers):
        silence.note(session_id, seq, why)
    visible: list[Turn] = []
    unread: dict[UUID, tuple[ReadingNote, ...]] = {}
    for turn in batch:
        text = turn_texts.turn_text(turn)
        if why := silence.hear(turn_texts.place_of(turn), text):
            unread[turn.turn_id] = not_read(text, why)
            turn = turn_texts.withhold(turn, why)
        visible.append(turn)
    return visible, silence, unread


def _payload(event: Delivered) -> TurnCommitted:
    assert isinstance(event.payload, TurnCommitted)  # noqa: S101 # the topic carries nothing else
    return event.payload


async def _think(rt: Runtime, loaded: TurnBatch) -> list[ObservedTurn]:
    """Turn by turn, as if each had come alone: what was named and asked before it counts, whoever shares its batch."""
    thoughts: list[ObservedTurn] = []
    for turn in loaded.turns:
        async with step():
            thoughts.append(await _understand(rt, loaded, turn))
    return thoughts


async def _understand(rt: Runtime, loaded: TurnBatch, turn: Turn) -> ObservedTurn:
    extraction = await _read(rt, loaded, turn)
    observed = extraction.observed
    if not turn.imported:
        observed = loaded.habits.settle(turn, observed, rt.policy.observer)
    extraction = replace(extraction, observed=extract.keep_allowed(rt.policy.observer, observed))
    loaded.named.note(rows.mention_rows(turn, extraction.observed))
    observed_rows = turn_texts.observation_rows(turn, extraction.observed, rt.policy.confidence)
    feedback = (
        received.FeedbackResult()
        if turn.withheld or turn.imported
        else loaded.earlier.judge(turn, extraction.observed, observed_rows)
    )
    chunks = () if turn.withheld else await asyncio.to_thread(rows.turn_chunks, turn, rt.policy.compose.sanitize)
    asked = loaded.earlier.asked.get(turn.turn_id, "")
    return ObservedTurn(turn, extraction, observed_rows, feedback, asked, tuple(chunks))


async def _read(rt: Runtime, loaded: TurnBatch, turn: Turn) -> Extraction:
    window = rt.policy.observer.entity_window_turns
    context = ObserveContext(
        turn.said_at,
        recent_mentions=loaded.named.count_before(turn.turn_id, window),
        session_mentions=loaded.named.in_session(turn.turn_id, turn.session_id, window),
        answer_before=loaded.earlier.answer(turn),
    )
    if turn.withheld:
        return await extract.taken_back(turn_texts.turn_text(turn), context, loaded.unread[turn.turn_id])
    if turn.imported:
        return await extract.list_names(rt.policy.observer, turn_texts.read_words(turn), context)
    if loaded.asking is None:
        return await extract.read(rt.policy.observer, turn_texts.turn_text(turn), context)
    return await extract.extract(
        rt.models,
        rt.policy.observer,
        turn_texts.turn_text(turn),
        context,
        prompt_version=turn.dimension(extract.PROMPT),
        asking=loaded.asking,
        turn_id=turn.turn_id,
    )


async def _save(
    conn: Connection, subject: Subject, thoughts: Sequence[ObservedTurn], renewed: digest.SummaryUpdates, names: int
) -> None:
    notes = {t.turn.turn_id: rows.notes(t.turn, t.extraction, renewed.note(t.turn)) for t in thoughts}
    recalled = {t.turn.turn_id: t.turn.recalled for t in thoughts if t.turn.recalled}
    if await turn_states.note_observed(conn, subject, notes, recalled, list_withheld(thoughts)) != set(notes):
        raise TransientError("another observer has had a turn of this batch")
    await _save_found(conn, subject, thoughts)
    await chunks.put(conn, subject, [c for t in thoughts for c in t.chunks])
    await digest.save(conn, subject, renewed, names)
    await experience.receive(conn, subject, [r for t in thoughts for r in rows.tool_receipts(t.turn, t.asked)])
    await contexts.receive(conn, subject, [r for t in thoughts for r in t.told.receptions])
    await outbox.put(conn, [event for t in thoughts for event in _events(subject, t)])
    finished = await turn_states.settle(conn, subject, [t.turn.turn_id for t in thoughts if not t.rows])
    for each in finished:
        OUTCOME_SECONDS.observe(each.took_s)
    for t in thoughts:
        notes = t.extraction.notes
        logger().info("turn_observed", turn_id=str(t.turn.turn_id), observations=len(t.rows), detector=notes)


def list_withheld(thoughts: Sequence[ObservedTurn]) -> dict[UUID, str]:
    return {t.turn.turn_id: t.turn.withheld for t in thoughts if t.turn.withheld}


async def _save_found(conn: Connection, subject: Subject, thoughts: Sequence[ObservedTurn]) -> None:
    await observations.insert(conn, subject, [row for t in thoughts for row in t.rows])
    await entities.put(conn, subject, [m for t in thoughts for m in rows.mention_rows(t.turn, t.extraction.observed)])


def _events(subject: Subject, thought: ObservedTurn) -> list[Outgoing]:
    turn, received_as = thought.turn, enumerate(thought.told.events)
    judged = [(FEEDBACK_RECORDED, envelope(subject, turn, each, f":{n}")) for n, each in received_as]
    return [*to_events(subject, turn, thought.rows), *judged]


def _to_extract(
    rt: Runtime, subject: Subject, thoughts: Sequence[ObservedTurn], renewed: digest.SummaryUpdates
) -> list[Outgoing]:
    """Of turns that a model may be asked about, or the summaries that reach to them, what has it asked."""
    asks = extract.may_ask(rt.models, rt.policy.observer)
    summed = {version.turn.turn_id for version in renewed.versions} if asks and rt.policy.session.use_model else ()
    return [
        to_extract(subject, t.turn)
        for t in thoughts
        if t.turn.turn_id in summed or extract.asked_about(rt.models, rt.policy.observer, t.turn)
    ]


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The turn's outcome says that it was quarantined."""
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
