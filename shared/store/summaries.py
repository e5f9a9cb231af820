"""session_summaries: written by observer, one row a version; read by compose."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import orjson

from shared.db import Connection, Read, Subject


@dataclass(frozen=True)
class SummaryRow:
    """One version of a session's summary; it covers the turns `source_from_seq` to `source_to_seq`."""

    session_id: str
    version: int
    reason: str
    text: str
    summary_json: dict[str, Any]
    source_from_seq: int
    source_to_seq: int
    model_id: str
    generated_at: datetime | None = None


_LATEST: LiteralString = """
SELECT session_id, version, reason, text, summary_json, source_from_seq, source_to_seq, model_id, generated_at
FROM session_summaries WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
    AND text IS NOT NULL
ORDER BY version DESC LIMIT 1
"""


def latest(subject: Subject, session_id: str) -> Read[SummaryRow | None]:
    """The newest summary of the session, if it has one."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "session": session_id}
    return Read(_LATEST, params, lambda rows: SummaryRow(**rows[0]) if rows else None)


_PUT: LiteralString = """
INSERT INTO session_summaries (tenant_id, user_id, session_id, version, reason, text, summary_json, source_from_seq,
    source_to_seq, model_id)
VALUES (%(tenant)s, %(user)s, %(session_id)s, %(version)s, %(reason)s, %(text)s, %(summary_json)s::jsonb,
    %(source_from_seq)s, %(source_to_seq)s, %(model_id)s)
"""


async def put(conn: Connection, subject: Subject, summary: SummaryRow) -> None:
    """The version stands; another observer's write of the same version raises TransientError."""
    row: Mapping[str, Any] = {
        **vars(summary),
        "summary_json": orjson.dumps(summary.summary_json).decode(),
        "tenant": subject.tenant_id,
        "user": subject.user_id,
    }
    await conn.execute(_PUT, row)


_CLEAR: LiteralString = """
DELETE FROM session_summaries WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


async def clear(conn: Connection, subject: Subject, session_id: str) -> int:
    """How many versions were removed; the next summary starts afresh."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "session": session_id}
    return (await conn.execute(_CLEAR, params)).rowcount
