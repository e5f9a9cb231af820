"""Turn -> findings of a model, after the rules: load, read, save. Newest turns first; late ones are skipped.

Writes observations, summaries, usage, answers, and the notes in the outcome of the turn.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.events import TurnExtract
from schemas.vocabulary import MemoryType
from services.observer import extract, rows
from services.observer.extract import Extraction
from services.observer.prompts import KnownMemory
from services.observer.revise_summary import SummaryRevision, revise_summary
from services.observer.rows import to_events
from services.observer.withdrawn import SINCE, drop_withdrawn, is_withdrawn
from shared import clock
from shared.bus.delivery import Delivered
from shared.db import Connection, epoch_of
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.errors import TransientError
from shared.extraction import ObserveContext, Observed, retractions, turn_texts
from shared.language import segment
from shared.metrics.models import MODEL_BUDGET_USED_UP, MODEL_STEP_SECONDS, MODEL_TURNS_SKIPPED
from shared.model_calls.calls import AnswerCache, AnswerKey, ModelCalls, load_budget
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import (
    additions,
    inbox,
    memory,
    model_answers,
    observations,
    outbox,
    quarantine,
    summaries,
    text_search,
    told_before,
    turns,
    user_state,
)
from shared.store.search import SearchScope
from shared.store.turn_states import BY_MODEL, MODELS
from shared.telemetry import logger

CONSUMER = "observer-model"
READ = "model_read"
"""The note in the outcome that a model has read the turn."""
SKIPPED = "model_skipped"
GIVEN_UP = "model_given_up"
LATE = "late"
WITHOUT = frozenset({extract.UNAVAILABLE, extract.MALFORMED, extract.USED_UP})
"""The reasons why there are only findings of the rules."""
TERMS = 40
"""The maximum number of words by which memories are searched."""
WHICH = ":model"
"""Distinguishes events of the second step from those of the first."""


@dataclass(frozen=True)
class ModelBatch:
    """A turn that a model should read, and what is needed to read it."""

    turn: Turn
    context: ObserveContext
    question: AnswerKey | None
    known: Sequence[KnownMemory]
    calls: ModelCalls
    epoch: int
    """The epoch of the user when the turn was loaded: nothing that was erased later is written about."""


@dataclass(frozen=True)
class ModelReading:
    """The findings of the model, notes about them, and the next version of the summary."""

    extraction: Extraction
    rows: Sequence[ObservationRow] = ()
    revision: SummaryRevision = field(default_factory=SummaryRevision)


async def add_from_model(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has the findings of a model, newest turns first, each for itself; a repetition changes nothing."""
    for event in sorted(events, key=_since, reverse=True):
        await _add(rt, subject, event)


async def _add(rt: Runtime, subject: Subject, event: Delivered) -> None:
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, event)
        spent = await model_answers.today(conn, subject) if loaded else None
    if loaded is None or spent is None:
        return
    loaded.calls.left = await load_budget(rt.db, rt.policy.observer, subject, spent)
    try:
        reading = await _read(rt, subject, loaded, since=_since(event))
        async with rt.db.transaction(subject, since=loaded.epoch) as conn:
            if not await inbox.claim(conn, CONSUMER, [event.envelope.event_id]):
                raise TransientError("another observer has read the turn")
            await _save(conn, subject, loaded, reading)
            await model_answers.put_answers(
                conn, subject, loaded.calls.unreadable, rt.policy.retention.model_answers_days
            )
    except Exception:
        await _save_calls_alone(rt, subject, loaded)
        raise
    _measure(reading, since=_since(event))


async def _load(conn: Connection, rt: Runtime, subject: Subject, event: Delivered) -> ModelBatch | None:
    """Loads the turn; None if a model has read it already, or nothing may be learnt from it any more."""
    if await inbox.had(conn, CONSUMER, event.envelope.event_id):
        return None
    policy = rt.policy.observer
    turn = await turns.learnable(conn, subject, _payload(event).turn_id) if policy.learn else None
    if turn is None:
        return None
    key = extract.find_question(rt.models, policy, turn)
    cache = AnswerCache(await model_answers.find_cached(conn, subject, [key.hash] if key else []))
    must_ask = key is not None and not cache.has(key)
    memories = await load_known(conn, subject, turn, policy.model_known_max) if must_ask else ()
    # a memory has the id of its observation: memories from this turn were not known before it
    own = {str(seen.observation_id) for seen in await observations.of_turns(conn, subject, [turn.turn_id])}
    before = [each for each in memories if each.memory_id not in own]
    context = await _context(conn, subject, turn, policy.entity_window_turns)
    return ModelBatch(turn, context, key, before, ModelCalls(cache), await epoch_of(conn))


async def load_known(conn: Connection, subject: Subject, turn: Turn, most: int) -> tuple[KnownMemory, ...]:
    """The active memories that the turn may confirm or change: first half those with its words, then the core ones."""
    if most == 0:
        return ()
    core = await user_state.core(subject, most).on(conn)
    texts = [e.content["text"] for e in turn.events if e.event_type == "user_message" and e.content]
    (hits,) = await text_search.by_text(
        conn, subject, [segment.query_terms(" ".join(texts), TERMS)], most, SearchScope()
    )
    ids = [hit.memory_id for hit in hits if hit.memory_id]
    active = {
        m.memory_id: m
        for m in await memory.by_ids(conn, subject, set(ids))
        if m.status == "active" and (m.type != "entity" or m.key is None)
    }
    memories = {each.memory_id: to_known(each.memory_id, each.type, each.content_text) for each in core}
    memories |= {m.memory_id: to_known(m.memory_id, m.type, m.content_text) for m in active.values()}
    near = [memory_id for memory_id in ids if memory_id in active]
    order = dict.fromkeys([*near[: most // 2], *(each.memory_id for each in core), *near])
    return tuple(memories[memory_id] for memory_id in list(order)[:most])


def to_known(memory_id: UUID, kind: MemoryType, text: str) -> KnownMemory:
    """The memory as a model sees it, without secrets."""
    return KnownMemory(str(memory_id), kind, redact(text)[0])


async def _context(conn: Connection, subject: Subject, turn: Turn, window: int) -> ObserveContext:
    """The names and the answer before the turn, as when the rules read it."""
    named = await told_before.named_near(conn, subject, [turn.turn_id], window)
    before = await turns.answered_before(conn, subject, [(turn.session_id, turn.seq)])
    answers_before = [text for each in before for text in each.list_texts("assistant_message")]
    return ObserveContext(
        turn.said_at,
        recent_mentions=named.count_before(turn.turn_id, window),
        session_mentions=named.in_session(turn.turn_id, turn.session_id, window),
        answer_before=answers_before[-1] if answers_before else "",
    )


async def _read(rt: Runtime, subject: Subject, loaded: ModelBatch, *, since: datetime) -> ModelReading:
    policy, turn, calls = rt.policy.observer, loaded.turn, loaded.calls
    late = clock.now() - since > timedelta(seconds=policy.model_lag_max_s)
    if late and not (loaded.question and calls.cache.has(loaded.question)):
        return ModelReading(Extraction(Observed(), (SKIPPED,)))
    extraction = Extraction(Observed())
    if loaded.question:
        extraction = await extract.extract(
            rt.models,
            policy,
            turn_texts.turn_text(turn),
            loaded.context,
            loaded.known,
            prompt_version=turn.dimension(extract.PROMPT),
            calls=calls,
            turn_id=turn.turn_id,
        )
        if not WITHOUT.intersection(extraction.notes):
            extraction = replace(extraction, notes=(*extraction.notes, READ))
    extraction = replace(extraction, observed=extract.keep_allowed(policy, extraction.observed))
    observed_rows = turn_texts.observation_rows(turn, extraction.observed, rt.policy.confidence)
    added = tuple(row for row in observed_rows if row.detector.startswith(BY_MODEL))
    return ModelReading(
        extraction, added, SummaryRevision() if late else await revise_summary(rt, subject, turn, calls)
    )


async def _save(conn: Connection, subject: Subject, loaded: ModelBatch, reading: ModelReading) -> None:
    turn, calls = loaded.turn, loaded.calls
    since = await additions.withdrawn_since(conn, subject, turn.turn_id, retractions.DETECTOR) if reading.rows else ()
    gone = [row for row in reading.rows if is_withdrawn(row, since)]
    kept = [row for row in reading.rows if row not in gone]
    new = await observations.insert(conn, subject, kept)
    added = [row for row in kept if row.observation_id in new]
    if reading.revision.row:
        await summaries.put(conn, subject, reading.revision.row)
    await additions.note(conn, subject, turn.turn_id, explain_step(turn, reading, gone), reading.revision.note())
    await outbox.put(conn, to_events(subject, turn, added, WHICH))
    await model_answers.add_usage(conn, subject, calls.used)
    withdrawn = {row.text for row in gone}
    if not await model_answers.put_cached(
        conn, subject, [drop_withdrawn(each, withdrawn) for each in calls.cache.fresh]
    ):
        raise TransientError("the same question got another answer meanwhile")
    notes = reading.extraction.notes
    logger().info("turn_read_by_model", turn_id=str(turn.turn_id), observations=len(added), detector=notes)


def explain_step(turn: Turn, reading: ModelReading, gone: Sequence[ObservationRow]) -> list[dict[str, Any]]:
    """The notes of the second step for the outcome of the turn."""
    places = {(row.ordinal, row.span_start, row.span_end) for row in gone}
    notes = reading.extraction.observed.explain
    own = [
        replace(each, decision="dropped", reason=SINCE) if (each.ordinal, *each.text_span) in places else each
        for each in notes
        if each.reason.startswith(MODELS)
    ]
    own_turn = replace(turn, recalled={})
    extraction = replace(reading.extraction, observed=Observed(explain=tuple(own)))
    return rows.make_notes(own_turn, extraction, {})["explain"]


async def _save_calls_alone(rt: Runtime, subject: Subject, loaded: ModelBatch) -> None:
    """Saves the usage of a turn that could not be saved, and the answers, so that the retry does not ask again.

    If data of the user was erased meanwhile, the answers are not stored: they may quote it.
    """
    calls = loaded.calls
    if calls.called:
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                await model_answers.add_usage(conn, subject, calls.used)
                if await epoch_of(conn) == loaded.epoch:
                    await model_answers.put_cached(conn, subject, calls.cache.fresh)


def _measure(reading: ModelReading, *, since: datetime) -> None:
    for notes in (reading.extraction.notes, reading.revision.notes):
        if extract.USED_UP in notes:
            MODEL_BUDGET_USED_UP.inc()
    if SKIPPED in reading.extraction.notes:
        MODEL_TURNS_SKIPPED.labels(LATE).inc()
    else:
        MODEL_STEP_SECONDS.observe((clock.now() - since).total_seconds())


def _payload(event: Delivered) -> TurnExtract:
    assert isinstance(event.payload, TurnExtract)  # noqa: S101 # the topic carries nothing else
    return event.payload


def _since(event: Delivered) -> datetime:
    """The time since which the turn has waited for the model."""
    return event.envelope.occurred_at


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Keeps the findings of the rules; the outcome says that the second step was given up."""
    turn_id, event_id = _payload(event).turn_id, event.envelope.event_id
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event_id])
        await quarantine.put(conn, subject, stage=CONSUMER, turn_id=turn_id, event_id=event_id, reason=reason)
        await additions.note(conn, subject, turn_id, [{"reason": GIVEN_UP}], {})
