"""feedback.recorded -> counts and confidence of the memories that it names: one transaction under the user's lock."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from schemas.events import FeedbackRecorded, MemoryChanged
from schemas.topics import MEMORY_CHANGED
from services.evolver import rules
from services.evolver.rules import Effect
from shared import clock
from shared.bus.delivery import Delivered
from shared.db import Subject
from shared.policy import Policy
from shared.runtime import Runtime
from shared.store import inbox, memory, outbox, outcomes
from shared.store.memory import Memory, Tally

CONSUMER = "evolver"


async def apply_feedback(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """The active memories among those named are counted, and steps taken, once for each event; the others stay."""
    if not any(_told(event).memory_ids for event in events):
        return
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        fresh = await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        told = [event for event in events if event.envelope.event_id in fresh]
        found = await memory.by_ids(conn, subject, {id for event in told for id in _told(event).memory_ids})
        ledger = {m.memory_id: _Account(m, _opened(m)) for m in found if m.status == "active"}
        changes = [change for event in told for change in _book(event, ledger, rt.policy)]
        await memory.tally(conn, subject, [each.tally for each in ledger.values() if each.touched])
        await outbox.put(conn, changes)


def _told(event: Delivered) -> FeedbackRecorded:
    assert isinstance(event.payload, FeedbackRecorded)  # noqa: S101 # the topic carries nothing else
    return event.payload


@dataclass
class _Account:
    memory: Memory
    tally: Tally
    touched: bool = False


def _opened(known: Memory) -> Tally:
    return Tally(known.memory_id, 0, 0, 0, 0, known.confidence, None)


def _book(event: Delivered, ledger: dict[UUID, _Account], policy: Policy) -> list[outbox.Outgoing]:
    """The event is entered in the accounts of its memories; what tells of each confidence that it moved."""
    effect = rules.effect_of(_told(event))
    if effect == rules.NO_EFFECT:
        return []
    made: list[outbox.Outgoing] = []
    for memory_id in dict.fromkeys(_told(event).memory_ids):
        account = ledger.get(memory_id)
        if account is None:
            continue
        before = account.tally.confidence
        account.tally, account.touched = _added(account, effect, event, policy), True
        if abs(account.tally.confidence - before) > 1e-6:
            made.append(_changed(event, account, before))
    return made


def _added(account: _Account, effect: Effect, event: Delivered, policy: Policy) -> Tally:
    tally, known = account.tally, account.memory
    cap = policy.confidence.provenance_cap(known.provenance_class, known.flags)
    return replace(
        tally,
        injections=tally.injections + effect.injections,
        positives=tally.positives + effect.positives,
        corrections=tally.corrections + effect.corrections,
        misses=tally.misses + effect.misses,
        confidence=rules.stepped(tally.confidence, effect.step, cap, policy.feedback),
        validated_at=event.envelope.occurred_at if effect.positives else tally.validated_at,
    )


def _changed(event: Delivered, account: _Account, before: float) -> outbox.Outgoing:
    known, after = account.memory, account.tally.confidence
    payload = MemoryChanged(
        memory_id=known.memory_id,
        root_id=known.root_id,
        version=known.version,
        change="confirmed" if after > before else "calibrated",
        status="active",
        confidence_before=round(before, 4),
        confidence_after=round(after, 4),
    )
    fresh = {
        "event_id": clock.uuid7(),
        "event_type": payload.event_type,
        "idempotency_key": f"{payload.event_type}:{known.memory_id}:{event.envelope.event_id}",
        "occurred_at": clock.now(),
        "payload": payload.model_dump(mode="json"),
    }
    return MEMORY_CHANGED, event.envelope.model_copy(update=fresh)


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """The event is named in quarantine; its turn has its outcome regardless."""
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await outcomes.give_up(conn, subject, stage="feedback", event_id=event.envelope.event_id, reason=reason)
