"""Turn -> findings of a model, after the rules: load, read, save. Newest turns first; late ones are skipped.

Writes observations, summaries, usage, answers, and the notes in the outcome of the turn.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.events import TurnExtract
from schemas.vocabulary import MemoryType
from services.observer import condense, extract, rows
from services.observer.condense import Retold
from services.observer.extract import Extraction
from services.observer.prompts import KnownMemory
from services.observer.rows import to_events
from services.observer.withdrawn import SINCE, is_withdrawn, without
from shared import clock
from shared.bus.delivery import Delivered
from shared.db import Connection, epoch_of
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.errors import TransientError
from shared.extraction import ObserveContext, Observed, retractions, turn_texts
from shared.language import segment
from shared.metrics.models import MODEL_ANSWERS_KEPT, MODEL_BUDGET_USED_UP, MODEL_STEP_SECONDS, MODEL_TURNS_SKIPPED
from shared.model_calls import allowance
from shared.model_calls.answer_cache import AnswerCache, AnswerKey
from shared.model_calls.calls import ModelCalls
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import (
    additions,
    entities,
    inbox,
    memory,
    model_answers,
    observations,
    outbox,
    quarantine,
    search,
    summaries,
    turns,
    user_state,
)
from shared.store.search import SearchScope
from shared.store.turn_states import BY_MODEL, MODELS
from shared.telemetry import logger

CONSUMER = "observer-model"
READ = "model_read"
"""Says in the outcome that a model has read the turn, whatever it found."""
SKIPPED = "model_skipped"
GIVEN_UP = "model_given_up"
LATE = "late"
WITHOUT = frozenset({extract.UNAVAILABLE, extract.MALFORMED, extract.USED_UP})
"""Why the rules' reading stands alone."""
WHICH = ":model"
"""Tells what carries the model's observations from what carried the rules'."""


@dataclass(frozen=True)
class ModelBatch:
    """A turn that a model is to read, and what reading it needs beside its words."""

    turn: Turn
    context: ObserveContext
    asked: AnswerKey | None
    known: Sequence[KnownMemory]
    asking: ModelCalls
    epoch: int
    """The user's when the turn was loaded: what was erased since is not written about."""


@dataclass(frozen=True)
class ModelReading:
    """What the model found beside the rules, how it was found out, and what became of the session's summary."""

    extraction: Extraction
    rows: Sequence[ObservationRow] = ()
    retold: Retold = field(default_factory=Retold)


async def add_from_model(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each turn has what a model adds to it, the newest first, each by itself; again changes nothing."""
    for event in sorted(events, key=_since, reverse=True):
        await _add(rt, subject, event)


async def _add(rt: Runtime, subject: Subject, event: Delivered) -> None:
    async with rt.transaction_of(subject) as (rt, conn):
        loaded = await _load(conn, rt, subject, event)
        spent = await model_answers.today(conn, subject) if loaded else None
    if loaded is None or spent is None:
        return
    loaded.asking.left = await allowance.load_left(rt.db, rt.policy.observer, subject, spent)
    try:
        thought = await _think(rt, subject, loaded, since=_since(event))
        async with rt.db.transaction(subject, since=loaded.epoch) as conn:
            if not await inbox.claim(conn, CONSUMER, [event.envelope.event_id]):
                raise TransientError("another observer has had the turn")
            await _save(conn, subject, loaded, thought)
            await model_answers.put_answers(
                conn, subject, loaded.asking.unreadable, rt.policy.retention.model_answers_days
            )
    except Exception:
        await _count_alone(rt, subject, loaded)
        raise
    _measure(thought, loaded.asking, since=_since(event))


async def _load(conn: Connection, rt: Runtime, subject: Subject, event: Delivered) -> ModelBatch | None:
    """The turn, unless it was read by a model before, or nothing is to be learnt from it any more."""
    if await inbox.had(conn, CONSUMER, event.envelope.event_id):
        return None
    policy = rt.policy.observer
    turn = await turns.learnable(conn, subject, _payload(event).turn_id) if policy.learn else None
    if turn is None:
        return None
    key = extract.asked_about(rt.models, policy, turn)
    cache = AnswerCache(await model_answers.find_cached(conn, subject, [key.hash] if key else []))
    fresh = [turn] if key and not cache.has(key) else []
    memories = (await load_known(conn, subject, fresh, policy.model_known_max)).get(turn.turn_id, ())
    # a memory has the id of the observation that it was made of: what this turn left is not known before it
    own = {str(seen.observation_id) for seen in await observations.of_turns(conn, subject, [turn.turn_id])}
    before = [each for each in memories if each.memory_id not in own]
    context = await _context(conn, subject, turn, policy.entity_window_turns)
    return ModelBatch(turn, context, key, before, ModelCalls(cache), await epoch_of(conn))


async def _context(conn: Connection, subject: Subject, turn: Turn, window: int) -> ObserveContext:
    """What was named and answered before the turn, as when the rules read it."""
    named = await entities.named_near(conn, subject, [turn.turn_id], window)
    before = await turns.answered_before(conn, subject, [(turn.session_id, turn.seq)])
    answers_before = [text for each in before for text in each.list_texts("assistant_message")]
    return ObserveContext(
        turn.said_at,
        recent_mentions=named.count_before(turn.turn_id, window),
        session_mentions=named.in_session(turn.turn_id, turn.session_id, window),
        answer_before=answers_before[-1] if answers_before else "",
    )


async def _think(rt: Runtime, subject: Subject, loaded: ModelBatch, *, since: datetime) -> ModelReading:
    policy, turn, asking = rt.policy.observer, loaded.turn, loaded.asking
    late = clock.now() - since > timedelta(seconds=policy.model_lag_max_s)
    if late and not (loaded.asked and asking.cache.has(loaded.asked)):
        return ModelReading(Extraction(Observed(), (SKIPPED,)))
    extraction = Extraction(Observed())
    if loaded.asked:
        extraction = await extract.extract(
            rt.models,
            policy,
            turn_texts.turn_text(turn),
            loaded.context,
            loaded.known,
            prompt_version=turn.dimension(extract.PROMPT),
            asking=asking,
            turn_id=turn.turn_id,
        )
        if not WITHOUT.intersection(extraction.notes):
            extraction = replace(extraction, notes=(*extraction.notes, READ))
    extraction = replace(extraction, observed=extract.keep_allowed(policy, extraction.observed))
    observed_rows = turn_texts.observation_rows(turn, extraction.observed, rt.policy.confidence)
    added = tuple(row for row in observed_rows if row.detector.startswith(BY_MODEL))
    return ModelReading(extraction, added, Retold() if late else await condense.renew(rt, subject, turn, asking))


async def _save(conn: Connection, subject: Subject, loaded: ModelBatch, thought: ModelReading) -> None:
    turn, asking = loaded.turn, loaded.asking
    since = await additions.withdrawn_since(conn, subject, turn.turn_id, retractions.DETECTOR) if thought.rows else ()
    gone = [row for row in thought.rows if is_withdrawn(row, since)]
    kept = [row for row in thought.rows if row not in gone]
    new = await observations.insert(conn, subject, kept)
    added = [row for row in kept if row.observation_id in new]
    if thought.retold.row:
        await summaries.put(conn, subject, thought.retold.row)
    await additions.note(conn, subject, turn.turn_id, explain_step(turn, thought, gone), thought.retold.note())
    await outbox.put(conn, to_events(subject, turn, added, WHICH))
    await model_answers.add_usage(conn, subject, asking.used)
    taken_back = {row.text for row in gone}
    if not await model_answers.put_cached(conn, subject, [without(each, taken_back) for each in asking.cache.fresh]):
        raise TransientError("the same input was answered otherwise meanwhile")
    notes = thought.extraction.notes
    logger().info("turn_read_by_model", turn_id=str(turn.turn_id), observations=len(added), detector=notes)


def explain_step(turn: Turn, thought: ModelReading, gone: Sequence[ObservationRow]) -> list[dict[str, Any]]:
    """What the turn's outcome says of the model's part in it."""
    places = {(row.ordinal, row.span_start, row.span_end) for row in gone}
    said = thought.extraction.observed.explain
    own = [
        replace(each, decision="dropped", reason=SINCE) if (each.ordinal, *each.text_span) in places else each
        for each in said
        if each.reason.startswith(MODELS)
    ]
    own_turn = replace(turn, recalled={})
    found = replace(thought.extraction, observed=Observed(explain=tuple(own)))
    return rows.notes(own_turn, found, {})["explain"]


async def _count_alone(rt: Runtime, subject: Subject, loaded: ModelBatch) -> None:
    """What was asked about a turn that could not be saved was spent all the same; the next try knows the answers.

    Where something of the user was erased meanwhile the answers are not kept: they may quote it.
    """
    asking = loaded.asking
    if asking.called:
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                await model_answers.add_usage(conn, subject, asking.used)
                if await epoch_of(conn) == loaded.epoch:
                    await model_answers.put_cached(conn, subject, asking.cache.fresh)


def _measure(thought: ModelReading, asking: ModelCalls, *, since: datetime) -> None:
    for notes in (thought.extraction.notes, thought.retold.notes):
        if extract.USED_UP in notes:
            MODEL_BUDGET_USED_UP.inc()
    if SKIPPED in thought.extraction.notes:
        MODEL_TURNS_SKIPPED.labels(LATE).inc()
    else:
        MODEL_STEP_SECONDS.observe((clock.now() - since).total_seconds())
    for unread in asking.unreadable:
        MODEL_ANSWERS_KEPT.labels(unread.prompt, unread.model).inc()


def _payload(event: Delivered) -> TurnExtract:
    assert isinstance(event.payload, TurnExtract)  # noqa: S101 # the topic carries nothing else
    return event.payload


def _since(event: Delivered) -> datetime:
    """Since when the turn has waited for the model."""
    return event.envelope.occurred_at


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The rules' reading of the turn stands, and its outcome says that the model's was given up."""
    turn_id, event_id = _payload(event).turn_id, event.envelope.event_id
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event_id])
        await quarantine.put(conn, subject, stage=CONSUMER, turn_id=turn_id, event_id=event_id, reason=reason)
        await additions.note(conn, subject, turn_id, [{"reason": GIVEN_UP}], {})


TERMS = 40


async def load_known(
    conn: Connection, subject: Subject, turns: Sequence[Turn], most: int
) -> Mapping[UUID, tuple[KnownMemory, ...]]:
    """By turn at most so many active memories: first half those that share words with it, then the core ones."""
    if not turns or most == 0:
        return {}
    core = await user_state.core(subject, most).on(conn)
    terms = [segment.query_terms(" ".join(list_said(turn)), TERMS) for turn in turns]
    hits = await search.by_text(conn, subject, terms, most, SearchScope())
    ids = {hit.memory_id for near_turn in hits for hit in near_turn if hit.memory_id}
    active = {
        m.memory_id: m
        for m in await memory.by_ids(conn, subject, ids)
        if m.status == "active" and (m.type != "entity" or m.key is None)
    }
    every = {each.memory_id: to_known(each.memory_id, each.type, each.content_text) for each in core}
    every |= {m.memory_id: to_known(m.memory_id, m.type, m.content_text) for m in active.values()}
    shown: dict[UUID, tuple[KnownMemory, ...]] = {}
    for turn, found in zip(turns, hits, strict=True):
        near = [hit.memory_id for hit in found if hit.memory_id and hit.memory_id in active]
        order = dict.fromkeys([*near[: most // 2], *(each.memory_id for each in core), *near])
        shown[turn.turn_id] = tuple(every[memory_id] for memory_id in list(order)[:most])
    return shown


def to_known(memory_id: UUID, kind: MemoryType, text: str) -> KnownMemory:
    return KnownMemory(str(memory_id), kind, redact(text)[0])


def list_said(turn: Turn) -> list[str]:
    return [e.content["text"] for e in turn.events if e.event_type == "user_message" and e.content]
