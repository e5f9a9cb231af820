"""Deletes the rows that an erasure has hidden, store by store, a limited number at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.tables import TABLES
from shared.store.erasure.tombstones import Tombstone

DELETED: tuple[LiteralString, ...] = tuple(table.name for table in TABLES if table.fate == "hide")


def to_params(subject: Subject, tombstone_id: UUID) -> dict[str, Any]:
    return {**subject.params, "id": tombstone_id}


_DELETE: LiteralString = """ WHERE ctid = ANY(ARRAY(SELECT ctid FROM """
_WHICH: LiteralString = """
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s LIMIT %(limit)s))
"""
_CHUNKS: LiteralString = """
WITH gone AS (
    DELETE FROM memory_chunks WHERE ctid = ANY(ARRAY(SELECT ctid FROM memory_chunks
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s LIMIT %(limit)s))
    RETURNING chunk_id
), found AS (
    DELETE FROM postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id IN (SELECT chunk_id FROM gone)
)
SELECT count(*) AS n FROM gone
"""
A_CHUNK = 20
"""The number of rows that a chunk with its postings counts as."""


async def delete(
    conn: Connection, subject: Subject, tombstone_id: UUID, table: LiteralString, limit: int
) -> tuple[int, bool]:
    """Deletes hidden rows of the table, at most `limit`; their number, and whether none is left.

    Chunks are deleted with their search rows.
    """
    params = to_params(subject, tombstone_id)
    if table == "memory_chunks":
        most = max(1, limit // A_CHUNK)
        row = await (await conn.execute(_CHUNKS, {**params, "limit": most})).fetchone()
        gone: int = row["n"] if row else 0
        return gone, gone < most
    statement: LiteralString = "DELETE FROM " + table + _DELETE + table + _WHICH
    gone = (await conn.execute(statement, {**params, "limit": limit})).rowcount
    return gone, gone < limit


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt and its content."""

    context_id: UUID
    receipt_type: str
    details: dict[str, Any]


_HIDDEN_RECEIPTS: LiteralString = """
SELECT context_id, receipt_type, details FROM memory_receipts
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s LIMIT %(limit)s
"""
_AS_NOBODY: LiteralString = "SELECT set_config('app.erased', 'erased:' || %(id)s::text, true)"
_REDUCE: LiteralString = """
UPDATE memory_receipts r SET user_id = 'erased:' || %(id)s::text, session_id = '', request_id = NULL,
    details = d.details
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(context_id uuid, receipt_type text, details jsonb)
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND r.context_id = d.context_id
    AND r.receipt_type = d.receipt_type
"""


async def hidden_receipts(conn: Connection, subject: Subject, tombstone_id: UUID, limit: int) -> list[StoredReceipt]:
    """Receipts that are to become anonymous figures."""
    params = {**to_params(subject, tombstone_id), "limit": limit}
    return [StoredReceipt(**row) for row in await (await conn.execute(_HIDDEN_RECEIPTS, params)).fetchall()]


async def reduce(conn: Connection, subject: Subject, tombstone_id: UUID, receipts: Sequence[StoredReceipt]) -> int:
    """Makes receipts anonymous with this content; their number."""
    params = {**to_params(subject, tombstone_id), "rows": _rows(receipts)}
    await conn.execute(_AS_NOBODY, params)
    return (await conn.execute(_REDUCE, params)).rowcount


_ABOUT: LiteralString = """
SELECT array(SELECT memory_id::text FROM memory_items
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s)
    || %(named)s::text[]
    || array(SELECT turn_id::text FROM turns
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s)
    || array(SELECT unnest(ARRAY[resource_id::text, document_id]) FROM resources
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s)
    || array(SELECT document_id FROM promotions
        WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s) AS ids
"""
_OTHER_RECEIPTS: LiteralString = """
SELECT context_id, receipt_type, details FROM memory_receipts
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND epoch < %(epoch)s
    AND (context_id, receipt_type) > (%(after)s, %(type)s)
ORDER BY context_id, receipt_type LIMIT %(limit)s
"""
_STRIP: LiteralString = """
UPDATE memory_receipts r SET details = d.details
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(context_id uuid, receipt_type text, details jsonb)
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND r.context_id = d.context_id
    AND r.receipt_type = d.receipt_type
"""


async def named_by(conn: Connection, subject: Subject, tombstone: Tombstone) -> set[str]:
    """Ids of memories, turns and documents that no receipt may contain."""
    named = [str(each) for each in tombstone.memory_ids]
    params = {**to_params(subject, tombstone.tombstone_id), "named": named}
    row = await (await conn.execute(_ABOUT, params)).fetchone()
    return {each for each in row["ids"] if each} if row else set()


async def other_receipts(
    conn: Connection, subject: Subject, tombstone: Tombstone, after: tuple[UUID, str], limit: int
) -> list[StoredReceipt]:
    """Receipts of earlier packages that the erasure leaves, in id order."""
    params = {**to_params(subject, tombstone.tombstone_id), "epoch": tombstone.epoch, "limit": limit}
    found = await conn.execute(_OTHER_RECEIPTS, {**params, "after": after[0], "type": after[1]})
    return [StoredReceipt(**row) for row in await found.fetchall()]


async def strip(conn: Connection, subject: Subject, tombstone_id: UUID, receipts: Sequence[StoredReceipt]) -> int:
    """Replaces the content of receipts; their number."""
    return (await conn.execute(_STRIP, {**to_params(subject, tombstone_id), "rows": _rows(receipts)})).rowcount


def _rows(receipts: Sequence[StoredReceipt]) -> str:
    return orjson.dumps(
        [{**{n: getattr(r, n) for n in ("receipt_type", "details")}, "context_id": str(r.context_id)} for r in receipts]
    ).decode()


@dataclass(frozen=True, slots=True)
class Document:
    """A resource or promotion that the knowledge side has or is about to get; `key` is its idempotency key."""

    key: UUID
    document_id: str | None
    org_id: str
    user_named: bool
    in_flight: bool


_DOCUMENTS: LiteralString = """
SELECT resource_id AS key, document_id, org_id, user_named,
    offered_at IS NOT NULL AND offered_at > clock_timestamp() - make_interval(secs => %(patience)s) AS in_flight
FROM resources WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s
    AND (document_id IS NOT NULL OR offered_at IS NOT NULL OR attempts > (state = 'skipped')::integer)
    AND (attempts <> 1 OR reason IS DISTINCT FROM 'knowledge_not_configured')
UNION ALL
SELECT proposal_id, document_id, org_id, false,
    offered_at IS NOT NULL AND offered_at > clock_timestamp() - make_interval(secs => %(patience)s)
FROM promotions WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s
    AND write_requested_at IS NOT NULL
"""


async def documents(conn: Connection, subject: Subject, tombstone_id: UUID, patience_s: float) -> list[Document]:
    """Hidden resources and promotions that the knowledge side has, or may have after a request without a response.

    `in_flight` if a librarian may still be offering it.
    """
    params = {**to_params(subject, tombstone_id), "patience": patience_s}
    return [Document(**row) for row in await (await conn.execute(_DOCUMENTS, params)).fetchall()]


_OFFER_AGAIN: LiteralString = """
UPDATE resources r SET state = 'pending', reason = NULL, settled_at = NULL, requested_at = now(), attempts = 0
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND state = 'skipped'
    AND reason = 'known_already' AND EXISTS (SELECT FROM resources g
        WHERE g.tenant_id = r.tenant_id AND g.user_id = r.user_id AND g.tombstone_id = %(id)s
            AND g.uri_hash = r.uri_hash AND g.content_hash = r.content_hash AND g.org_id = r.org_id)
"""


async def offer_again(conn: Connection, subject: Subject, tombstone_id: UUID) -> int:
    """Marks resources whose document the erasure deleted as pending again; their number."""
    return (await conn.execute(_OFFER_AGAIN, to_params(subject, tombstone_id))).rowcount


_SWEEP: tuple[LiteralString, ...] = (
    """
DELETE FROM postings p WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND NOT EXISTS (SELECT FROM memory_chunks c
    WHERE (c.tenant_id, c.user_id, c.chunk_id) = (p.tenant_id, p.user_id, p.chunk_id))
""",
    "DELETE FROM agent_experience WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND %(whole)s",
)


async def sweep(conn: Connection, subject: Subject, tombstone: Tombstone) -> int:
    """Deletes rows that referred to deleted data: postings without chunks, statistics of this user; their number."""
    whole = tombstone.scope in ("all", "personal")
    params = {**to_params(subject, tombstone.tombstone_id), "whole": whole}
    return sum([(await conn.execute(statement, params)).rowcount for statement in _SWEEP])


_OPEN: LiteralString = """
SELECT turn_id, session_id, state <> 'new' AS analyzed, array_agg(observation_id ORDER BY observation_id) AS ids
FROM observations WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state IN ('new', 'analyzed')
    AND tombstone_id IS NULL
GROUP BY turn_id, session_id, state <> 'new'
"""


async def load_waiting(conn: Connection, subject: Subject) -> Sequence[Mapping[str, Any]]:
    """Later statements that can be settled once the fence is down: observations by turn."""
    return await (await conn.execute(_OPEN, subject.params)).fetchall()
