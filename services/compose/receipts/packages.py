"""Stored packages: shown again, as chat messages, or with every decision explained."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from schemas.context_package import ContextPackage, PackageMessages, messages
from schemas.evidence_pack import memory_uri, turn_uri
from schemas.receipts import ContextPage, ContextPosition, ContextReceipt, DecisionReason, ReceiptItem
from schemas.retrieval_plan import PlanView, RetrievalPlan
from services.compose.rules.packing.receipts import Told, explain_decision
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.runtime import Runtime
from shared.store import contexts, memory
from shared.store.contexts import Receipts, Stored
from shared.store.erasure import tombstones

NOT_FOUND = 404
GONE = 410


async def load_page(rt: Runtime, subject: Subject, session_id: str | None, limit: int, offset: int) -> ContextPage:
    """The packages of a user or a session, newest first."""
    async with rt.db.transaction(subject) as conn:
        return ContextPage(contexts=tuple(await contexts.page(conn, subject, session_id, limit, offset)))


async def load_package(rt: Runtime, subject: Subject, context_id: UUID) -> ContextPackage:
    """The stored package; RefusedError 404 if there is none, 410 if it was erased."""
    async with rt.db.transaction(subject) as conn:
        stored = await contexts.package(conn, subject, context_id)
    return _load_package(stored, context_id)


def _load_package(stored: Stored | None, context_id: UUID) -> ContextPackage:
    if stored and stored.erased:
        raise refuse_erased(context_id)
    if stored is None or stored.package is None:
        raise RefusedError("not_found", f"no package {context_id} is stored for this user", status=NOT_FOUND)
    said = {each: told["verdict"] for each, told in (stored.verdicts or {}).items()}
    return ContextPackage.model_validate({**stored.package, **({"verdicts": said} if said else {})})


def refuse_erased(context_id: UUID, what: str = "package") -> RefusedError:
    return RefusedError("erased", f"{what} {context_id} was erased; nothing of it is left", status=GONE)


async def load_plan(rt: Runtime, subject: Subject, plan_id: UUID) -> PlanView:
    """The executed plan, given or made for the package with that id; 404 and 410 as for packages."""
    async with rt.db.transaction(subject) as conn:
        stored = await contexts.package(conn, subject, plan_id)
    if stored and stored.erased:
        raise refuse_erased(plan_id, "plan")
    if stored is None or stored.plan is None:
        raise RefusedError("not_found", f"no plan {plan_id} is stored for this user", status=NOT_FOUND)
    named = {name: stored.plan.get(name) for name in ("org_id", "profile_id")}
    return PlanView(
        plan_id=plan_id, executed_at=stored.created_at, plan=RetrievalPlan.model_validate(stored.plan), **named
    )


async def as_messages(rt: Runtime, subject: Subject, context_id: UUID, *, developer: bool) -> PackageMessages:
    """The package as messages of a chat API, in the contract's order."""
    shown = await load_package(rt, subject, context_id)
    return PackageMessages(context_id=shown.context_id, messages=tuple(messages(shown, developer=developer)))


async def load_receipt(
    rt: Runtime, subject: Subject, context_id: UUID, item: str | None, language: Told
) -> ContextReceipt:
    """Every decision of the package, or the one about `item`: any memory, turn or resource of the user.

    RefusedError 404 if there are no receipts (any more), 410 if they were erased.
    """
    async with rt.db.transaction(subject) as conn:
        receipts = await contexts.receipts(conn, subject, context_id)
        if receipts is None:
            stored = await contexts.package(conn, subject, context_id)
            if stored and stored.erased:
                raise refuse_erased(context_id)
            raise RefusedError("not_found", f"no receipts of {context_id} for this user", status=NOT_FOUND)
        decisions: list[dict[str, Any]] = receipts.injection["decisions"]
        wanted = [each for each in decisions if item is None or _is_about(each["id"], item)]
        if item is not None and not wanted:
            wanted = [await _explain_absence(conn, subject, item)]
        texts = await contexts.load_texts(conn, subject, _list_ids("memory", wanted), _list_ids("turn", wanted))
    items = tuple(_item(each, receipts, texts, language) for each in wanted)
    injected = sum(each["decision"] == "injected" for each in decisions)
    return ContextReceipt(
        context_id=str(receipts.context_id),
        session_id=receipts.session_id,
        message=receipts.message,
        request_id=receipts.request_id,
        created_at=receipts.created_at,
        degraded_reason=tuple(receipts.injection["degraded_reason"]),
        injected=injected,
        rejected=len(decisions) - injected,
        items=items,
    )


def _is_about(key: str, item: str) -> bool:
    """Whether the decision is about the item: its key, its address, or the id of a memory or turn."""
    return item in (key, _address(key)) or (":" in key and item == key.split(":")[1])


def _address(key: str) -> str | None:
    kind, _, rest = key.partition(":")
    match kind:
        case "memory":
            return memory_uri(rest)
        case "turn":
            return turn_uri(rest.split(":")[0])
        case _:
            return None


ENDED = {"erased": "erased"}


async def _explain_absence(conn: Connection, subject: Subject, item: str) -> dict[str, Any]:
    """Why an item was not considered: it has ended, is hidden, or was not found; or does not exist."""
    memory_id = _uuid(item.removeprefix("memory:").removeprefix(memory_uri("")))
    versions = await memory.by_ids(conn, subject, [memory_id]) if memory_id else []
    reason = "unknown" if memory_id else "not_found"
    if memory_id and not versions and memory_id in await tombstones.find_erased(conn, subject, [memory_id]):
        reason = "erased"
    for each in versions:
        reason = "fused" if each.fused_at else "not_found"
        if each.status != "active":
            reason = ENDED.get(each.status, "superseded")
    return {"id": item, "decision": "not_considered", "decision_reason": reason}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _list_ids(kind: str, decisions: Sequence[dict[str, Any]]) -> list[UUID]:
    """The ids of the memories, or turns, that these decisions are about."""
    named = [each["id"].split(":") for each in decisions]
    return [found for name, *rest in named if name == kind and rest and (found := _uuid(rest[0]))]


def _item(decision: dict[str, Any], receipts: Receipts, texts: Mapping[str, str], language: Told) -> ReceiptItem:
    place, memory_id = decision.get("context_position"), _uuid(decision["id"].removeprefix("memory:"))
    carried = decision["decision"] == "injected" and memory_id is not None
    used = None if not carried or receipts.used_ids is None else memory_id in receipts.used_ids
    return ReceiptItem(
        id=decision["id"],
        text=texts.get(decision["id"]),
        source_uri=decision.get("source_uri") or _address(decision["id"]),
        decision=decision["decision"],
        decision_reason=cast("DecisionReason", decision["decision_reason"]),
        context_position=ContextPosition.model_validate(place) if place else None,
        utilized=used,
        user_feedback_signal=receipts.feedback_signal if used else None,  # pyright: ignore[reportArgumentType] # the vocabulary's
        verdict=(receipts.verdicts or {}).get(str(memory_id), {}).get("verdict"),
        why=explain_decision(decision, language),
    )
