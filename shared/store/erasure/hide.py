"""Hides what an erasure covers, in the transaction that requests it: statements of role smartbrain_erasure.

After that commit, nothing covered is visible to packages, pages and workers. `shared.domain.tables` defines what
happens to each table's rows: some get the tombstone's id and are deleted later; the log, summaries and packages keep a
skeleton without text; rows with a natural key (names, counters, media) are deleted at once, because the next message
may create the same key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.tables import TABLES, Table
from shared.store import pages
from shared.store.erasure.extent import ErasureExtent


@dataclass
class HiddenCounts:
    """The numbers of rows that the erasure has hidden, emptied or deleted, by table."""

    rows: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, table: str, count: int) -> None:
        """Adds to the number of a table."""
        if count:
            self.rows[table] = self.rows.get(table, 0) + count

    @property
    def total(self) -> int:
        """The sum over all tables."""
        return sum(self.rows.values())


_WHOSE: LiteralString = "tenant_id = %(tenant)s AND user_id = %(user)s"
_COVERED: Mapping[LiteralString, LiteralString] = {
    "observation_id": "observation_id = ANY(%(observations)s)",
    "turn_id": "turn_id = ANY(%(turns)s)",
    "memory_id": "memory_id = ANY(%(memories)s)",
    "memory_ids": "memory_ids <> '{}' AND memory_ids <@ %(memories)s",
    "session_id": "session_id = ANY(%(sessions)s)",
}
"""The column that identifies the rows of an erasure of a session or of items, by table."""
_COVERED_UNTIL: Mapping[LiteralString, LiteralString] = {**_COVERED, "session_id": "created_at <= %(until)s"}
"""The same if the user has later data, possibly in the same sessions."""
_ALSO: Mapping[LiteralString, LiteralString] = {
    "observations": """, state = CASE WHEN state IN ('new', 'analyzed') THEN 'blocked' ELSE state END,
        reason = CASE WHEN state IN ('new', 'analyzed') THEN 'erased' ELSE reason END""",
    "memory_items": ", status = 'erased', invalid_at = coalesce(invalid_at, now()), root_id = gen_random_uuid()",
    "memory_chunks": ", active = false",
}
"""Ends pending work. A version of a line that continues must not block its next version."""


async def hide_rows(conn: Connection, subject: Subject, tombstone_id: UUID, covered: ErasureExtent) -> HiddenCounts:
    """Hides the covered rows of marked tables from everybody but erasures, and deletes vector pages."""
    params = _params(subject, tombstone_id, covered)
    hidden = HiddenCounts()
    hidden.add("vector_pages", await pages.drop(conn, subject))
    for table in TABLES:
        if not table.is_marked or covered.scope in table.spared_by:
            continue
        which: LiteralString = "" if covered.whole else "AND (" + _which(table, covered) + ")"
        statement: LiteralString = (
            "UPDATE " + table.name + " SET tombstone_id = %(tombstone)s" + _ALSO.get(table.name, "")
            + " WHERE " + _WHOSE + " AND tombstone_id IS NULL " + which
        )  # fmt: skip
        hidden.add(table.name, (await conn.execute(statement, params)).rowcount)
    return hidden


def _which(table: Table, covered: ErasureExtent) -> LiteralString:
    """The condition for the table's rows covered by an erasure of a session or of items."""
    tests = _COVERED if covered.until is None else _COVERED_UNTIL
    return " OR ".join([tests[column] for column in table.found_by])


def _params(subject: Subject, tombstone_id: UUID, covered: ErasureExtent) -> dict[str, Any]:
    return {
        **subject.params,
        "tombstone": tombstone_id,
        "sessions": list(covered.sessions),
        "turns": list(covered.turns),
        "memories": list(covered.memories),
        "observations": list(covered.observations),
        "until": covered.until,
    }


_OF_TURNS: LiteralString = " AND turn_id = ANY(%(turns)s)"
_OF_SESSIONS: LiteralString = " AND session_id = ANY(%(sessions)s)"
_EMPTIED: LiteralString = """
UPDATE turns SET tombstone_id = %(tombstone)s, unlearnt_by = %(tombstone)s, request_hash = '', recalled = NULL,
    experiment = NULL, org_id = NULL, result = (result - 'command') || '{"ignored_fields": [], "redacted": []}',
    outcome = jsonb_build_object('event_type', 'turn.outcome', 'turn_id', turn_id, 'status', 'erased'),
    observed_at = coalesce(observed_at, now()), outcome_at = coalesce(outcome_at, now())
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
"""
_UNLEARNT: LiteralString = """
UPDATE turns SET unlearnt_by = %(tombstone)s, recalled = NULL,
    outcome = CASE WHEN outcome_at IS NULL
        THEN jsonb_build_object('event_type', 'turn.outcome', 'turn_id', turn_id, 'status', 'erased') ELSE outcome END,
    observed_at = coalesce(observed_at, now()), outcome_at = coalesce(outcome_at, now())
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND unlearnt_by IS NULL
"""
_SILENCED: LiteralString = """
UPDATE conversation_events SET content = NULL, meta_json = NULL, name = NULL, tombstone_id = %(tombstone)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
"""
_MEDIA_NAMED: LiteralString = """
DELETE FROM media WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND media_id IN (
    SELECT b.block ->> 'media_id' FROM conversation_events, jsonb_array_elements(content -> 'blocks') AS b(block)
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND content_schema_version = 1 AND turn_id = ANY(%(turns)s)
    EXCEPT
    SELECT b.block ->> 'media_id' FROM conversation_events, jsonb_array_elements(content -> 'blocks') AS b(block)
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND content_schema_version = 1 AND turn_id <> ALL(%(turns)s))
"""
_SUMMARIES: LiteralString = """
UPDATE session_summaries SET text = NULL, summary_json = NULL, block_text = NULL, tombstone_id = %(tombstone)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
"""
_SESSIONS_ENDED: LiteralString = """
UPDATE sessions SET entity_slots = '{}', open_tokens = 0, summary_seq = next_seq - 1, tombstone_id = %(tombstone)s,
    epoch = current_setting('app.epoch')::integer
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
_UNNAMED: LiteralString = """
UPDATE sessions SET metadata_json = '{}'
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND metadata_json <> '{}'
"""
_SILENT: LiteralString = """
    AND NOT EXISTS (SELECT FROM turns t WHERE (t.tenant_id, t.user_id, t.session_id)
        = (sessions.tenant_id, sessions.user_id, sessions.session_id) AND t.tombstone_id IS NULL)
"""
"""Deletes what could be read of sessions."""
_SESSIONS_UNLEARNT: LiteralString = """
UPDATE sessions SET entity_slots = '{}', open_tokens = 0, summary_seq = next_seq - 1,
    epoch = current_setting('app.epoch')::integer
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
_PACKAGES: LiteralString = """
UPDATE context_packages SET plan = NULL, package = NULL, tombstone_id = %(tombstone)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
"""
_AT_ONCE: tuple[Table, ...] = tuple(table for table in TABLES if table.fate == "delete" and not table.goes_with)
_WITH_MEMORY: tuple[Table, ...] = tuple(table for table in _AT_ONCE if "personal" not in table.spared_by)
_WITH_THE_LOG: tuple[Table, ...] = tuple(table for table in _AT_ONCE if "personal" in table.spared_by)
_BY_TURN: tuple[Table, ...] = tuple(table for table in _AT_ONCE if "turn_id" in table.found_by)
_UNMENTIONED: tuple[LiteralString, ...] = (
    """
DELETE FROM entities e WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND NOT EXISTS (
    SELECT FROM entity_mentions m WHERE (m.tenant_id, m.user_id, m.entity_id) = (e.tenant_id, e.user_id, e.entity_id)
        AND m.tombstone_id IS NULL)
""",
    """
UPDATE entities e SET mention_count = m.count, first_seen_at = m.first, last_seen_at = m.last, aliases = '{}'
FROM (SELECT entity_id, count(*) FILTER (WHERE tombstone_id IS NULL) AS count,
        min(said_at) FILTER (WHERE tombstone_id IS NULL) AS first,
        max(said_at) FILTER (WHERE tombstone_id IS NULL) AS last
    FROM entity_mentions WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    GROUP BY entity_id HAVING bool_or(tombstone_id = %(tombstone)s)) AS m
WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.entity_id = m.entity_id
""",
)
_RECOUNT: LiteralString = """
UPDATE search_stats SET (chunks, terms, names) = (
    SELECT count(*), coalesce(sum(term_count), 0),
        coalesce(array_agg(DISTINCT name) FILTER (WHERE name IS NOT NULL AND role <> 'tool'), '{}')
    FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND active AND tombstone_id IS NULL)
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
_STRIP: tuple[LiteralString, ...] = (
    "DELETE FROM shown_lists WHERE tenant_id = %(tenant)s AND user_id = %(user)s",
    """
UPDATE memory_items m SET superseded_by = CASE WHEN superseded_by = ANY(%(memories)s) THEN NULL ELSE superseded_by END,
    supersedes = ARRAY(SELECT s FROM unnest(supersedes) AS s WHERE s <> ALL(%(memories)s)),
    source_turns = ARRAY(SELECT s FROM unnest(source_turns) AS s WHERE s <> ALL(%(turns)s)),
    source_sessions = ARRAY(SELECT s FROM unnest(source_sessions) AS s WHERE s <> ALL(%(sessions)s))
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND (superseded_by = ANY(%(memories)s)
    OR supersedes && %(memories)s OR source_turns && %(turns)s OR source_sessions && %(sessions)s)
""",
    """
UPDATE upkeep SET memory_ids = ARRAY(SELECT m FROM unnest(memory_ids) AS m WHERE m <> ALL(%(memories)s))
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND memory_ids && %(memories)s
""",
    """
UPDATE injections SET core_ids = ARRAY(SELECT m FROM unnest(core_ids) AS m WHERE m <> ALL(%(memories)s)),
    evidence_ids = ARRAY(SELECT m FROM unnest(evidence_ids) AS m WHERE m <> ALL(%(memories)s)),
    used_ids = ARRAY(SELECT m FROM unnest(used_ids) AS m WHERE m <> ALL(%(memories)s)),
    fingerprints = '{}', pieces = '{}'
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND (core_ids && %(memories)s OR evidence_ids && %(memories)s)
""",
    """
UPDATE injections SET fingerprints = '{}', pieces = '{}' WHERE tenant_id = %(tenant)s AND user_id = %(user)s
    AND tombstone_id IS NULL AND fingerprints <> '{}' AND %(sessions)s <> '{}'
""",
)
_REVIVED: LiteralString = """
UPDATE memory_items m SET status = 'active', invalid_at = NULL, superseded_by = NULL, updated_at = now()
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND status = 'merged'
    AND superseded_by = ANY(%(memories)s) AND (valid_until IS NULL OR valid_until > now())
    AND NOT EXISTS (SELECT FROM memory_items o WHERE (o.tenant_id, o.user_id, o.type) = (m.tenant_id, m.user_id, m.type)
        AND o.status = 'active' AND o.tombstone_id IS NULL
        AND (o.key = m.key OR (m.key IS NULL AND o.key IS NULL AND o.content_hash = m.content_hash)))
RETURNING memory_id
"""


def _to_delete(table: Table) -> LiteralString:
    """The statement that deletes the user's rows of the table."""
    return "DELETE FROM " + table.name + " WHERE " + _WHOSE


async def blank_texts(
    conn: Connection, subject: Subject, tombstone_id: UUID, covered: ErasureExtent, hidden: HiddenCounts
) -> list[UUID]:
    """Hides or empties everything else that the tombstone covers, and adds to `hidden`.

    Returns memories that had been merged into a covered one: they are active again and must return to search.
    """
    params = _params(subject, tombstone_id, covered)

    async def run(table: str, statement: LiteralString) -> None:
        hidden.add(table, (await conn.execute(statement, params)).rowcount)

    await run("context_packages", _PACKAGES)
    if covered.whole:
        await run("session_summaries", _SUMMARIES)
        for table in _WITH_MEMORY:
            await run(table.name, _to_delete(table))
        if covered.scope == "all":
            await run("conversation_events", _SILENCED)
            await run("turns", _EMPTIED)
            for table in _WITH_THE_LOG:
                await run(table.name, _to_delete(table))
            await conn.execute(_UNNAMED, params)
            await conn.execute(_SESSIONS_ENDED, params)
        else:
            await run("turns", _UNLEARNT)
            await conn.execute(_SESSIONS_UNLEARNT, params)
        return []
    if covered.scope == "personal":
        await run("turns", _UNLEARNT + _OF_TURNS)
    elif covered.turns:
        await run("media", _MEDIA_NAMED)
        await run("conversation_events", _SILENCED + _OF_TURNS)
        await run("turns", _EMPTIED + _OF_TURNS)
    for table in _BY_TURN:
        await run(table.name, _to_delete(table) + _OF_TURNS)
    if covered.sessions:
        await run("session_summaries", _SUMMARIES + _OF_SESSIONS)
        await conn.execute(_SESSIONS_UNLEARNT + _OF_SESSIONS, params)
        if covered.scope != "personal":
            await conn.execute(_UNNAMED + _OF_SESSIONS, params)
            await conn.execute(_SESSIONS_ENDED + _SILENT + _OF_SESSIONS, params)
    revived = [row["memory_id"] for row in await (await conn.execute(_REVIVED, params)).fetchall()]
    for statement in (*_STRIP, *_UNMENTIONED, _RECOUNT):
        await conn.execute(statement, params)
    return revived
