"""The steps of an erasure, one a store: each takes a bounded number of rows at a time and says when it is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString
from uuid import UUID

from services.erasure import reduce
from shared.db import Connection, Subject
from shared.errors import SmartBrainError
from shared.knowledge.errors import KnowledgeUnavailable
from shared.knowledge.port import Scope
from shared.runtime import Runtime
from shared.store import erase, knowledge, tombstones
from shared.store.erase import DELETED, Receipt
from shared.store.tombstones import Tombstone
from shared.telemetry import ERASURE_ROWS

REST = 0.5
"""After each batch the worker rests for this share of the time it took: others use the same database."""
PATIENCE_S = 5.0
"""So long beyond its deadline an offer to the knowledge side may still be on its way."""
RECEIPTS = 200
FIRST = (UUID(int=0), "")


class StepError(SmartBrainError):
    """A store could not be erased now; `store` names it, `waiting` where it only takes time."""

    def __init__(self, store: str, reason: str, *, waiting: bool = False) -> None:
        super().__init__(f"{store}: {reason}")
        self.store = store
        self.reason = reason
        self.waiting = waiting


@dataclass(frozen=True)
class Done:
    """What one go at a step came to; not `finished` where there is more."""

    affected: int
    finished: bool
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


Go = Callable[[Runtime, Subject, Tombstone], Awaitable[Done]]


async def run(rt: Runtime, subject: Subject, tombstone: Tombstone) -> None:
    """Every step that is not done yet is done, in order; StepError names the store that stands in the way."""
    (known,) = await rt.db.read(subject, tombstones.steps(subject, tombstone.tombstone_id))
    done = {each.step for each in known if each.done_at}
    for name, go in STEPS.items():
        while name not in done:
            began = time.monotonic()
            try:
                made = await go(rt, subject, tombstone)
            except KnowledgeUnavailable as error:
                raise StepError(name, error.reason) from error
            ERASURE_ROWS.labels(name).inc(made.affected)
            if made.finished:
                break
            await asyncio.sleep(REST * (time.monotonic() - began))


async def _note(conn: Connection, subject: Subject, tombstone: Tombstone, name: str, done: Done) -> Done:
    """The go is on record in the transaction of its effects."""
    id = tombstone.tombstone_id
    await tombstones.note_step(conn, subject, id, name, done.affected, done=done.finished, detail=done.detail)
    await tombstones.touch(conn, subject, id)
    return done


async def _knowledge(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """What the knowledge side has of the user is gone there; an offer that may still arrive is waited for."""
    patience = rt.policy.knowledge.ingest_deadline_s + PATIENCE_S
    async with rt.db.erasing(subject) as conn:
        found = await erase.documents(conn, subject, tombstone.tombstone_id, patience)
    if any(each.in_flight for each in found):
        raise StepError("knowledge", "something is on its way there", waiting=True)
    ids = tuple(dict.fromkeys(each.document_id or str(each.resource_id) for each in found))
    if ids and not rt.knowledge.configured:
        raise StepError("knowledge", "not_configured")
    if ids:
        user_id = subject.user_id if rt.policy.knowledge.send_user else ""
        scope = Scope(subject.tenant_id, user_id=user_id)
        await rt.knowledge.delete(scope, ids, deadline_s=rt.policy.knowledge.ingest_deadline_s)
    async with rt.db.erasing(subject) as conn:
        if ids:
            await knowledge.changed(conn, Scope(subject.tenant_id))
        return await _note(conn, subject, tombstone, "knowledge", Done(len(ids), finished=True))


async def _reduce(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Receipts of packages that are gone are figures of nobody."""
    async with rt.db.erasing(subject) as conn:
        found = await erase.hidden_receipts(conn, subject, tombstone.tombstone_id, RECEIPTS)
        made = [replace(each, details=reduce.figures(each.details)) for each in found]
        affected = await erase.reduce(conn, subject, tombstone.tombstone_id, made) if made else 0
        return await _note(conn, subject, tombstone, "receipts", Done(affected, finished=len(found) < RECEIPTS))


async def _strip(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Receipts of other packages name nothing of it."""
    affected, after = 0, FIRST
    while tombstone.scope in ("session", "items"):
        async with rt.db.erasing(subject) as conn:
            ids = await erase.named_by(conn, subject, tombstone)
            found = await erase.other_receipts(conn, subject, tombstone, after, RECEIPTS)
            made = [
                Receipt(r.context_id, r.receipt_type, bare) for r in found if (bare := reduce.without(r.details, ids))
            ]
            affected += await erase.strip(conn, subject, tombstone.tombstone_id, made) if made else 0
        if len(found) < RECEIPTS:
            break
        after = (found[-1].context_id, found[-1].receipt_type)
    async with rt.db.erasing(subject) as conn:
        return await _note(conn, subject, tombstone, "other_receipts", Done(affected, finished=True))


def _table(table: LiteralString) -> Go:
    async def go(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
        most = rt.policy.erasure.batch_rows
        async with rt.db.erasing(subject) as conn:
            gone, finished = await erase.delete(conn, subject, tombstone.tombstone_id, table, most)
            return await _note(conn, subject, tombstone, table, Done(gone, finished=finished))

    return go


async def _sweep(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Nothing leads to what is gone."""
    async with rt.db.erasing(subject) as conn:
        gone = await erase.sweep(conn, subject, tombstone)
        return await _note(conn, subject, tombstone, "sweep", Done(gone, finished=True))


STEPS: dict[str, Go] = {
    "knowledge": _knowledge,
    "receipts": _reduce,
    "other_receipts": _strip,
    **{table: _table(table) for table in DELETED},
    "sweep": _sweep,
}
"""In their order: what leads elsewhere first, while the rows that lead there still stand."""
