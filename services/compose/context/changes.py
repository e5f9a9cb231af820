"""Reads pending turns, which no worker has settled yet, in time for this answer, and drops what holds no longer.

Writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.compose import IncomingMessage
from services.compose.rules.pending.foresight import list_operations, settle_statements
from services.compose.rules.pending.pending_changes import (
    NOTHING,
    MemorySnapshot,
    MessagePosition,
    PendingChanges,
    PendingMessage,
    PendingObservation,
    TakenBack,
)
from services.compose.rules.resolving import outdated
from services.compose.rules.resolving.outdated import CurrentText, keep_what_holds
from shared import clock
from shared.cache import UserCache
from shared.db import Database
from shared.domain.blocks import media_ids
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.search_results import Hit
from shared.domain.subjects import Subject
from shared.domain.turns import Event, Turn
from shared.extraction import ObserveContext, ObservePolicy, TurnText, observe, retractions
from shared.extraction.turn_texts import (
    ACTS,
    BRING_UP_AGAIN,
    NEVER_AGAIN,
    NOT_USEFUL,
    SPOKEN,
    is_forgotten,
    observation_rows,
    place_of,
    turn_text,
)
from shared.language.normalise import fold
from shared.language.replies import says_something
from shared.policy import ConfidencePolicy
from shared.resolution.from_rows import known_of, quoted_text, statement_of, words_of
from shared.resolution.operations import Operation
from shared.store import memory, told_before
from shared.store.user_state import NEVER, TakenBackTurn

READING = ObservePolicy(profile_slots=None, max_message_chars=2000)
"""How many characters of a message are read. Corrections are short or come first; a long paste must not delay the
answer."""


_NOT_STATED = frozenset({("items", act) for act in (*ACTS, NOT_USEFUL, BRING_UP_AGAIN)})
"""Item types from which no change is predicted: the memories they name are read elsewhere."""
NO_MESSAGES: Mapping[int, PendingMessage] = {}


def to_turn(incoming: IncomingMessage, session_id: str, at: datetime) -> Turn:
    """The message being answered, in the form of a turn."""
    turn_id = clock.uuid7()
    event = Event(turn_id, turn_id, 0, "user_message", "user", incoming.name, {"text": incoming.words}, at)
    return Turn(turn_id, session_id, 0, turn_id, "", "", at, at, False, (event,))


@dataclass(frozen=True, slots=True)
class OpenTurns:
    """The turns without an outcome, in order, at an epoch of their user, with the cached result of extraction.

    While workers lag, each turn is read once and not at every message.
    """

    turns: Sequence[Turn]
    epoch: int = 0
    read: UserCache[UUID, list[PendingObservation]] = field(default_factory=UserCache[UUID, list[PendingObservation]])

    def statements(self, subject: Subject, policy: ConfidencePolicy) -> list[PendingObservation]:
        """The statements in the turns."""

        def of(turn: Turn) -> list[PendingObservation]:
            return self.read.get(subject, self.epoch, turn.turn_id, lambda: read_statements(turn, policy, now=False))

        return [each for turn in self.turns for each in of(turn)]


async def predict_changes(
    db: Database, subject: Subject, open_turns: OpenTurns, now: Turn | None, policy: ConfidencePolicy
) -> PendingChanges:
    """What these turns and then the message being answered will end; one query to the store if they state anything."""
    open_turns = await drop_withheld_turns(db, subject, open_turns)
    pending = open_turns.statements(subject, policy)
    pending += read_statements(now, policy, now=True) if now else []
    if not pending:
        return NOTHING
    (known,) = await db.read(subject, memory.load_concerned(subject, [p.statement for p in pending]))
    return settle_statements(pending, [to_memory_snapshot(each) for each in known], policy)


async def predict_operations(
    db: Database,
    subject: Subject,
    open_turns: OpenTurns,
    stated: Sequence[PendingObservation],
    policy: ConfidencePolicy,
) -> Mapping[UUID, Operation]:
    """The operation that the workers will derive for each of these statements, by id, after the statements of the open
    turns."""
    open_turns = await drop_withheld_turns(db, subject, open_turns)
    pending = [*open_turns.statements(subject, policy), *stated]
    (known,) = await db.read(subject, memory.load_concerned(subject, [each.statement for each in pending]))
    return list_operations(pending, [to_memory_snapshot(each) for each in known], policy)


async def drop_withheld_turns(db: Database, subject: Subject, open_turns: OpenTurns) -> OpenTurns:
    """The turns from which something will be learnt; the retractions in the others are handled by the workers."""
    if not open_turns.turns:
        return open_turns
    (silence,) = await db.read(
        subject, told_before.load_wishes(subject, {turn.session_id for turn in open_turns.turns})
    )
    kept = [turn for turn in open_turns.turns if not silence.hear(place_of(turn), turn_text(turn))]
    return replace(open_turns, turns=kept)


async def find_withholding_reason(db: Database, subject: Subject, earlier: Sequence[Turn], turn: Turn) -> str | None:
    """Whose wish prevents learning from the turn, given the open turns before it; None if it is learnt from."""
    (silence,) = await db.read(
        subject, told_before.load_wishes(subject, [turn.session_id, *(t.session_id for t in earlier)])
    )
    for each in earlier:
        silence.hear(place_of(each), turn_text(each))
    return silence.hear(place_of(turn), turn_text(turn))


def read_statements(turn: Turn, policy: ConfidencePolicy, *, now: bool) -> list[PendingObservation]:
    """The statements in the turn; with `now`, it is the message being answered."""
    text = turn_text(turn)
    spoken = {m.ordinal: m for m in text.messages if m.role == "user"}
    user_text = TurnText(tuple(spoken.values()), text.tool_calls, text.refs, text.items)
    observed = observe(user_text, ObserveContext(occurred_at=turn.said_at, answer_before=""), READING)
    messages = {o: PendingMessage(m.text, m.created_at, turn.session_id, m.role, m.name) for o, m in spoken.items()}
    return to_pending(observation_rows(turn, observed, policy), messages, now=now)


def to_pending(
    rows: Iterable[ObservationRow], messages: Mapping[int, PendingMessage] = NO_MESSAGES, *, now: bool = False
) -> list[PendingObservation]:
    """The observations of a turn as pending statements; mere mentions of names are left out."""
    # the statement of a restored version is read where it is restored
    kept = [row for row in rows if row.detector != "entities" and (row.detector, row.pattern) not in _NOT_STATED]
    # a memory never to be mentioned is left out like a retracted one
    stated = [replace(row, retracts=True) if row.pattern == NEVER_AGAIN else row for row in kept]
    return [to_pending_observation(row, messages.get(row.ordinal), now=now) for row in stated]


def to_pending_observation(row: ObservationRow, spoken: PendingMessage | None, *, now: bool) -> PendingObservation:
    return PendingObservation(
        memory_id=row.observation_id,
        statement=statement_of(row),
        text=row.text,
        words=words_of(row.text, row.value),
        told=quoted_text(row.text, row.value),
        place=MessagePosition(str(row.turn_id), row.ordinal, (row.span_start, row.span_end), _word(row.value)),
        spoken=spoken or PendingMessage(row.text, row.said_at, row.session_id),
        polarity=row.polarity,
        now=now,
        forgotten=is_forgotten(row),
    )


def list_retractions(
    turns: Sequence[Turn], now: Turn | None, known: Iterable[TakenBackTurn] = ()
) -> Mapping[str, TakenBack]:
    """The user's retractions in earlier turns, from stored results and from a session's turns; the last is `now`."""
    by_turn = {each.turn_id: TakenBack(each.until, each.forgotten) for each in known}
    before: tuple[UUID, str] | None = None
    for turn in (*turns, *([now] if now else ())):
        message = next((m for m in turn_text(turn).messages if m.role == "user"), None)
        if message is None:
            continue
        taking = next((each for each in retractions.find_retractions(message.text) if each.takes_before), None)
        if taking and before:
            turn_id, text = before
            forgotten = taking.why in retractions.FORGOTTEN
            sentence = text[slice(*retractions.find_last_sentence(text))]
            by_turn[str(turn_id)] = TakenBack(message.created_at, forgotten, sentence)
        before = (turn.turn_id, message.text)
    return by_turn


def to_memory_snapshot(known: Memory) -> MemorySnapshot:
    return MemorySnapshot(known_of(known), _source(known))


def _source(memory: Memory) -> MessagePosition | None:
    """Where the memory was learnt, if its origin says."""
    ordinal, span = memory.provenance.get("ordinal"), memory.provenance.get("span")
    if memory.source_turn_id is None or ordinal is None or not span:
        return None
    return MessagePosition(str(memory.source_turn_id), ordinal, (span[0], span[1]), _word(memory.value))


def _word(value: dict[str, object]) -> str | None:
    word = value.get("target") or value.get("value")
    return str(word) if word else None


def list_turns_before(window: Sequence[Turn], incoming: IncomingMessage) -> Sequence[Turn]:
    """The turns before the message being answered, which may be stored already."""
    last = [
        (each.role, each.content["text"], media_ids(each.blocks))
        for each in (window[-1].events if window else ())
        if each.event_type in SPOKEN and each.content
    ]
    return window[:-1] if last == [("user", incoming.words, media_ids(incoming.blocks))] else window


def list_shown_turns(window: Sequence[Turn], incoming: IncomingMessage, most: int) -> frozenset[str]:
    """The newest `most` turns, which the package shows in full, without the message being answered."""
    newest = most + len(window) - len(list_turns_before(window, incoming))
    return frozenset(str(turn.turn_id) for turn in window[-newest:]) if newest else frozenset()


@dataclass(frozen=True, slots=True)
class CurrentHits:
    """The valid hits with the text that may be shown, and the keys of the invalid ones."""

    hits: Sequence[tuple[Hit, CurrentText]]
    stale: Sequence[str] = ()


def drop_stale_hits(changes: PendingChanges, hits: Sequence[Hit], *, past: bool = False) -> CurrentHits:
    """The hits that are still valid; with `past` also former ones, marked as such."""
    texts = [
        (_find_current_memory if hit.memory_id else _find_current_message)(changes, hit, past=past) for hit in hits
    ]
    over = _ended_turns(hits, texts)
    current: list[tuple[Hit, CurrentText]] = []
    stale: list[str] = []
    for hit, text in zip(hits, texts, strict=True):
        left = text
        if left and hit.turn_id in over and hit.role == "assistant" and outdated.says_one_thing(left.text):
            until = over.get(hit.turn_id)
            left = replace(left, until=left.until or until) if until else None
        if left is None:
            stale.append(make_key(hit))
        else:
            current.append((hit, left))
    return CurrentHits(current, stale)


def _ended_turns(hits: Sequence[Hit], texts: Sequence[CurrentText | None]) -> Mapping[UUID | None, datetime | None]:
    """The turns of which no statement of the user is valid any more, with the time until which it was, if it is shown.

    A one-sentence reply to such a statement is about it, even if it repeats none of its words.
    """
    ended: dict[UUID | None, datetime | None] = {}
    holds: set[UUID | None] = set()
    for hit, left in zip(hits, texts, strict=True):
        if hit.turn_id is None or hit.memory_id is not None or hit.role != "user":
            continue
        if left is None or left.until:
            ended[hit.turn_id] = left.until if left else None
        else:
            holds.add(hit.turn_id)
    return {turn: until for turn, until in ended.items() if turn not in holds}


def list_end_times(changes: PendingChanges, hit: Hit) -> set[datetime]:
    """When the statements in the turn of the hit ceased to be valid. Messages of the user at these times ended them."""
    if hit.memory_id:
        return set()
    untils = [
        each.get("until") for each in (*hit.ended, *changes.of_turn(hit.turn_id), *_list_retractions(changes, hit))
    ]
    moments = {each if isinstance(each, datetime) else datetime.fromisoformat(each) for each in untils if each}
    until = changes.outdated.ended_at(hit.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    return moments | ({until} if until else set())


def make_key(hit: Hit) -> str:
    return f"memory:{hit.memory_id}" if hit.memory_id else f"turn:{hit.turn_id}:{hit.ordinal}"


def _find_current_memory(changes: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    """The memory if it is valid. An event ends with what it led to: having moved to a city, with living there."""
    if changes.hides(hit.memory_id, hit.turn_id, hit.text):
        return None
    until = changes.outdated.ended_at(hit.text, hit.valid_at) if hit.type == "event" else None
    if until is None:
        return CurrentText(hit.text)
    return CurrentText(hit.text, until=until) if past and until < NEVER else None


def _find_current_message(changes: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    ended = [*hit.ended, *changes.of_turn(hit.turn_id), *_list_retractions(changes, hit)]
    left = keep_what_holds(hit.text, hit.ordinal, ended, hit.media or (), past=past)
    if left is None or left.until:
        return left
    until = changes.outdated.ended_at(left.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    if until is None:
        return left
    return replace(left, until=until) if past and until < NEVER else None


def _list_retractions(changes: PendingChanges, hit: Hit) -> list[dict[str, Any]]:
    """The parts of the message that the user took back in the same or the next message; then also the replies to it.

    A request to forget is one of them: it names what is to be gone.
    """
    of_user = hit.role == "user"
    gone: list[dict[str, Any]] = []
    if of_user:
        asked = [(each.start, each.end) for each in retractions.find_requests_to_forget(hit.text)]
        gone = [{"span": span, "forgotten": True} for span in (*retractions.find_taken_back(hit.text), *asked)]
    if changes.taken_back and (taken := changes.taken_back.get(str(hit.turn_id))):
        span = retractions.find_last_sentence(hit.text) if of_user else (0, len(hit.text))
        gone.append({"span": span, "until": taken.until, "forgotten": taken.forgotten})
    return [{"ordinal": hit.ordinal, **each} for each in gone]


def is_evidence(hit: Hit, left: CurrentText) -> bool:
    """Whether it can be evidence: a memory of more than a name, or a message of more than `I see`."""
    if hit.memory_id is None:
        return says_something(left.text)
    text = fold(left.text.strip())
    named = hit.type == "entity" and hit.key is not None and hit.key.rpartition(":")[2] == text
    return bool(text) and not named
