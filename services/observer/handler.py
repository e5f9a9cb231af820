"""Turn -> observations: load, think, save. Writes observations, mentions, chunks, summaries, receipts, usage."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import ObservationRecorded, ObservationUrgent, Payload, TurnCommitted
from schemas.topics import FEEDBACK_RECORDED, OBSERVATION_RECORDED, OBSERVATION_URGENT, Topic
from services.observer import cite, digest, extract, habits, recall, received, rows, shown
from services.observer.extraction import Extraction
from services.observer.prompts import Known
from shared import allowance, heard
from shared.asking import Asking
from shared.bus.delivery import Delivered
from shared.cached import Cache, Input
from shared.db import Connection, Subject, epoch_of
from shared.errors import TransientError
from shared.reading import Explain, ObserveContext
from shared.reading.wishes import unread as not_read
from shared.runtime import Runtime
from shared.store import (
    answers,
    chunks,
    entities,
    experience,
    inbox,
    injections,
    model_cache,
    observations,
    outbox,
    outcomes,
    sessions,
    turns,
    usage,
    wishes,
)
from shared.store.chunks import Chunk
from shared.store.entities import Named
from shared.store.observations import ObservationRow
from shared.store.turns import Turn
from shared.telemetry import MODEL_ANSWERS_KEPT, MODEL_BUDGET_USED_UP, OUTCOME_SECONDS, logger
from shared.wishes import Wishes

CONSUMER = "observer"
PROMPT = "prompt_version"
"""The dimension of an experiment that chooses the question."""


@dataclass(frozen=True)
class Loaded:
    """Turns that nobody has observed, and what reading them needs beside their words."""

    turns: Sequence[Turn]
    named: Named
    earlier: received.Earlier
    habits: habits.Told
    known: Mapping[UUID, Sequence[Known]]
    asking: Asking
    wishes: Wishes
    unread: Mapping[UUID, tuple[Explain, ...]]
    """Of each turn that is withheld, what its outcome says of its messages."""
    epoch: int
    """The user's when the turns were loaded: what was erased since is not written about."""


@dataclass(frozen=True)
class Thought:
    """A turn and what was understood of it."""

    turn: Turn
    extraction: Extraction
    rows: tuple[ObservationRow, ...]
    told: received.Told
    asked: str = ""
    chunks: tuple[Chunk, ...] = ()

    @property
    def heard(self) -> digest.Heard:
        """What the summary and the names of its session are made from."""
        turn = heard.ending(self.turn) if self.turn.withheld else self.turn
        return digest.Heard(turn, self.rows, self.extraction.observed.mentions)


async def observe_turns(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has its observations, chunks and mentions, and the event that carries it on; again changes nothing."""
    by_turn = dict.fromkeys(_payload(event).turn_id for event in events)
    ids = [event.envelope.event_id for event in events]
    async with rt.db.transaction(subject) as conn:
        loaded = await _load(conn, rt, subject, by_turn, live=True)
        states = await sessions.states(conn, subject, {turn.session_id for turn in loaded.turns})
        spent = await usage.today(conn, subject) if loaded.turns and _by_model(rt) else None
    asking = loaded.asking
    if spent is not None:
        asking.left = await allowance.left(rt.db, rt.policy.observer, subject, spent)
    try:
        thoughts = await _think(rt, loaded)
        renewed = await digest.renew(rt, subject, states, [t.heard for t in thoughts], asking)
        async with rt.db.transaction(subject, since=loaded.epoch) as conn:
            await inbox.claim(conn, CONSUMER, ids)
            await _save(conn, subject, thoughts, renewed, rt.policy.session.entity_slots_max)
            await wishes.put(conn, subject, loaded.wishes.changed.values())
            if rt.knowledge.configured:
                await cite.request(conn, subject, [t.turn for t in thoughts], rt.policy.knowledge.ingest)
            await answers.put(conn, subject, asking.unreadable)
            await usage.add(conn, subject, asking.used)
            if not await model_cache.put(conn, subject, asking.cache.fresh):
                raise TransientError("the same input was answered otherwise meanwhile")
    except Exception:
        await _count_alone(rt, subject, loaded)
        raise
    _measure(thoughts, renewed, asking)


async def observe_again(rt: Runtime, subject: Subject, turn_ids: Iterable[UUID]) -> None:
    """What memories rest on is derived from turns that have none: observations, mentions, no events.

    Search has no more than the short messages in which habits are looked for.
    """
    async with rt.db.transaction(subject) as conn:
        loaded = await _load(conn, rt, subject, turn_ids)
    thoughts = await _think(rt, loaded)
    async with rt.db.transaction(subject, since=loaded.epoch) as conn:
        notes = {t.turn.turn_id: rows.notes(t.turn, t.extraction, {}) for t in thoughts}
        await turns.note_observed(conn, subject, notes, withheld=_withheld(thoughts))
        await wishes.put(conn, subject, loaded.wishes.changed.values())
        await _save_found(conn, subject, thoughts)
        await chunks.put(conn, subject, [c for t in thoughts for c in habits.counted(t.chunks)])


async def _load(
    conn: Connection, rt: Runtime, subject: Subject, turn_ids: Iterable[UUID], *, live: bool = False
) -> Loaded:
    """The turns that nobody has observed; `live`: what memory had shown of them before is looked for."""
    policy = rt.policy.observer
    found = [turn for turn in await turns.load(conn, subject, turn_ids) if not turn.observed]
    found, silence, unread = await _obey_wishes(conn, subject, found)
    if live:
        found = await shown.marked(conn, subject, found)
    named = await entities.named_near(conn, subject, [turn.turn_id for turn in found], policy.entity_window_turns)
    inputs = {turn.turn_id: asked for turn in found if (asked := _asked(rt, turn))}
    cache = Cache(await model_cache.find(conn, subject, {asked.hash for asked in inputs.values()}))
    asking = [turn for turn in found if turn.turn_id in inputs and not cache.has(inputs[turn.turn_id])]
    known = await recall.known(conn, subject, asking, policy.model_known_max)
    earlier = await received.load(conn, subject, found)
    told = await habits.load(conn, subject, found)
    return Loaded(found, named, earlier, told, known, Asking(cache), silence, unread, await epoch_of(conn))


async def _obey_wishes(
    conn: Connection, subject: Subject, found: Sequence[Turn]
) -> tuple[list[Turn], Wishes, dict[UUID, tuple[Explain, ...]]]:
    """The turns, those that are not to be remembered without their words; what holds after them; what was not read."""
    silence = await wishes.standing(subject, {turn.session_id for turn in found}).on(conn)
    answers = [(turn.session_id, turn.seq - 1) for turn in found if not turn.said("user_message")]
    for session_id, seq, why in await turns.withheld_at(conn, subject, answers):
        silence.note(session_id, seq, why)
    kept: list[Turn] = []
    unread: dict[UUID, tuple[Explain, ...]] = {}
    for turn in found:
        text = heard.turn_text(turn)
        if why := silence.hear(heard.place_of(turn), text):
            unread[turn.turn_id] = not_read(text, why)
            turn = heard.withhold(turn, why)
        kept.append(turn)
    return kept, silence, unread


def _asked(rt: Runtime, turn: Turn) -> Input | None:
    if turn.withheld:
        return None
    return extract.asked_of(rt.models, rt.policy.observer, heard.turn_text(turn), turn.dimension(PROMPT))


def _by_model(rt: Runtime) -> bool:
    """Whether a model may be asked about turns, and about the summaries of their sessions."""
    return rt.models.chat_model_id is not None and rt.policy.observer.use_model


def _payload(event: Delivered) -> TurnCommitted:
    assert isinstance(event.payload, TurnCommitted)  # noqa: S101 # the topic carries nothing else
    return event.payload


async def _think(rt: Runtime, loaded: Loaded) -> list[Thought]:
    """Turn by turn, as if each had come alone: what was named and asked before it counts, whoever shares its batch."""
    thoughts: list[Thought] = []
    for turn in loaded.turns:
        found = await _read(rt, loaded, turn)
        found = replace(found, observed=loaded.habits.settle(turn, found.observed, rt.policy.observer))
        loaded.named.note(rows.mention_rows(turn, found.observed))
        made = heard.observation_rows(turn, found.observed, rt.policy.confidence)
        told = received.Told() if turn.withheld else loaded.earlier.judge(turn, found.observed, made)
        chunks = () if turn.withheld else await asyncio.to_thread(rows.turn_chunks, turn, rt.policy.compose.sanitize)
        thoughts.append(Thought(turn, found, made, told, loaded.earlier.asked.get(turn.turn_id, ""), tuple(chunks)))
    return thoughts


async def _read(rt: Runtime, loaded: Loaded, turn: Turn) -> Extraction:
    window = rt.policy.observer.entity_window_turns
    context = ObserveContext(
        turn.said_at,
        recent_mentions=loaded.named.before(turn.turn_id, window),
        session_mentions=loaded.named.in_session(turn.turn_id, turn.session_id, window),
        answer_before=loaded.earlier.answer(turn),
    )
    if turn.withheld:
        return await extract.taken_back(heard.turn_text(turn), context, loaded.unread[turn.turn_id])
    return await extract.extract(
        rt.models,
        rt.policy.observer,
        heard.turn_text(turn),
        context,
        loaded.known.get(turn.turn_id, ()),
        prompt_version=turn.dimension(PROMPT),
        asking=loaded.asking,
        turn_id=turn.turn_id,
    )


async def _save(
    conn: Connection, subject: Subject, thoughts: Sequence[Thought], renewed: digest.Renewed, names: int
) -> None:
    notes = {t.turn.turn_id: rows.notes(t.turn, t.extraction, renewed.note(t.turn)) for t in thoughts}
    recalled = {t.turn.turn_id: t.turn.recalled for t in thoughts if t.turn.recalled}
    if await turns.note_observed(conn, subject, notes, recalled, _withheld(thoughts)) != set(notes):
        raise TransientError("another observer has had a turn of this batch")
    await _save_found(conn, subject, thoughts)
    await chunks.put(conn, subject, [c for t in thoughts for c in t.chunks])
    await digest.save(conn, subject, renewed, names)
    await experience.receive(conn, subject, [r for t in thoughts for r in rows.tool_receipts(t.turn, t.asked)])
    await injections.receive(conn, subject, [r for t in thoughts for r in t.told.receptions])
    await outbox.put(conn, [event for t in thoughts for event in _events(subject, t)])
    finished = await outcomes.settle(conn, subject, [t.turn.turn_id for t in thoughts if not t.rows])
    for each in finished:
        OUTCOME_SECONDS.observe(each.took_s)
    for t in thoughts:
        notes = t.extraction.notes
        logger().info("turn_observed", turn_id=str(t.turn.turn_id), observations=len(t.rows), detector=notes)


def _withheld(thoughts: Sequence[Thought]) -> dict[UUID, str]:
    return {t.turn.turn_id: t.turn.withheld for t in thoughts if t.turn.withheld}


async def _save_found(conn: Connection, subject: Subject, thoughts: Sequence[Thought]) -> None:
    await observations.insert(conn, subject, [row for t in thoughts for row in t.rows])
    await entities.put(conn, subject, [m for t in thoughts for m in rows.mention_rows(t.turn, t.extraction.observed)])


async def _count_alone(rt: Runtime, subject: Subject, loaded: Loaded) -> None:
    """What was asked for a batch that could not be saved was spent all the same; the next try knows the answers.

    Where something of the user was erased meanwhile the answers are not kept: they may quote it.
    """
    asking = loaded.asking
    if asking.called:
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                await usage.add(conn, subject, asking.used)
                if await epoch_of(conn) == loaded.epoch:
                    await model_cache.put(conn, subject, asking.cache.fresh)


def _measure(thoughts: Sequence[Thought], renewed: digest.Renewed, asking: Asking) -> None:
    for told in (*(t.extraction for t in thoughts), *(v.told for v in renewed.versions)):
        if extract.USED_UP in told.notes:
            MODEL_BUDGET_USED_UP.inc()
    for unread in asking.unreadable:
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
    told = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    return outbox.event(payload, subject, f"{turn.turn_id}{which}", **told)


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
