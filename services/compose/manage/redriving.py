"""Looks up the state behind a dead letter, and carries out a redrive in the transaction that records it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from schemas.envelope import Envelope
from schemas.erasure import ErasureRequest
from schemas.events import (
    AnalysisProposed,
    ErasureRequested,
    ObservationRecorded,
    ObservationUrgent,
    Payload,
    ResourceIngestRequested,
    TurnCommitted,
    TurnExtract,
)
from schemas.topics import OBSERVATION_RECORDED, OBSERVATION_URGENT, TURN_COMMIT, TURN_COMMITTED, Topic
from schemas.turn_events import TurnEvents
from schemas.vocabulary import AccessScope
from services.compose.intake.records import is_erasure, make_key
from services.compose.rules.redriving import BESIDE_THE_OUTCOME, Behind, get_notes
from shared import clock, parsing
from shared.bus.dead_letters import DeadLetter, to_moment
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.store import inbox, outbox, quarantine, redriving
from shared.store.erasure import tombstones
from shared.store.redriving import TurnBehind

CONSUMERS = {"turn.extract": "observer-model"}
"""The consumer name in the inbox if it is not the service's name, by topic."""
OF_TURNS = ("observer", "analyzer", "evolver")
"""Quarantine stages that the outcome of a turn depends on."""


@dataclass(frozen=True)
class LetterContext:
    """The state behind a letter, with its turn."""

    behind: Behind
    turn: TurnBehind | None = None

    def with_act(self, act: str) -> "LetterContext":
        return replace(self, behind=replace(self.behind, act=act))


def find_required_scope(letter: DeadLetter) -> AccessScope:
    """The access scope that the sender of such a record needs, and an operator who vouches for it too."""
    asks = letter.topic == TURN_COMMIT and is_erasure(letter.record.value or b"")
    return letter.topic.scope_of(ErasureRequest if asks else letter.topic.carries[0])


async def load_state(conn: Connection, subject: Subject, letter: DeadLetter, *, vouched: bool = False) -> LetterContext:
    """The state behind the letter; its turn is locked until the transaction ends."""
    stands = letter.topic.inbound and letter.refused_at_door and not vouched
    refusal = f"{letter.reason}; redrive it with `vouched` (--vouch) where you know who sent it" if stands else None
    behind = Behind(letter.topic, whole=letter.whole, refusal=refusal)
    if not letter.whole:
        return LetterContext(behind)
    if letter.topic == TURN_COMMIT:
        return await _look_behind_intake(conn, subject, letter, behind)
    if letter.event is None:
        return LetterContext(replace(behind, refusal="no event of its topic can be read in it"))
    envelope, payload = letter.event
    consumer = CONSUMERS.get(letter.topic.noun, letter.topic.readers[0] if letter.topic.readers else "")
    seen = replace(
        behind,
        given_up=await quarantine.find_event(conn, subject, envelope.event_id) is not None,
        handled=await inbox.had(conn, consumer, envelope.event_id),
    )
    if isinstance(payload, ErasureRequested):
        erasure = await tombstones.one(subject, payload.tombstone_id).on(conn)
        return LetterContext(replace(seen, erasure=erasure.status if erasure else None))
    turn = await _find_turn(conn, subject, payload)
    return LetterContext(_with_turn(seen, turn, named=letter.topic not in BESIDE_THE_OUTCOME), turn)


def _with_turn(behind: Behind, turn: TurnBehind | None, *, named: bool) -> Behind:
    if turn is None:
        return replace(behind, turn="missing" if named else None)
    return replace(behind, turn=turn.state, status=(turn.outcome or {}).get("status"))


async def _find_turn(conn: Connection, subject: Subject, payload: Payload) -> TurnBehind | None:
    match payload:
        case TurnCommitted() | TurnExtract() | ObservationRecorded() | ObservationUrgent():
            return await redriving.find_turn(conn, subject, payload.turn_id)
        case AnalysisProposed():
            return await redriving.find_observed_turn(conn, subject, payload.observation_ids)
        case _:
            return None


async def _look_behind_intake(conn: Connection, subject: Subject, letter: DeadLetter, behind: Behind) -> LetterContext:
    body = letter.record.value or b""
    try:
        inbound, _ = parsing.parse(ErasureRequest if is_erasure(body) else TurnEvents, body)
    except RefusedError as error:
        return LetterContext(replace(behind, refusal=f"{error.code}: {error.message}"))
    key = inbound.idempotency_key or make_key(letter.first, body)
    sent_at = to_moment(letter.sent_ms)
    if isinstance(inbound, ErasureRequest):
        known = await tombstones.by_key(conn, subject, key)
        return LetterContext(replace(behind, erasure=known.status if known else None))
    erased = await redriving.is_erased(conn, subject, sent_at, inbound.session_id)
    turn = await redriving.find_committed_turn(conn, subject, key)
    return LetterContext(_with_turn(replace(behind, erased=erased), turn, named=False), turn)


async def carry_out_redrive(
    conn: Connection, subject: Subject, letter: DeadLetter, turn: TurnBehind | None, *, vouched: bool = False
) -> None:
    """Sends the letter back to its topic on commit, and reopens what was quarantined with it."""
    if letter.event is None:
        await outbox.put_letter(conn, letter.topic, letter.letter_id, vouched=vouched)
        return
    envelope, payload = letter.event
    if turn is not None and turn.state == "quarantined" and letter.topic not in BESIDE_THE_OUTCOME:
        await reopen_turn(conn, subject, turn, envelope.event_id)
        return
    if isinstance(payload, ResourceIngestRequested):
        await redriving.reopen_resource(conn, subject, payload.ref_id)
    await quarantine.release(conn, subject, envelope.event_id)
    await outbox.put(conn, [(letter.topic, _renew_envelope(envelope, payload))])


def _renew_envelope(envelope: Envelope, payload: Payload) -> Envelope:
    """The event under a new id, which no worker has claimed, and with a new time."""
    told: dict[str, Any] = {"event_id": clock.uuid7()}
    if isinstance(payload, TurnExtract):
        told["occurred_at"] = clock.now()
    return envelope.model_copy(update=told)


async def reopen_turn(conn: Connection, subject: Subject, turn: TurnBehind, event_id: UUID) -> None:
    """Reopens the turn at the step that failed: extraction, or its observations."""
    reopened = await redriving.reopen_observations(conn, subject, turn.turn_id)
    notes = get_notes(turn.outcome or {}, reopened) if reopened else None
    await redriving.reopen_turn(conn, subject, turn.turn_id, notes)
    await quarantine.release(conn, subject, event_id, turn.turn_id, OF_TURNS)
    told = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    events = [
        (topic, outbox.event(each, subject, turn.turn_id, **told)) for topic, each in _list_next_events(turn, reopened)
    ]
    await outbox.put(conn, events)


def _list_next_events(turn: TurnBehind, reopened: Sequence[Mapping[str, Any]]) -> list[tuple[Topic, Payload]]:
    """The events that continue the turn: its observations, corrections on their own topic; without any, extraction."""
    if not reopened:
        return [(TURN_COMMITTED, TurnCommitted(turn_id=turn.turn_id, seq=turn.seq))]
    urgent = tuple(each["observation_id"] for each in reopened if each["priority"] == "urgent")
    normal = tuple(each["observation_id"] for each in reopened if each["priority"] != "urgent")
    events: list[tuple[Topic, Payload]] = []
    if urgent:
        events.append((OBSERVATION_URGENT, ObservationUrgent(observation_ids=urgent, turn_id=turn.turn_id)))
    if normal:
        events.append((OBSERVATION_RECORDED, ObservationRecorded(observation_ids=normal, turn_id=turn.turn_id)))
    return events
