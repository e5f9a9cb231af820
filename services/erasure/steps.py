"""The steps of an erasure, one per store: each deletes a bounded number of rows at a time and reports when it is
done."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from schemas.topics import DEAD_LETTER_TEXT_HOURS
from services.erasure import reduce
from services.erasure.topics.purge import Purged, purge
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.errors import SmartBrainError
from shared.knowledge.port import KnowledgeUnavailable, Scope
from shared.metrics.catalogue import show_from_start
from shared.metrics.erasure import ERASURE_ROWS
from shared.runtime import Runtime
from shared.store import knowledge
from shared.store.erasure import delete, progress, tombstones
from shared.store.erasure.delete import DELETED, Document, StoredReceipt
from shared.store.erasure.tombstones import Tombstone

REST = 0.5
"""After each batch the worker pauses for this share of the time it took, because others use the same database."""
PATIENCE_S = 5.0
"""The time after its deadline within which an ingest may still arrive."""
CONSUMED_S = 5.0
"""How long the worker waits until records from before the erasure are consumed; later ones are dropped unread. Replies
that somebody may still wait for stay for a minute: retention deletes them, and the proof says by when."""
RECEIPTS = 200
DOCUMENTS = 200
"""The maximum per request."""
FIRST = (UUID(int=0), "")


class StepError(SmartBrainError):
    """A store could not be erased now; `store` names it, `waiting` says that it only needs time."""

    def __init__(self, store: str, reason: str, *, waiting: bool = False) -> None:
        super().__init__(f"{store}: {reason}")
        self.store = store
        self.reason = reason
        self.waiting = waiting


@dataclass(frozen=True)
class Done:
    """The result of one pass of a step; not `finished` if rows are left."""

    affected: int
    finished: bool
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


Go = Callable[[Runtime, Subject, Tombstone], Awaitable[Done]]


async def run(rt: Runtime, subject: Subject, tombstone: Tombstone) -> None:
    """Runs all remaining steps in order; StepError names a store that fails."""
    async with rt.db.as_erasure(subject) as conn:
        known = await progress.steps(subject, tombstone.tombstone_id).on(conn)
    done = {each.step for each in known if each.done_at}
    for name, go in STEPS.items():
        while name not in done:
            began = time.monotonic()
            try:
                outcome = await go(rt, subject, tombstone)
            except KnowledgeUnavailable as error:
                raise StepError(name, error.reason, waiting=error.reason == "circuit_open") from error
            ERASURE_ROWS.labels(name).inc(outcome.affected)
            if outcome.finished:
                break
            await asyncio.sleep(REST * (time.monotonic() - began))


async def _note(conn: Connection, subject: Subject, tombstone: Tombstone, name: str, done: Done) -> Done:
    """Records the pass in the transaction of its effects."""
    id = tombstone.tombstone_id
    await progress.note_step(conn, subject, id, name, done.affected, done=done.finished, detail=done.detail)
    await tombstones.touch(conn, subject, id)
    return done


async def _knowledge(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Deletes the user's documents from the knowledge side, and waits for an ingest that may still arrive."""
    patience = rt.policy.knowledge.ingest_deadline_s + PATIENCE_S
    async with rt.db.as_erasure(subject) as conn:
        deleted = await delete.documents(conn, subject, tombstone.tombstone_id, patience)
    if any(each.in_flight for each in deleted):
        raise StepError("knowledge", "an ingest is still under way", waiting=True)
    if deleted and not rt.knowledge.configured:
        raise StepError("knowledge", "not_configured")
    by_name: dict[Scope, list[Document]] = {}
    for each in deleted:
        named = Scope(subject.tenant_id, each.org_id, user_id=subject.user_id if each.user_named else "")
        by_name.setdefault(named, []).append(each)
    for scope, documents in by_name.items():
        await _delete(rt, scope, documents)
    async with rt.db.as_erasure(subject) as conn:
        for org_id in sorted({each.org_id for each in deleted}):
            await knowledge.note_change(conn, Scope(subject.tenant_id, org_id))
        if deleted:
            await delete.offer_again(conn, subject, tombstone.tombstone_id)
        return await _note(conn, subject, tombstone, "knowledge", Done(len(deleted), finished=True))


async def _delete(rt: Runtime, scope: Scope, found: Sequence[Document]) -> None:
    """Deletes the documents, with the owner under which they were ingested."""
    for n in range(0, len(found), DOCUMENTS):
        some = found[n : n + DOCUMENTS]
        await rt.knowledge.delete(
            scope,
            list(dict.fromkeys(each.document_id for each in some if each.document_id)),
            keys=[str(each.key) for each in some if not each.document_id],
            deadline_s=rt.policy.knowledge.ingest_deadline_s,
        )


async def _reduce(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Reduces receipts of erased packages to anonymous figures."""
    async with rt.db.as_erasure(subject) as conn:
        found = await delete.hidden_receipts(conn, subject, tombstone.tombstone_id, RECEIPTS)
        made = [replace(each, details=reduce.figures(each.details)) for each in found]
        affected = await delete.reduce(conn, subject, tombstone.tombstone_id, made) if made else 0
        return await _note(conn, subject, tombstone, "receipts", Done(affected, finished=len(found) < RECEIPTS))


async def _strip(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Removes erased ids from receipts of other packages."""
    affected, after = 0, FIRST
    while tombstone.scope in ("session", "items"):
        async with rt.db.as_erasure(subject) as conn:
            ids = await delete.named_by(conn, subject, tombstone)
            receipts = await delete.other_receipts(conn, subject, tombstone, after, RECEIPTS)
            stripped = [
                StoredReceipt(r.context_id, r.receipt_type, bare)
                for r in receipts
                if (bare := reduce.without(r.details, ids))
            ]
            affected += await delete.strip(conn, subject, tombstone.tombstone_id, stripped) if stripped else 0
        if len(receipts) < RECEIPTS:
            break
        after = (receipts[-1].context_id, receipts[-1].receipt_type)
    async with rt.db.as_erasure(subject) as conn:
        return await _note(conn, subject, tombstone, "other_receipts", Done(affected, finished=True))


def _table(table: LiteralString) -> Go:
    async def go(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
        most = rt.policy.erasure.batch_rows
        async with rt.db.as_erasure(subject) as conn:
            gone, finished = await delete.delete(conn, subject, tombstone.tombstone_id, table, most)
            return await _note(conn, subject, tombstone, table, Done(gone, finished=finished))

    return go


async def _broker(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Deletes the data from topics that carry text, including dead letters; the proof says how long any may stay. The
    words of a single memory cannot be separated from their message: retention deletes them. The same applies without a
    broker, which happens only in a restore.
    """
    detail: dict[str, Any] = {
        "clear_by": (tombstone.requested_at + timedelta(hours=DEAD_LETTER_TEXT_HOURS)).isoformat()
    }
    removed = 0
    if tombstone.scope in ("all", "session") and rt.kafka.bootstrap:
        purged = await purge_topics(rt, subject, tombstone)
        removed = sum(purged.removed.values())
        clear_by = purged.clear_by.isoformat() if purged.clear_by else None
        detail = {"removed": dict(purged.removed), "unreadable": purged.unreadable, "clear_by": clear_by}
    async with rt.db.as_erasure(subject) as conn:
        return await _note(conn, subject, tombstone, "broker", Done(removed, finished=True, detail=detail))


async def purge_topics(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Purged:
    """Runs the purge, and retries it for a short time if records are not consumed yet."""
    sessions = tombstone.session_ids if tombstone.scope == "session" else None
    until = time.monotonic() + CONSUMED_S
    while True:
        async with rt.db.system() as conn:
            await tombstones.lock_purge(conn)
            purged = await purge(rt.kafka, subject, tombstone.requested_at, sessions=sessions)
        if not purged.unconsumed or time.monotonic() > until:
            return purged
        await asyncio.sleep(1)


async def _sweep(rt: Runtime, subject: Subject, tombstone: Tombstone) -> Done:
    """Deletes references to erased rows."""
    async with rt.db.as_erasure(subject) as conn:
        gone = await delete.sweep(conn, subject, tombstone)
        return await _note(conn, subject, tombstone, "sweep", Done(gone, finished=True))


STEPS: dict[str, Go] = {
    "knowledge": _knowledge,
    "receipts": _reduce,
    "other_receipts": _strip,
    **{table: _table(table) for table in DELETED},
    "sweep": _sweep,
    "broker": _broker,
}
"""The order of the steps: other systems first, while the rows that refer to them still exist."""
show_from_start(ERASURE_ROWS, ((name,) for name in STEPS))
