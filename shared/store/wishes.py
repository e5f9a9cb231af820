"""wishes: the user's latest request about remembering a session. Written by observer, read by compose and observer."""

from collections.abc import Iterable
from typing import LiteralString

import orjson

from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.extraction.standing_wishes import StandingWish, Wishes

_STANDING: LiteralString = """
SELECT session_id, remember, turn_id, since FROM wishes
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = ANY(%(sessions)s)
"""


def load_standing(subject: Subject, sessions: Iterable[str]) -> Read[Wishes]:
    """The wishes of these sessions."""
    params = {**subject.params, "sessions": [*sessions]}
    return Read(_STANDING, params, lambda rows: Wishes(StandingWish(**row) for row in rows))


_PUT: LiteralString = """
INSERT INTO wishes AS w (tenant_id, user_id, session_id, remember, turn_id, since)
SELECT %(tenant)s, %(user)s, r.session_id, r.remember, r.turn_id, r.since
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(session_id text, remember boolean, turn_id uuid, since timestamptz)
ON CONFLICT (tenant_id, user_id, session_id) DO UPDATE
    SET remember = excluded.remember, turn_id = excluded.turn_id, since = excluded.since,
        epoch = current_setting('app.epoch')::integer
    WHERE w.since <= excluded.since
"""


async def put(conn: Connection, subject: Subject, wishes: Iterable[StandingWish]) -> None:
    """Stores these wishes, unless there is a later one."""
    rows = [
        {
            "session_id": each.session_id,
            "remember": each.remember,
            "turn_id": str(each.turn_id),
            "since": each.since.isoformat(),
        }
        for each in wishes
    ]
    if rows:
        await conn.execute(_PUT, {**subject.params, "rows": orjson.dumps(rows).decode()})
