"""shown_lists: the memories shown under numbers. Written and read by compose; ids only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from shared.db import Connection, Read
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class ShownList:
    """The memories last shown in a session, in the order of their numbers."""

    facts: tuple[UUID, ...] = ()
    notes: tuple[UUID, ...] = ()

    def find(self, kind: str, number: int) -> UUID | None:
        """The memory with this number."""
        ids = self.notes if kind == "note" else self.facts
        return ids[number - 1] if 1 <= number <= len(ids) else None


_LOAD: LiteralString = """
SELECT facts, notes FROM shown_lists
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


def load(subject: Subject, session_id: str) -> Read[ShownList | None]:
    """The list last shown in the session; None without one."""
    params = {**subject.params, "session": session_id}
    return Read(_LOAD, params, lambda rows: ShownList(*map(tuple, rows[0].values())) if rows else None)


_PUT: LiteralString = """
INSERT INTO shown_lists AS l (tenant_id, user_id, session_id, facts, notes)
VALUES (%(tenant)s, %(user)s, %(session)s, %(facts)s, %(notes)s)
ON CONFLICT (tenant_id, user_id, session_id) DO UPDATE SET facts = excluded.facts, notes = excluded.notes,
    shown_at = now(), epoch = current_setting('app.epoch')::integer
"""


async def put(
    conn: Connection, subject: Subject, session_id: str, facts: Sequence[UUID], notes: Sequence[UUID]
) -> None:
    """Sets the list to which numbers in this session refer."""
    await conn.execute(_PUT, {**subject.params, "session": session_id, "facts": list(facts), "notes": list(notes)})
