"""sessions: opened and numbered by compose (commit_turn), updated by observer; governor reads ids and times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection, Read
from shared.domain.subjects import Subject

Slots = Mapping[str, Mapping[str, Any]]
"""The names that represent a session: for each kind and canonical name its spelling, kind, mentions and last_seq."""


@dataclass(frozen=True)
class SessionState:
    """The last turn of a session's summary, the tokens since, and the names that represent the session."""

    session_id: str
    summary_seq: int
    open_tokens: int
    entity_slots: Slots


_STATES: LiteralString = """
SELECT session_id, summary_seq, open_tokens, entity_slots FROM sessions
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""


async def states(conn: Connection, subject: Subject, sessions: Iterable[str]) -> dict[str, SessionState]:
    """The state of the existing ones of these sessions, by session."""
    params = {**subject.params, "sessions": list(sessions)}
    return {r["session_id"]: SessionState(**r) for r in await (await conn.execute(_STATES, params)).fetchall()}


@dataclass(frozen=True)
class Grown:
    """The effect of a batch of turns on a session: `tokens` since the summary, which now reaches to `summary_seq`.

    None leaves the summary unchanged. `ended` is the number of the turn that ended the session, and its time.
    """

    session_id: str
    tokens: int
    slots: Slots
    summary_seq: int | None = None
    ended: tuple[int, datetime] | None = None


_NOTE: LiteralString = """
UPDATE sessions SET
    open_tokens = CASE WHEN %(summary_seq)s::integer IS NULL THEN open_tokens ELSE 0 END + %(tokens)s,
    summary_seq = coalesce(%(summary_seq)s, summary_seq),
    entity_slots = %(slots)s::jsonb,
    archived_at = CASE WHEN next_seq - 1 = %(end_seq)s::integer THEN %(ended_at)s::timestamptz ELSE archived_at END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


async def note(conn: Connection, subject: Subject, grown: Grown) -> None:
    """Updates the session, and archives it if it has no message since its end."""
    end_seq, ended_at = grown.ended or (None, None)
    params = {
        **subject.params,
        "session": grown.session_id,
        "tokens": grown.tokens,
        "summary_seq": grown.summary_seq,
        "slots": orjson.dumps(grown.slots).decode(),
        "end_seq": end_seq,
        "ended_at": ended_at,
    }
    await conn.execute(_NOTE, params)


@dataclass(frozen=True)
class SessionRow:
    """A session and its last turn; `ended` says whether that turn ends it."""

    session_id: str
    last_seq: int
    created_at: datetime
    last_turn_at: datetime
    archived_at: datetime | None
    entity_slots: Slots
    turn_id: UUID
    event_id: UUID
    committed_at: datetime
    ended: bool
    metadata: dict[str, Any]
    remembered: bool = True


_ROWS: LiteralString = """
SELECT s.session_id, s.next_seq - 1 AS last_seq, s.created_at, s.last_turn_at, s.archived_at, s.entity_slots,
    t.turn_id, t.event_id, t.committed_at, EXISTS (SELECT FROM conversation_events e
        WHERE (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id)
        AND e.event_type = 'session_end') AS ended, s.metadata_json AS metadata,
    coalesce(w.remember, true) AND coalesce((u.chosen ->> 'learning')::boolean, true) AS remembered
FROM sessions s JOIN turns t ON (t.tenant_id, t.user_id, t.session_id, t.seq)
    = (s.tenant_id, s.user_id, s.session_id, s.next_seq - 1)
LEFT JOIN wishes w ON (w.tenant_id, w.user_id, w.session_id) = (s.tenant_id, s.user_id, s.session_id)
LEFT JOIN user_settings u ON (u.tenant_id, u.user_id) = (s.tenant_id, s.user_id)
WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s
"""
_ONE: LiteralString = _ROWS + "AND s.tombstone_id IS NULL AND s.session_id = %(session)s"
_LISTING: LiteralString = (
    _ROWS + "AND s.tombstone_id IS NULL ORDER BY s.last_turn_at DESC, s.session_id LIMIT %(limit)s OFFSET %(offset)s"
)


def one(subject: Subject, session_id: str) -> Read[SessionRow | None]:
    """The session, if this user has it."""
    return Read(_ONE, {**subject.params, "session": session_id}, lambda rows: SessionRow(**rows[0]) if rows else None)


def list_sessions(subject: Subject, limit: int, offset: int) -> Read[list[SessionRow]]:
    """The user's sessions, latest activity first."""
    params = {**subject.params, "limit": limit, "offset": offset}
    return Read(_LISTING, params, lambda rows: [SessionRow(**row) for row in rows])


_IDLE: LiteralString = """
SELECT s.tenant_id, s.user_id, s.session_id, s.next_seq FROM sessions s
JOIN turns t ON (t.tenant_id, t.user_id, t.session_id, t.seq) = (s.tenant_id, s.user_id, s.session_id, s.next_seq - 1)
WHERE s.archived_at IS NULL AND s.tombstone_id IS NULL AND s.last_turn_at < now() - %(idle)s
    AND t.committed_at < now() - %(idle)s
ORDER BY s.last_turn_at LIMIT %(limit)s
"""


async def idle(conn: Connection, after: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Open sessions of all users without messages and additions for this long (ids only)."""
    return await (await conn.execute(_IDLE, {"idle": after, "limit": limit})).fetchall()


_COUNTED: LiteralString = """
SELECT e.kind, e.canonical, e.name, count(*) AS mentions, max(t.seq) AS last_seq
FROM turns t JOIN entity_mentions m USING (tenant_id, user_id, turn_id)
    JOIN entities e USING (tenant_id, user_id, entity_id)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = %(session)s
    AND e.kind || ':' || e.canonical = ANY(%(keys)s)
GROUP BY e.kind, e.canonical, e.name ORDER BY mentions DESC, last_seq DESC, e.canonical LIMIT %(most)s
"""


async def count_names(conn: Connection, subject: Subject, session_id: str, slots: Slots, most: int) -> Slots:
    """Those of these names that were mentioned most in the session, counted from its turns."""
    params = {**subject.params, "session": session_id, "keys": list(slots), "most": most}
    found = await (await conn.execute(_COUNTED, params)).fetchall()
    kept = ("name", "kind", "mentions", "last_seq")
    return {f"{row['kind']}:{row['canonical']}": {name: row[name] for name in kept} for row in found}
