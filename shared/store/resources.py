"""resources: parts of turns for the knowledge side. Written by observer; librarian changes the state."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class Requested:
    """A resource as the observer found it: `pending`, or `skipped` with a reason."""

    resource_id: UUID
    turn_id: UUID
    session_id: str
    ordinal: int
    ref_type: str
    source_type: str
    uri_hash: str
    state: str
    reason: str | None = None
    org_id: str = ""


_REQUEST: LiteralString = """
INSERT INTO resources (tenant_id, user_id, resource_id, turn_id, session_id, ordinal, ref_type, source_type, uri_hash,
    state, reason, org_id, settled_at)
SELECT %(tenant)s, %(user)s, r.resource_id, r.turn_id, r.session_id, r.ordinal, r.ref_type, r.source_type, r.uri_hash,
    r.state, r.reason, r.org_id, CASE WHEN r.state <> 'pending' THEN now() END
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(resource_id uuid, turn_id uuid, session_id text, ordinal integer,
    ref_type text, source_type text, uri_hash text, state text, reason text, org_id text)
ON CONFLICT DO NOTHING RETURNING resource_id, state
"""


async def request(conn: Connection, subject: Subject, rows: Iterable[Requested]) -> set[UUID]:
    """Stores the resources; the new ones to be ingested."""
    given = orjson.dumps(list(rows)).decode()
    if given == "[]":
        return set()
    found = await (await conn.execute(_REQUEST, {**subject.params, "rows": given})).fetchall()
    return {row["resource_id"] for row in found if row["state"] == "pending"}


@dataclass(frozen=True, slots=True)
class Pending:
    """A pending resource, and its number of attempts."""

    resource_id: UUID
    turn_id: UUID
    ordinal: int
    uri_hash: str
    org_id: str
    attempts: int


_PENDING: LiteralString = """
SELECT resource_id, turn_id, ordinal, uri_hash, org_id, attempts FROM resources
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND resource_id = ANY(%(ids)s) AND state = 'pending'
ORDER BY requested_at, ordinal
"""


async def load_pending(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[Pending]:
    """Those of the resources that are pending."""
    params = {**subject.params, "ids": list(ids)}
    return [Pending(**row) for row in await (await conn.execute(_PENDING, params)).fetchall()]


_OFFERED: LiteralString = """
UPDATE resources SET offered_at = clock_timestamp(), user_named = %(named)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND resource_id = %(id)s AND state = 'pending'
"""


async def may_offer(conn: Connection, subject: Subject, resource_id: UUID, *, user_named: bool) -> bool:
    """Whether it may be sent to the knowledge side now; an erasure waits until it is settled or times out."""
    return bool((await conn.execute(_OFFERED, {**subject.params, "id": resource_id, "named": user_named})).rowcount)


_KNOWN: LiteralString = """
SELECT org_id, uri_hash, content_hash FROM resources
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state = 'ingested' AND uri_hash = ANY(%(hashes)s)
    AND user_named = %(named)s
"""
Sign = tuple[str, str, str | None]
"""Organisation, address and content, which identify the same resource."""


async def load_known(conn: Connection, subject: Subject, uri_hashes: Iterable[str], *, user_named: bool) -> set[Sign]:
    """The user's resources on the knowledge side, in the user's name or in none."""
    params = {**subject.params, "hashes": list(uri_hashes), "named": user_named}
    rows = await (await conn.execute(_KNOWN, params)).fetchall()
    return {(row["org_id"], row["uri_hash"], row["content_hash"]) for row in rows}


@dataclass(frozen=True, slots=True)
class SettledResource:
    """The result of one attempt."""

    resource_id: UUID
    state: str
    reason: str | None = None
    document_id: str | None = None
    content_hash: str | None = None


_SETTLE: LiteralString = """
UPDATE resources r SET state = s.state, reason = s.reason, document_id = s.document_id, content_hash = s.content_hash,
    attempts = r.attempts + 1, offered_at = NULL, settled_at = CASE WHEN s.state <> 'pending' THEN now() END
FROM jsonb_to_recordset(%(rows)s::jsonb) AS s(resource_id uuid, state text, reason text, document_id text,
    content_hash text)
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND r.resource_id = s.resource_id AND r.state = 'pending'
RETURNING r.state
"""


async def settle(conn: Connection, subject: Subject, settled: Iterable[SettledResource]) -> list[str]:
    """Records the results of pending ones; their states."""
    rows = orjson.dumps(list(settled)).decode()
    return [row["state"] for row in await (await conn.execute(_SETTLE, {**subject.params, "rows": rows})).fetchall()]


_OVERDUE: LiteralString = """
SELECT tenant_id, user_id, resource_id, turn_id, session_id, ref_type, source_type, uri_hash FROM resources
WHERE state = 'pending' AND requested_at < now() - %(grace)s ORDER BY requested_at LIMIT %(limit)s
"""


async def overdue(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Resources of all users pending longer than the grace period, oldest first (ids and hashes only)."""
    return await (await conn.execute(_OVERDUE, {"grace": grace, "limit": limit})).fetchall()


@dataclass(frozen=True, slots=True)
class ListedResource:
    """A resource with text from the log; None if that was erased."""

    resource_id: UUID
    turn_id: UUID
    session_id: str
    ordinal: int
    ref_type: str
    source_type: str
    state: str
    reason: str | None
    attempts: int
    document_id: str | None
    requested_at: datetime
    settled_at: datetime | None
    ref_uri: str | None
    title: str | None
    name: str | None


_PAGE: LiteralString = """
SELECT r.resource_id, r.turn_id, r.session_id, r.ordinal, r.ref_type, r.source_type, r.state, r.reason, r.attempts,
    r.document_id, r.requested_at, r.settled_at, e.content ->> 'ref_uri' AS ref_uri,
    e.content ->> 'title' AS title, e.name
FROM resources r LEFT JOIN conversation_events e
    ON (e.tenant_id, e.user_id, e.turn_id, e.ordinal) = (r.tenant_id, r.user_id, r.turn_id, r.ordinal)
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND (%(state)s::text IS NULL OR r.state = %(state)s)
    AND (%(turn)s::uuid IS NULL OR r.turn_id = %(turn)s)
ORDER BY r.requested_at DESC, r.resource_id DESC LIMIT %(limit)s
"""


async def page(
    conn: Connection, subject: Subject, *, state: str | None, turn_id: UUID | None, limit: int
) -> list[ListedResource]:
    """The user's resources, newest first."""
    params = {**subject.params, "state": state, "turn": turn_id, "limit": limit}
    return [ListedResource(**row) for row in await (await conn.execute(_PAGE, params)).fetchall()]
