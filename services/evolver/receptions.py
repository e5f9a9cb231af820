"""feedback.recorded: applies its effects to the memories that it names, through the journal of upkeep."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from schemas.events import FeedbackRecorded
from services.evolver import rules, upkeep
from services.evolver.rules import due
from shared.bus.delivery import Delivered
from shared.domain.decay import Due
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import inbox, keeping, memory, turn_states

CONSUMER = "evolver"


async def apply_feedback(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Counts each event once for the active ones of the named memories and adjusts their confidence; others stay.

    A memory rejected too often is hidden at once, not only in the next round of upkeep.
    """
    if not any(event.read(FeedbackRecorded).memory_ids for event in events):
        return
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        fresh = await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        once = {event.envelope.event_id: event for event in events}
        fresh_events = [event for event_id, event in once.items() if event_id in fresh]
        named = {id for event in fresh_events for id in event.read(FeedbackRecorded).memory_ids}
        active = {stats.memory_id for stats in await keeping.active(conn, subject, named)}
        wanted = [(wish, event.envelope) for event in fresh_events if (wish := decide_due(event, active)) is not None]
        changes = await upkeep.perform(conn, subject, wanted, rt.policy)
        latest = {change.after.memory_id: change.after for change in changes}
        blown = [wish for kept in latest.values() if (wish := due.fuse(kept, rt.policy)) is not None]
        await upkeep.perform(conn, subject, [(wish, fresh_events[-1].envelope) for wish in blown], rt.policy)


def decide_due(event: Delivered, active: set[UUID]) -> Due | None:
    """The effect of the event on those of its memories that are active; None without any."""
    effect = rules.effect_of(event.read(FeedbackRecorded))
    ids = tuple(id for id in dict.fromkeys(event.read(FeedbackRecorded).memory_ids) if id in active)
    if effect == rules.NO_EFFECT or not ids:
        return None
    told_at = event.envelope.occurred_at.isoformat()
    return Due(
        "feedback", ids, {"event_id": str(event.envelope.event_id), "effect": asdict(effect), "told_at": told_at}
    )


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Quarantines the event; its turn has its outcome regardless."""
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await turn_states.give_up(conn, subject, stage="feedback", event_id=event.envelope.event_id, reason=reason)
