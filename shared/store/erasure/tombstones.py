"""tombstones, erasure_epochs, erasure_suppressions, audit_events: every erasure and its effects.

Written by role smartbrain_erasure in transactions that hold the user's exclusive lock (`Database.as_erasure`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.vocabulary import ErasureScope, TombstoneStatus
from shared.db import Connection, Read
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class Tombstone:
    """One erasure: its scope, its state, and the proof once it is completed."""

    tombstone_id: UUID
    scope: ErasureScope
    session_ids: tuple[str, ...]
    memory_ids: tuple[UUID, ...]
    status: TombstoneStatus
    requested_by: str
    reason: str | None
    idempotency_key: str
    profile: str
    epoch: int
    item_count: int
    row_count: int
    attempts: int
    error: str | None
    history: list[dict[str, Any]]
    proof: dict[str, Any] | None
    requested_at: datetime
    deadline_at: datetime
    next_try_at: datetime
    escalated_at: datetime | None = None
    completed_at: datetime | None = None

    def covers(self, session_id: str) -> bool:
        """Whether memories of this session must not be written while it is open."""
        return self.scope in ("all", "personal") or (self.scope == "session" and session_id in self.session_ids)


_COLUMNS: LiteralString = """
SELECT tombstone_id, scope, session_ids, memory_ids, status, requested_by, reason, idempotency_key, profile, epoch,
    item_count, row_count, attempts, error, history, proof, requested_at, deadline_at, next_try_at, escalated_at,
    completed_at
FROM tombstones WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


def to_tombstones(rows: Iterable[Mapping[str, Any]]) -> list[Tombstone]:
    lists = ("session_ids", "memory_ids")
    found: list[dict[str, Any]] = [{**row, **{name: tuple(row[name]) for name in lists}} for row in rows]
    return [Tombstone(**row) for row in found]


_ONE: LiteralString = _COLUMNS + " AND tombstone_id = %(id)s"


def one(subject: Subject, tombstone_id: UUID) -> Read[Tombstone | None]:
    """The tombstone, if this user has it."""
    return Read(_ONE, {**subject.params, "id": tombstone_id}, lambda rows: next(iter(to_tombstones(rows)), None))


_BY_KEY: LiteralString = _COLUMNS + " AND idempotency_key = %(key)s"


async def by_key(conn: Connection, subject: Subject, key: str) -> Tombstone | None:
    """The tombstone requested with this idempotency key."""
    found = await (await conn.execute(_BY_KEY, {**subject.params, "key": key})).fetchall()
    return next(iter(to_tombstones(found)), None)


_PAGE: LiteralString = _COLUMNS + " ORDER BY requested_at DESC, tombstone_id DESC LIMIT %(limit)s"


def page(subject: Subject, limit: int) -> Read[list[Tombstone]]:
    """The user's erasures, newest first."""
    return Read(_PAGE, {**subject.params, "limit": limit}, to_tombstones)


_IN_FORCE: LiteralString = _COLUMNS + " AND status <> 'completed' ORDER BY requested_at"


async def in_force(conn: Connection, subject: Subject) -> list[Tombstone]:
    """The open erasures, which fence their scope."""
    return to_tombstones(await (await conn.execute(_IN_FORCE, subject.params)).fetchall())


_SUPPRESSED: LiteralString = """
SELECT o.observation_id, s.tombstone_id, s.epoch
FROM jsonb_to_recordset(%(rows)s::jsonb) AS o(observation_id uuid, turn_id uuid, hash text)
JOIN turns t ON t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = o.turn_id
JOIN erasure_suppressions s ON s.tenant_id = %(tenant)s AND s.user_id = %(user)s AND s.content_hash = o.hash
WHERE t.epoch < s.epoch
"""


@dataclass(frozen=True, slots=True)
class SuppressionProbe:
    """The text of an observation, as its content hash."""

    observation_id: UUID
    turn_id: UUID
    hash: str


async def find_suppressed(
    conn: Connection, subject: Subject, said: Iterable[SuppressionProbe]
) -> dict[UUID, tuple[UUID, int]]:
    """Observations from turns before an erasure that repeat erased text: the tombstone and its epoch."""
    rows = [{"observation_id": str(s.observation_id), "turn_id": str(s.turn_id), "hash": s.hash} for s in said]
    params = {**subject.params, "rows": orjson.dumps(rows).decode()}
    found = await (await conn.execute(_SUPPRESSED, params)).fetchall()
    return {row["observation_id"]: (row["tombstone_id"], row["epoch"]) for row in found}


_ERASED: LiteralString = """
SELECT DISTINCT m.id FROM tombstones, unnest(memory_ids) AS m(id)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_ids && %(memories)s AND m.id = ANY(%(memories)s)
"""


async def find_erased(conn: Connection, subject: Subject, memories: Iterable[UUID]) -> set[UUID]:
    """Those of the memories that were erased by id, or with another one."""
    params = {**subject.params, "memories": list(memories)}
    return {row["id"] for row in await (await conn.execute(_ERASED, params)).fetchall()}


_HASHES: LiteralString = """
SELECT DISTINCT content_hash FROM erasure_suppressions
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND content_hash = ANY(%(hashes)s)
"""


async def find_hashes(conn: Connection, subject: Subject, hashes: Iterable[str]) -> set[str]:
    """Those of these texts that any erased memory has."""
    params = {**subject.params, "hashes": list(hashes)}
    return {row["content_hash"] for row in await (await conn.execute(_HASHES, params)).fetchall()}


_BUMP: LiteralString = """
INSERT INTO erasure_epochs AS e (tenant_id, user_id, epoch) VALUES (%(tenant)s, %(user)s, greatest(1, %(least)s))
ON CONFLICT (tenant_id, user_id) DO UPDATE SET epoch = greatest(e.epoch + 1, %(least)s)
RETURNING epoch, set_config('app.epoch', e.epoch::text, true),
    pg_notify('smartbrain_erased', json_build_array(%(tenant)s::text, %(user)s::text, e.epoch)::text)
"""


async def next_epoch(conn: Connection, subject: Subject, least: int = 1) -> int:
    """Starts a new epoch of the user, to which the transaction belongs from now on; `least` if it is known from
    elsewhere.

    On commit, every process that listens for erasures is notified.
    """
    row = await (await conn.execute(_BUMP, {**subject.params, "least": least})).fetchone()
    assert row is not None  # noqa: S101 # an upsert returns its row
    return row["epoch"]


_INSERT: LiteralString = """
INSERT INTO tombstones (tenant_id, user_id, tombstone_id, scope, session_ids, memory_ids, status, requested_by, reason,
    idempotency_key, profile, epoch, item_count, row_count, history, requested_at, deadline_at)
VALUES (%(tenant)s, %(user)s, %(tombstone_id)s, %(scope)s, %(session_ids)s, %(memory_ids)s, %(status)s,
    %(requested_by)s, %(reason)s, %(idempotency_key)s, %(profile)s, %(epoch)s, %(item_count)s, %(row_count)s,
    %(history)s::jsonb, %(requested_at)s, %(deadline_at)s)
"""


async def insert(conn: Connection, subject: Subject, tombstone: Tombstone) -> None:
    """Stores the tombstone."""
    row = {
        **vars(tombstone),
        "session_ids": list(tombstone.session_ids),
        "memory_ids": list(tombstone.memory_ids),
        "history": orjson.dumps(tombstone.history).decode(),
    }
    await conn.execute(_INSERT, {**row, **subject.params})


_MOVE: LiteralString = """
UPDATE tombstones SET status = %(to)s, history = history || %(entry)s::jsonb, attempts = %(attempts)s,
    error = %(error)s,
    next_try_at = now() + %(wait)s, updated_at = now(),
    escalated_at = CASE WHEN %(to)s = 'escalated' THEN now() ELSE escalated_at END,
    completed_at = CASE WHEN %(to)s = 'completed' THEN now() END,
    proof = coalesce(%(proof)s::jsonb, proof)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s AND status = %(from)s
RETURNING extract(epoch FROM now() - requested_at)::float8 AS took
"""


async def move(
    conn: Connection,
    subject: Subject,
    tombstone: Tombstone,
    to: TombstoneStatus,
    *,
    at: datetime,
    attempts: int,
    error: str | None = None,
    wait: timedelta = timedelta(),
    proof: Mapping[str, Any] | None = None,
) -> float | None:
    """Changes the state from the known one to `to`; seconds since the request, or None if another
    process changed it.
    """
    entry = {"from": tombstone.status, "to": to, "at": at.isoformat(), "attempt": attempts, "error": error}
    params = {
        **subject.params,
        "id": tombstone.tombstone_id,
        "from": tombstone.status,
        "to": to,
        "entry": orjson.dumps([entry]).decode(),
        "attempts": attempts,
        "error": error,
        "wait": wait,
        "proof": orjson.dumps(proof).decode() if proof is not None else None,
    }
    row = await (await conn.execute(_MOVE, params)).fetchone()
    return row["took"] if row else None


_TOUCH: LiteralString = """
UPDATE tombstones SET updated_at = now() WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id = %(id)s
"""


async def touch(conn: Connection, subject: Subject, tombstone_id: UUID) -> None:
    """Records that a worker is processing it."""
    await conn.execute(_TOUCH, {**subject.params, "id": tombstone_id})


_SUPPRESS: LiteralString = """
INSERT INTO erasure_suppressions AS s (tenant_id, user_id, content_hash, tombstone_id, epoch)
SELECT DISTINCT %(tenant)s, %(user)s, m.content_hash, %(id)s::uuid, %(epoch)s::integer FROM memory_items m
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.memory_id = ANY(%(memories)s)
ON CONFLICT (tenant_id, user_id, content_hash) DO UPDATE
    SET tombstone_id = excluded.tombstone_id, epoch = excluded.epoch
"""


async def suppress(
    conn: Connection, subject: Subject, tombstone_id: UUID, epoch: int, memories: Sequence[UUID]
) -> None:
    """Prevents the texts of these memories from being learnt again from turns of an older epoch."""
    given = {"id": tombstone_id, "epoch": epoch, "memories": list(memories)}
    await conn.execute(_SUPPRESS, {**subject.params, **given})


_AUDIT: LiteralString = """
INSERT INTO audit_events (tenant_id, user_id, audit_id, kind, tombstone_id, item_count, details)
VALUES (%(tenant)s, %(user)s, %(audit)s, 'erasure.completed', %(id)s, %(items)s, %(details)s::jsonb)
"""


async def audit(
    conn: Connection, subject: Subject, audit_id: UUID, tombstone: Tombstone, details: Mapping[str, Any]
) -> None:
    """Records the completed erasure in the audit, once."""
    told = {"audit": audit_id, "id": tombstone.tombstone_id, "items": tombstone.item_count}
    await conn.execute(_AUDIT, {**subject.params, **told, "details": orjson.dumps(details).decode()})


_OPEN: LiteralString = """
SELECT tenant_id, user_id, tombstone_id, status, profile, attempts, requested_at, deadline_at, next_try_at, updated_at,
    escalated_at
FROM tombstones WHERE status <> 'completed'
"""


async def open_ones(conn: Connection) -> Sequence[Mapping[str, Any]]:
    """The open erasures of all users (ids and times)."""
    return await (await conn.execute(_OPEN)).fetchall()


_DUE: LiteralString = """
SELECT tenant_id, user_id, tombstone_id, scope, session_ids, memory_ids, profile, epoch, attempts, requested_at,
    updated_at
FROM tombstones
WHERE next_try_at <= now()
    AND (status = 'retry_pending' OR status IN ('queued', 'processing', 'failed') AND updated_at < now() - %(grace)s)
ORDER BY next_try_at LIMIT %(limit)s
"""


async def overdue(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Erasures of all users that are due for a retry, or idle for the grace period, oldest first."""
    return await (await conn.execute(_DUE, {"grace": grace, "limit": limit})).fetchall()


_SOLE: LiteralString = "SELECT pg_advisory_xact_lock(727005)"


async def lock_purge(conn: Connection) -> None:
    """Locks the removal of text from the broker until the transaction ends."""
    await conn.execute(_SOLE)


_NOW: LiteralString = "SELECT now() AS now"


async def load_now(conn: Connection) -> datetime:
    """The database's time."""
    row = await (await conn.execute(_NOW)).fetchone()
    assert row is not None  # noqa: S101 # it always returns a row
    return row["now"]
