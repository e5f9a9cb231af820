"""A user's memories, turns and summaries: views, and changes by committing turns."""

import asyncio
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from schemas.events import TurnOutcome
from schemas.memory_item import MemoryItem, RememberRequest, WriteReceipt
from schemas.turn_events import Message, StructuredItem, TurnEvents
from schemas.views import AnswerPage, EventView, MemoryPage, SummaryView, TurnOutcomeView, TurnView
from services.compose.intake.commit import commit_turn
from services.compose.manage import writes
from services.compose.rules.ranking.reranking import rank_by_terms
from shared import clock
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.errors import RefusedError, refuse_field
from shared.extraction.manipulation import find_manipulation
from shared.language import segment
from shared.resolution.from_rows import known_of
from shared.runtime import Runtime
from shared.screening.sanitize import REMOVED, show, show_own
from shared.secrets import refuses
from shared.store import memory, model_answers, summaries, text_search, turn_states, turns, versions
from shared.store.search import SearchScope

PANEL_SESSION = "memory-panel"
MOST_COUNTED = 1000
"""The most search results that are counted and paged."""
EASTERNMOST_LEAD = timedelta(hours=14)
"""The lead of the easternmost time zone over UTC."""


def refuse_missing(name: str) -> RefusedError:
    return refuse_field("not_found", name, "not found", 404)


def refuse_secret(field: str, given: str) -> None:
    """RefusedError if the text looks like a secret."""
    if refusal := refuses(given):
        raise refuse_field("secret_refused", field, f"looks like a secret ({refusal.kind}); it was not stored", 422)


def refuse_words(field: str, given: str) -> None:
    """RefusedError for a secret, and for text that tries to steer the agent."""
    refuse_secret(field, given)
    if find_manipulation(given):
        raise refuse_field("manipulation_refused", field, "tries to steer the agent; it was not stored", 422)


def to_item(known: Memory, subject: Subject, rt: Runtime) -> MemoryItem:
    """The memory as the policy shows it, with the rule that holds any of it back."""
    item = memory.to_item(known, subject)
    clean = show(item.content, "foreign" if known.provenance_class == "tool" else "own", rt.policy.compose.sanitize)
    if clean.held_back is None:
        return item.model_copy(update={"content": clean.text})
    return item.model_copy(update={"content": clean.text or REMOVED, "value": None, "held_back": clean.held_back})


async def load_turn(rt: Runtime, subject: Subject, turn_id: UUID) -> TurnView:
    """The turn with its events; RefusedError `not_found` if this user has none with that id."""
    async with rt.db.transaction(subject) as conn:
        found = await turns.load(conn, subject, [turn_id])
    if not found:
        raise refuse_missing("turn_id")
    row = found[0]
    events = tuple(
        EventView(
            event_id=e.event_id,
            ordinal=e.ordinal,
            event_type=e.event_type,
            role=e.role,
            name=e.name,
            content=e.content,
            content_schema_version=e.version,
            meta=e.meta,
            created_at=e.said_at,
        )
        for e in row.events
    )
    return TurnView(
        turn_id=row.turn_id,
        session_id=row.session_id,
        seq=row.seq,
        created_at=row.said_at,
        committed_at=row.committed_at,
        org_id=row.org_id,
        events=events,
    )


async def load_outcome(rt: Runtime, subject: Subject, turn_id: UUID) -> TurnOutcomeView:
    """The progress of the turn, and its memories."""
    async with rt.db.transaction(subject) as conn:
        row = await turn_states.outcome(conn, subject, turn_id)
        if row is None:
            raise refuse_missing("turn_id")
        done = TurnOutcome.model_validate(row["outcome"]) if row["outcome_at"] else None
        left = await memory.by_ids(conn, subject, {w.memory_id for w in done.written}) if done else []
    return TurnOutcomeView(
        turn_id=turn_id,
        state="complete" if done else "observed" if row["observed_at"] else "pending",
        committed_at=row["committed_at"],
        complete_at=row["outcome_at"],
        outcome=done,
        memories=tuple(to_item(m, subject, rt) for m in left),
    )


async def load_page(
    rt: Runtime,
    subject: Subject,
    *,
    status: str | None,
    type: str | None,  # the contract's name
    query: str | None,
    limit: int,
    offset: int,
    as_of: str | None = None,
) -> MemoryPage:
    """Memories by time, or by how well they match the query; with `as_of` those valid at that moment."""
    if as_of is not None:
        if status not in ("active", None):
            raise refuse_field("invalid_request", "status", "cannot be given with as_of: what held then is shown", 422)
        return await _load_past_page(
            rt, subject, _parse_moment(as_of), type=type, query=query, limit=limit, offset=offset
        )
    if query and status not in ("active", None):
        raise refuse_field(
            "invalid_request", "status", "cannot be given with query: a search finds what holds now", 422
        )
    async with rt.db.transaction(subject) as conn:
        if query:
            words, most = segment.query_terms(query), max(MOST_COUNTED, limit + offset)
            (hits,) = await text_search.by_text(conn, subject, [words], most, SearchScope())
            ids = [h.memory_id for h in hits if h.memory_id and (type is None or h.type == type)]
            by_id = {m.memory_id: m for m in await memory.by_ids(conn, subject, ids)}
            fitting = [by_id[i] for i in ids if i in by_id and (type or not known_of(by_id[i]).name_alone)]
            count, shown = len(fitting), fitting[offset : offset + limit]
        else:
            shown, count = await memory.list_memories(
                conn, subject, status=status, type=type, limit=limit, offset=offset
            )
    return MemoryPage(memories=tuple(to_item(m, subject, rt) for m in shown), count=count)


def _parse_moment(as_of: str) -> datetime:
    """The moment of a date or datetime: without a zone it is UTC; a date means its end, but not after now.

    A day that has begun anywhere on earth and is not over in UTC means now.
    """
    try:
        # an unescaped plus sign in a query string is a blank
        given = datetime.fromisoformat(re.sub(r" (\d\d:?\d\d)$", r"+\1", as_of.strip()))
        moment = given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise refuse_field("invalid_request", "as_of", "is no date or datetime, such as 2026-03-01", 422) from error
    now = clock.now()
    if len(as_of.strip()) <= len("2026-03-01") and moment - now < EASTERNMOST_LEAD:
        moment = min(moment + timedelta(days=1) - timedelta(microseconds=1), now)
    if moment > now:
        raise refuse_field(
            "invalid_request", "as_of", "lies in the future; what will be believed then is not known", 422
        )
    return moment


async def _load_past_page(
    rt: Runtime,
    subject: Subject,
    at: datetime,
    *,
    type: str | None,  # the contract's name
    query: str | None,
    limit: int,
    offset: int,
) -> MemoryPage:
    """The versions valid at that moment, newest first, or those with most words of the query first."""
    async with rt.db.transaction(subject) as conn:
        if not query:
            shown, count = await versions.load_held(conn, subject, at, type=type, limit=limit, offset=offset)
            return MemoryPage(memories=tuple(to_item(m, subject, rt) for m in shown), as_of=at, count=count)
        words = await versions.words_held(conn, subject, at, type)
    # tokenising thousands of texts takes a while, and this process composes packages
    ids = await asyncio.to_thread(rank_by_terms, query, [(each.memory_id, each.text) for each in words])
    async with rt.db.transaction(subject) as conn:
        shown, count = await versions.load_ordered(conn, subject, ids[offset : offset + limit]), len(ids)
    return MemoryPage(memories=tuple(to_item(m, subject, rt) for m in shown), as_of=at, count=count)


async def load_memory(rt: Runtime, subject: Subject, memory_id: UUID) -> MemoryItem:
    """This version of the memory, whatever its status."""
    async with rt.db.transaction(subject) as conn:
        found = await memory.by_ids(conn, subject, [memory_id])
    if not found:
        raise refuse_missing("memory_id")
    return to_item(found[0], subject, rt)


async def remember(rt: Runtime, statement: RememberRequest) -> WriteReceipt:
    """Commits a note. The receipt names the future note, or the memory that says it already.

    It also names the rule that keeps packages from showing all of the note. RefusedError `secret_refused` for a secret.
    """
    refuse_secret("text", statement.text)
    body = TurnEvents(
        tenant_id=statement.tenant_id,
        user_id=statement.user_id,
        session_id=statement.session_id,
        idempotency_key=statement.idempotency_key,
        messages=(Message(role="user", content=f"/remember {statement.text}"),),
    )
    return await write(rt, body)


async def retract(rt: Runtime, subject: Subject, memory_id: UUID) -> WriteReceipt:
    """Retracts the memory; its history stays."""
    version = await load_memory(rt, subject, memory_id)
    item = StructuredItem(type=version.type, key=version.key, memory_id=memory_id, retract=True)
    return await write(rt, make_turn(subject, (item,), f"retract:{memory_id}"))


def make_turn(subject: Subject, items: Iterable[StructuredItem], key: str | None = None) -> TurnEvents:
    """The turn with which a user acts on memories."""
    return TurnEvents(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=PANEL_SESSION,
        idempotency_key=key,
        items=tuple(items),
    )


async def write(rt: Runtime, turn: TurnEvents) -> WriteReceipt:
    """Commits the turn and returns the receipt; the same write returns the first receipt."""
    committed = (await commit_turn(turn, rt, transport="http")).result
    return await writes.load_receipt(rt, Subject(turn.tenant_id, turn.user_id), committed.turn_id)


async def list_unread_answers(rt: Runtime, subject: Subject, limit: int) -> AnswerPage:
    """Malformed answers of models about this user's turns that have not expired."""
    async with rt.db.transaction(subject) as conn:
        return AnswerPage(answers=tuple(await model_answers.list_answers(conn, subject, limit)))


async def load_summary(rt: Runtime, subject: Subject, session_id: str) -> SummaryView:
    """The newest summary of the session."""
    (row,) = await rt.db.read(subject, summaries.latest(subject, session_id))
    if row is None:
        raise refuse_missing("session_id")
    clean = show_own(row.text, rt.policy.compose.sanitize)
    parts = {} if clean.held_back else row.summary_json
    return SummaryView.model_validate({**vars(row), "text": clean.text, "summary_json": parts})


async def clear_summary(rt: Runtime, subject: Subject, session_id: str) -> None:
    """Deletes the summary; the next one is written when it is due."""
    async with rt.db.transaction(subject) as conn:
        await summaries.clear(conn, subject, session_id)
