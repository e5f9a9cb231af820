"""The extent of an erasure: turns of sessions, all versions of memories, and the memories derived from either."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from schemas.vocabulary import ErasureScope
from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class ErasureExtent:
    """The ids that a tombstone covers; `all` and `personal` cover everything of the user, whatever is listed.

    With `until`, which only a restore sets, only the listed ids are covered, and packages up to that time, because the
    user has later data.
    """

    scope: ErasureScope
    sessions: tuple[str, ...] = ()
    turns: tuple[UUID, ...] = ()
    memories: tuple[UUID, ...] = ()
    observations: tuple[UUID, ...] = ()
    until: datetime | None = None

    @property
    def whole(self) -> bool:
        """Whether it covers all data of the user."""
        return self.scope in ("all", "personal") and self.until is None


_SESSION_TURNS: LiteralString = """
SELECT turn_id FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s) AND tombstone_id IS NULL
"""
_KNOWN_SESSIONS: LiteralString = """
SELECT session_id FROM sessions WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""
_FROM_TURNS: LiteralString = """
SELECT memory_id FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND (source_turn_id = ANY(%(turns)s) OR (provenance ?| '{merged,amended,carried}' AND source_turns && %(turns)s)
        OR memory_id IN (SELECT observation_id FROM observations
            WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s)))
"""


async def known_sessions(conn: Connection, subject: Subject, sessions: Iterable[str]) -> set[str]:
    """The existing ones of these sessions."""
    params = {**subject.params, "sessions": list(sessions)}
    return {row["session_id"] for row in await (await conn.execute(_KNOWN_SESSIONS, params)).fetchall()}


async def of_sessions(conn: Connection, subject: Subject, sessions: Sequence[str]) -> ErasureExtent:
    """The extent of an erasure of these sessions: their turns, and every memory stated in them."""
    params: dict[str, Any] = {**subject.params, "sessions": list(sessions)}
    turns = [row["turn_id"] for row in await (await conn.execute(_SESSION_TURNS, params)).fetchall()]
    return ErasureExtent("session", tuple(sessions), tuple(turns), await from_turns(conn, subject, turns))


async def from_turns(conn: Connection, subject: Subject, turns: Sequence[UUID]) -> tuple[UUID, ...]:
    """Every memory stated in these turns."""
    params: dict[str, Any] = {**subject.params, "turns": list(turns)}
    return tuple([row["memory_id"] for row in await (await conn.execute(_FROM_TURNS, params)).fetchall()])


_KNOWN_MEMORIES: LiteralString = """
SELECT memory_id FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(memories)s) AND tombstone_id IS NULL
"""
_TOGETHER: LiteralString = """
WITH RECURSIVE together AS (
    SELECT memory_id, root_id, superseded_by, supersedes, provenance ->> 'amended' AS amended FROM memory_items
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND memory_id = ANY(%(memories)s)
    UNION
    SELECT m.memory_id, m.root_id, m.superseded_by, m.supersedes, m.provenance ->> 'amended'
    FROM memory_items m JOIN together t
        ON m.root_id = t.root_id OR m.memory_id = t.superseded_by OR m.memory_id = ANY(t.supersedes)
            OR m.superseded_by = t.memory_id OR m.memory_id::text = t.amended
            OR m.provenance ->> 'amended' = t.memory_id::text
    WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.tombstone_id IS NULL
)
SELECT memory_id FROM together
"""
_BEHIND: LiteralString = """
SELECT observation_id FROM observations WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND (observation_id = ANY(%(memories)s) OR related_memory_id = ANY(%(memories)s))
"""


async def known_memories(conn: Connection, subject: Subject, memories: Iterable[UUID]) -> set[UUID]:
    """The existing ones of these memories."""
    params = {**subject.params, "memories": list(memories)}
    return {row["memory_id"] for row in await (await conn.execute(_KNOWN_MEMORIES, params)).fetchall()}


async def of_items(conn: Connection, subject: Subject, memories: Sequence[UUID]) -> ErasureExtent:
    """The extent of an erasure of these memories: all versions of each, merged memories, and the
    observations behind them.
    """
    params: dict[str, Any] = {**subject.params, "memories": list(memories)}
    together = [row["memory_id"] for row in await (await conn.execute(_TOGETHER, params)).fetchall()]
    named = list({*memories, *together})
    found = await (await conn.execute(_BEHIND, {**params, "memories": named})).fetchall()
    return ErasureExtent("items", (), (), tuple(together), tuple(row["observation_id"] for row in found))
