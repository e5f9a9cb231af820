"""session_summaries: written by observer, one row per version; read by compose."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString

import orjson

from shared.db import Connection, Read
from shared.domain.subjects import Subject


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
    level: Literal["working", "archived"] = "working"
    block_from_seq: int | None = None
    block_text: str | None = None


_LATEST: LiteralString = """
SELECT session_id, version, reason, text, summary_json, source_from_seq, source_to_seq, model_id, generated_at, level,
    block_from_seq, block_text
FROM session_summaries WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
    AND text IS NOT NULL AND (%(before)s::integer IS NULL OR version < %(before)s)
ORDER BY version DESC LIMIT 1
"""


def latest(subject: Subject, session_id: str, before: int | None = None) -> Read[SummaryRow | None]:
    """The newest summary of the session, or the newest before that version, if any."""
    params = {**subject.params, "session": session_id, "before": before}
    return Read(_LATEST, params, lambda rows: SummaryRow(**rows[0]) if rows else None)


_BLOCKS: LiteralString = """
SELECT version, block_from_seq AS from_seq, source_to_seq AS to_seq, block_text AS text, generated_at, model_id
FROM session_summaries s WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
    AND level = 'archived' AND block_text IS NOT NULL
    AND NOT EXISTS (SELECT FROM session_summaries n WHERE n.tenant_id = %(tenant)s AND n.user_id = %(user)s
        AND n.session_id = %(session)s AND n.block_from_seq = s.block_from_seq AND n.block_text IS NOT NULL
        AND n.version > s.version)
ORDER BY version DESC LIMIT %(most)s
"""


def blocks(subject: Subject, session_id: str, most: int) -> Read[list[Mapping[str, Any]]]:
    """The summary blocks of the latest archived parts of the session, limited, oldest first, each
    once in its current state.
    """
    return Read(_BLOCKS, {**subject.params, "session": session_id, "most": most}, lambda rows: list(reversed(rows)))


_ARCHIVED_TO: LiteralString = """
SELECT coalesce(max(source_to_seq), 0) AS seq FROM session_summaries
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s AND level = 'archived'
"""


async def archived_to(conn: Connection, subject: Subject, session_id: str) -> int:
    """The last turn of the session in an archived part; 0 without one."""
    row = await (await conn.execute(_ARCHIVED_TO, {**subject.params, "session": session_id})).fetchone()
    return row["seq"] if row else 0


_REACHED: LiteralString = """
SELECT coalesce(max(source_to_seq), 0) AS seq FROM session_summaries
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s AND model_id <> %(rules)s
"""


async def reached_by_model(conn: Connection, subject: Subject, session_id: str, rules: str) -> int:
    """The last turn that a model was shown for a summary, `rules` being the name without a model; 0 without one."""
    row = await (await conn.execute(_REACHED, {**subject.params, "session": session_id, "rules": rules})).fetchone()
    return row["seq"] if row else 0


_NEWEST: LiteralString = """
SELECT coalesce(max(version), 0) AS version FROM session_summaries
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


async def newest(conn: Connection, subject: Subject, session_id: str) -> int:
    """The number of the session's newest version, erased ones included; 0 without one."""
    row = await (await conn.execute(_NEWEST, {**subject.params, "session": session_id})).fetchone()
    return row["version"] if row else 0


_PUT: LiteralString = """
INSERT INTO session_summaries (tenant_id, user_id, session_id, version, reason, text, summary_json, source_from_seq,
    source_to_seq, model_id, level, block_from_seq, block_text)
SELECT %(tenant)s, %(user)s, %(session_id)s, %(version)s, %(reason)s, %(text)s, %(summary_json)s::jsonb,
    %(source_from_seq)s, %(source_to_seq)s, %(model_id)s, %(level)s, %(block_from_seq)s, %(block_text)s
FROM (SELECT cleared_seq FROM sessions
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session_id)s FOR SHARE) AS s
WHERE s.cleared_seq < %(source_from_seq)s
"""


async def put(conn: Connection, subject: Subject, summary: SummaryRow) -> None:
    """Stores the version, unless the summarised turns were cleared in the meantime.

    A concurrent write of the same version raises TransientError.
    """
    row: Mapping[str, Any] = {
        **vars(summary),
        "summary_json": orjson.dumps(summary.summary_json).decode(),
        **subject.params,
    }
    await conn.execute(_PUT, row)


_CLEAR: LiteralString = """
DELETE FROM session_summaries WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


_BEGIN_AFRESH: LiteralString = """
UPDATE sessions SET cleared_seq = next_seq - 1, summary_seq = next_seq - 1, open_tokens = 0
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""
_CLEARED_TO: LiteralString = """
SELECT cleared_seq FROM sessions WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND session_id = %(session)s
"""


async def load_cleared_to(conn: Connection, subject: Subject, session_id: str) -> int:
    """The last turn of the session before its summary was cleared; 0 if it never was."""
    row = await (await conn.execute(_CLEARED_TO, {**subject.params, "session": session_id})).fetchone()
    return row["cleared_seq"] if row else 0


async def clear(conn: Connection, subject: Subject, session_id: str) -> int:
    """Deletes versions; their number. The next summary starts with later turns."""
    params = {**subject.params, "session": session_id}
    # first, so that a concurrent version is complete and deleted too
    await conn.execute(_BEGIN_AFRESH, params)
    return (await conn.execute(_CLEAR, params)).rowcount
