"""Feedback of a user on a memory: an item of a turn, learnt like any other."""

from datetime import datetime
from uuid import UUID

from schemas.memory_item import MemoryFeedback, MemoryItem, WriteReceipt
from schemas.turn_events import StructuredItem
from schemas.vocabulary import FeedbackVerdict
from services.compose.manage.memories import load_memory, make_turn, write
from shared import clock
from shared.domain.subjects import Subject
from shared.errors import refuse_field
from shared.runtime import Runtime
from shared.store import contexts, versions


async def give_feedback(rt: Runtime, given: MemoryFeedback) -> WriteReceipt:
    """Commits the verdict; the same verdict on the same package returns the first receipt.

    The verdict is also recorded with the named package if it carried the memory.

    RefusedError `not_found` if this user has no such memory, `erased` if its content is gone.
    """
    subject = Subject(given.tenant_id, given.user_id)
    item = to_item(await _load_memory(rt, subject, given.memory_id), given.verdict)
    receipt = await write(rt, make_turn(subject, (item,), given.idempotency_key or make_key(given, clock.now())))
    if given.context_id is not None:
        async with rt.db.transaction(subject) as conn:
            line = [each.memory_id for each in await versions.line(conn, subject, given.memory_id)]
            await contexts.judge(conn, subject, given.context_id, line, given.verdict, receipt.written_at)
    return receipt


def make_key(given: MemoryFeedback, now: datetime) -> str | None:
    """The idempotency key: a verdict counts once per package; without a package `not_useful` counts once a day.

    Other verdicts set a state: a repeat changes nothing, and a later one applies again.
    """
    said_of = f"feedback:{given.verdict}:{given.memory_id.hex}"
    if given.context_id is not None:
        return f"{said_of}:{given.context_id.hex}"
    return f"{said_of}:{now:%Y-%m-%d}" if given.verdict == "not_useful" else None


async def end_silence(rt: Runtime, subject: Subject, memory_id: UUID) -> WriteReceipt:
    """Allows the memory to be mentioned again; does nothing if it always was allowed."""
    memory = await _load_memory(rt, subject, memory_id)
    item = StructuredItem(type=memory.type, key=memory.key, memory_id=memory_id, feedback="bring_up_again")
    return await write(rt, make_turn(subject, (item,)))


def to_item(memory: MemoryItem, verdict: FeedbackVerdict) -> StructuredItem:
    """The verdict as an item: `right` restores the memory, `wrong` retracts it."""
    named = StructuredItem(type=memory.type, key=memory.key, memory_id=memory.memory_id, restore=True)
    match verdict:
        case "right":
            return named
        case "wrong":
            return named.model_copy(update={"restore": False, "retract": True})
        case "not_useful" | "never_again":
            return named.model_copy(update={"restore": False, "feedback": verdict})


async def _load_memory(rt: Runtime, subject: Subject, memory_id: UUID) -> MemoryItem:
    memory = await load_memory(rt, subject, memory_id)
    if memory.status == "erased":
        raise refuse_field("erased", "memory_id", "was erased; its content is gone", 409)
    return memory
