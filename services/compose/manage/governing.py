"""Actions of a user on memories: pin, merge, bulk actions, and verdicts. Each is committed as a turn."""

from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.governing import BulkAction, BulkReceipt, BulkRefusal, BulkRequest, MergeRequest
from schemas.memory_item import MemoryFeedback, MemoryItem, WriteReceipt
from schemas.turn_events import StructuredItem
from schemas.vocabulary import FeedbackVerdict
from services.compose.intake.commit import commit_turn
from services.compose.manage.memories import load_memory, make_turn, refuse_missing, refuse_words, write
from shared import clock
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.errors import refuse_field
from shared.runtime import Runtime
from shared.store import contexts, memory, versions


async def give_feedback(rt: Runtime, given: MemoryFeedback) -> WriteReceipt:
    """Commits the verdict; the same verdict on the same package returns the first receipt.

    The verdict is also recorded with the named package if it carried the memory.

    RefusedError `not_found` if this user has no such memory, `erased` if its content is gone.
    """
    subject = Subject(given.tenant_id, given.user_id)
    item = to_verdict_item(await _load_memory(rt, subject, given.memory_id), given.verdict)
    receipt = await write(
        rt, make_turn(subject, (item,), given.idempotency_key or make_verdict_key(given, clock.now()))
    )
    if given.context_id is not None:
        async with rt.db.transaction(subject) as conn:
            line = [each.memory_id for each in await versions.line(conn, subject, given.memory_id)]
            await contexts.judge(conn, subject, given.context_id, line, given.verdict, receipt.written_at)
    return receipt


def make_verdict_key(given: MemoryFeedback, now: datetime) -> str | None:
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


def to_verdict_item(memory: MemoryItem, verdict: FeedbackVerdict) -> StructuredItem:
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


async def pin(rt: Runtime, subject: Subject, memory_id: UUID, *, pinned: bool) -> WriteReceipt:
    """Pins or unpins the memory; RefusedError for a former version."""
    (target,) = await _load_memories(rt, subject, {"memory_id": memory_id})
    _require_active("memory_id", target)
    return await write(rt, make_turn(subject, (_item(target, pin=pinned),)))


async def merge(rt: Runtime, subject: Subject, request: MergeRequest) -> WriteReceipt:
    """Merges the named memories into one; RefusedError if one of them is not active.

    RefusedError for a secret in the given text, and for text that tries to steer the agent.
    """
    fields = {"keep": request.keep, **{f"others.{n}": each for n, each in enumerate(request.others)}}
    targets = await _load_memories(rt, subject, fields)
    for field, each in zip(fields, targets, strict=True):
        _require_active(field, each)
    if request.content:
        refuse_words("content", request.content)
    item = _item(targets[0], merge=request.others, text=request.content)
    return await write(rt, make_turn(subject, (item,), request.idempotency_key))


async def act_on_many(rt: Runtime, subject: Subject, request: BulkRequest) -> BulkReceipt:
    """Commits one turn with the action for every memory that it applies to; lists the others with the reason."""
    wanted = list(dict.fromkeys(request.memory_ids))
    async with rt.db.transaction(subject) as conn:
        by_id = {each.memory_id: each for each in await memory.by_ids(conn, subject, wanted)}
    refused = tuple(each for id in wanted if (each := _find_refusal(request.action, id, by_id.get(id))))
    left = [by_id[id] for id in wanted if id not in {each.memory_id for each in refused}]
    if not by_id:
        raise refuse_missing("memory_ids")
    if not left:
        return BulkReceipt(action=request.action, refused=refused)
    turn = make_turn(subject, [to_item(request.action, each) for each in left], request.idempotency_key)
    done = (await commit_turn(turn, rt, transport="http")).result
    return BulkReceipt(
        action=request.action,
        receipt_id=done.turn_id,
        turn_id=done.turn_id,
        written_at=done.committed_at,
        accepted=tuple(each.memory_id for each in left),
        refused=refused,
    )


def to_item(action: BulkAction, target: Memory) -> StructuredItem:
    """The action as an item of a turn."""
    match action:
        case "forget":
            return _item(target, retract=True)
        case "restore":
            return _item(target, restore=True)
        case _:
            return _item(target, pin=action == "pin")


def _find_refusal(action: BulkAction, memory_id: UUID, target: Memory | None) -> BulkRefusal | None:
    if target is None:
        return BulkRefusal(memory_id=memory_id, code="not_found", problem="not found")
    if target.status == "erased":
        return BulkRefusal(memory_id=memory_id, code="erased", problem="was erased; its content is gone")
    if action == "restore" and target.status == "active" and target.fused_at is None:
        return BulkRefusal(memory_id=memory_id, code="already_active", problem="holds now; there is nothing to restore")
    if action != "restore" and target.status != "active":
        return BulkRefusal(memory_id=memory_id, code="not_active", problem=f"is {target.status}; it does not hold now")
    return None


async def _load_memories(rt: Runtime, subject: Subject, fields: dict[str, UUID]) -> list[Memory]:
    async with rt.db.transaction(subject) as conn:
        by_id = {each.memory_id: each for each in await memory.by_ids(conn, subject, fields.values())}
    missing = next((field for field, id in fields.items() if id not in by_id), None)
    if missing:
        raise refuse_missing(missing)
    return [by_id[id] for id in fields.values()]


def _require_active(field: str, target: Memory) -> None:
    if target.status != "active":
        problem = f"is {target.status}; only the version that holds now can be pinned or merged"
        raise refuse_field("not_active", field, problem, 409)


def _item(target: Memory, **act: Any) -> StructuredItem:
    return StructuredItem(type=target.type, key=target.key, memory_id=target.memory_id, **act)
