"""conflicts: statements that contradict a stronger memory and did not replace it. Written by evolver."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An observation that contradicts an active memory; open until the memory is confirmed or ends."""

    conflict_id: UUID
    memory_id: UUID
    observation_id: UUID
    kind: str
    opened_at: datetime


_OPEN: LiteralString = """
INSERT INTO conflicts (tenant_id, user_id, conflict_id, memory_id, observation_id, kind, opened_at)
SELECT %(tenant)s, %(user)s, c.conflict_id, c.memory_id, c.observation_id, c.kind, c.opened_at
FROM jsonb_to_recordset(%(rows)s::jsonb) AS c(conflict_id uuid, memory_id uuid, observation_id uuid, kind text,
    opened_at timestamptz)
ON CONFLICT (tenant_id, user_id, memory_id, observation_id) DO NOTHING
"""


async def put(conn: Connection, subject: Subject, conflicts: Sequence[OpenConflict]) -> None:
    """Opens the conflicts; a repeated one changes nothing."""
    if conflicts:
        rows = orjson.dumps(list(conflicts)).decode()
        await conn.execute(_OPEN, {**subject.params, "rows": rows})


_ABOUT: LiteralString = """
SELECT DISTINCT memory_id FROM conflicts
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state = 'open'
"""


async def open_about(conn: Connection, subject: Subject) -> frozenset[UUID]:
    """The memories with an open conflict."""
    found = await conn.execute(_ABOUT, subject.params)
    return frozenset(row["memory_id"] for row in await found.fetchall())


@dataclass(frozen=True, slots=True)
class SettledConflict:
    """A memory that was confirmed and kept, or that ended."""

    memory_id: UUID
    state: Literal["kept", "replaced"]
    at: datetime


_SETTLE: LiteralString = """
UPDATE conflicts c SET state = d.state, closed_at = greatest(d.at, c.opened_at)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(memory_id uuid, state text, at timestamptz)
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.memory_id = d.memory_id AND c.state = 'open'
    AND (d.state = 'replaced' OR c.opened_at <= d.at)
"""


async def settle(conn: Connection, subject: Subject, settled: Sequence[SettledConflict]) -> None:
    """Closes the conflicts about these memories: all of an ended memory, otherwise those opened before.

    Of several decisions about one memory the last counts.
    """
    if settled:
        rows = orjson.dumps(list({each.memory_id: each for each in settled}.values())).decode()
        await conn.execute(_SETTLE, {**subject.params, "rows": rows})
