"""memory_items over time: the versions of one line, and the memories as of a past time."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.store import memory

RESTORED = "restored"
"""The provenance field with the source of a restored version: an older version, or a statement in conflict."""

_LINE: LiteralString = """
SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
UNION
SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND root_id = ANY(%(roots)s)
"""


async def line(conn: Connection, subject: Subject, memory_id: UUID) -> list[Memory]:
    """Every predecessor and successor of this version, over all merged roots, oldest first; empty if unknown."""
    versions: dict[UUID, Memory] = {}
    ids, roots = {memory_id}, set[UUID]()
    while ids or roots:
        params = {**subject.params, "ids": list(ids), "roots": list(roots)}
        rows = await (await conn.execute(_LINE, params)).fetchall()
        fresh = await memory.by_ids(conn, subject, {row["memory_id"] for row in rows} - versions.keys())
        followed = {m.root_id for m in versions.values()} | roots
        versions |= {m.memory_id: m for m in fresh}
        ids = {other for m in fresh for other in list_beside(m)} - versions.keys() - ids
        roots = {m.root_id for m in fresh} - followed
    return in_order(versions.values())


def list_beside(each: Memory) -> set[UUID]:
    return {*each.supersedes, *((each.superseded_by,) if each.superseded_by else ())}


def in_order(found: Iterable[Memory]) -> list[Memory]:
    """Oldest first by validity, but each after those that it supersedes and after earlier versions of its root."""
    by_id = {m.memory_id: m for m in found}
    before: dict[UUID, set[UUID]] = {m: set(each.supersedes) & by_id.keys() for m, each in by_id.items()}
    latest: dict[UUID, UUID] = {}
    for each in sorted(by_id.values(), key=lambda m: m.version):
        if each.root_id in latest:
            before[each.memory_id].add(latest[each.root_id])
        latest[each.root_id] = each.memory_id
    after: dict[UUID, list[UUID]] = {m: [] for m in by_id}
    for each, earlier in before.items():
        for other in earlier:
            after[other].append(each)
    ready = [(by_id[m].valid_at, m) for m, earlier in before.items() if not earlier]
    heapq.heapify(ready)
    ordered: list[Memory] = []
    while ready:
        _, at = heapq.heappop(ready)
        ordered.append(by_id[at])
        for later in after[at]:
            before[later].discard(at)
            if not before[later]:
                heapq.heappush(ready, (by_id[later].valid_at, later))
    return ordered


def follow(chain: Sequence[Memory], memory_id: UUID | None) -> Memory | None:
    """The last successor of the version of a line; None if it does not exist."""
    by_id = {m.memory_id: m for m in chain}
    at = by_id.get(memory_id) if memory_id else None
    for _ in chain:
        if at is None or at.superseded_by is None:
            return at
        at = by_id.get(at.superseded_by)
    return None


def end_of(found: Sequence[Memory]) -> Memory | None:
    """The newest version of an ordered line that is not superseded."""
    return next((m for m in reversed(found) if m.superseded_by is None), None)


_SUCCEED: LiteralString = """
UPDATE memory_items SET superseded_by = %(by)s, updated_at = now()
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s) AND status <> 'active'
    AND superseded_by IS NULL
"""


async def succeed(conn: Connection, subject: Subject, fresh: Memory) -> None:
    """Links ended versions without a successor to the new version; their status stays."""
    await conn.execute(_SUCCEED, {**subject.params, "ids": list(fresh.supersedes), "by": fresh.memory_id})


_SUPERSEDE_AGAIN: LiteralString = """
UPDATE memory_items SET superseded_by = %(by)s, updated_at = now()
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = %(id)s AND status <> 'active'
"""


async def supersede_again(conn: Connection, subject: Subject, memory_id: UUID, by: UUID) -> None:
    """Lets a merged version be followed by a separate one."""
    await conn.execute(_SUPERSEDE_AGAIN, {**subject.params, "id": memory_id, "by": by})


_SETTLE: LiteralString = """
UPDATE conflicts c SET state = CASE WHEN m.status = 'active' THEN 'kept' ELSE 'replaced' END, closed_at = %(at)s
FROM memory_items m
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.memory_id = ANY(%(ids)s) AND c.state = 'open'
    AND (m.tenant_id, m.user_id, m.memory_id) = (c.tenant_id, c.user_id, c.memory_id)
"""


async def settle(conn: Connection, subject: Subject, ids: Iterable[UUID], at: datetime) -> None:
    """Closes conflicts about these versions after a choice of the user: kept if they hold, replaced if they ended."""
    await conn.execute(_SETTLE, {**subject.params, "ids": list(ids), "at": at})


_HELD: LiteralString = (
    """
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND valid_at <= %(at)s
    AND (invalid_at IS NULL OR invalid_at > %(at)s) AND (valid_until IS NULL OR valid_until > %(at)s)
    AND status <> 'erased'"""
    + memory.LISTED_TYPE
    + "\n"
)
_PAGE: LiteralString = (
    "SELECT memory_id, count(*) OVER () AS n"
    + _HELD
    + "ORDER BY valid_at DESC, memory_id DESC LIMIT %(limit)s OFFSET %(offset)s"
)
_COUNT: LiteralString = "SELECT count(*) AS n" + _HELD
_WORDS: LiteralString = "SELECT memory_id, content_text AS text" + _HELD + "ORDER BY valid_at DESC, memory_id DESC"


@dataclass(frozen=True)
class Held:
    """One version that held at the time, and its text."""

    memory_id: UUID
    text: str


async def load_held(
    conn: Connection,
    subject: Subject,
    at: datetime,
    *,
    type: str | None = None,  # the column name
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Memory], int]:
    """A page of the versions that held at that time, newest validity first, and their total number."""
    whose = {**subject.params, "at": at, "type": type}
    rows = await (await conn.execute(_PAGE, {**whose, "limit": limit, "offset": offset})).fetchall()
    if rows:
        return await load_ordered(conn, subject, [row["memory_id"] for row in rows]), rows[0]["n"]
    row = await (await conn.execute(_COUNT, whose)).fetchone()
    return [], row["n"] if row else 0


async def words_held(conn: Connection, subject: Subject, at: datetime, type: str | None = None) -> list[Held]:
    """All versions that held at that time with text, newest validity first."""
    whose = {**subject.params, "at": at, "type": type}
    return [Held(**row) for row in await (await conn.execute(_WORDS, whose)).fetchall()]


async def load_ordered(conn: Connection, subject: Subject, ids: Sequence[UUID]) -> list[Memory]:
    """These versions in this order."""
    by_id = {m.memory_id: m for m in await memory.by_ids(conn, subject, ids)}
    return [by_id[each] for each in ids if each in by_id]
