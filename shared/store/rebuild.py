"""Copies one user's log into a scratch schema, and replaces the live memories with those derived there.

Statements run on connections of the scratch schema; live tables are named with their schema.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from shared.db import SCHEMA, Connection
from shared.domain.subjects import Subject
from shared.domain.tables import TABLES
from shared.store.model_answers import CachedAnswer
from shared.store.upkeep import Upkeep

_OPEN: LiteralString = """
SELECT count(*) AS n FROM smart_brain.turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND outcome_at IS NULL
"""


async def open_turns(conn: Connection, subject: Subject) -> int:
    """The number of the user's turns without an outcome."""
    row = await (await conn.execute(_OPEN, subject.params)).fetchone()
    return row["n"] if row else 0


_LIVE: LiteralString = """
SELECT memory_id, to_jsonb(m) AS row FROM smart_brain.memory_items m
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
_REBUILT: LiteralString = """
SELECT memory_id, to_jsonb(m) AS row FROM memory_items m WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
Rows = dict[UUID, dict[str, Any]]
"""Versions of memories with all their columns, by id."""


async def live(conn: Connection, subject: Subject) -> Rows:
    """The live memories of the user."""
    return await _rows(conn, _LIVE, subject)


async def rebuilt(conn: Connection, subject: Subject) -> Rows:
    """The memories derived in the scratch schema."""
    return await _rows(conn, _REBUILT, subject)


async def _rows(conn: Connection, statement: LiteralString, subject: Subject) -> Rows:
    return {row["memory_id"]: row["row"] for row in await (await conn.execute(statement, subject.params)).fetchall()}


@dataclass(frozen=True, slots=True)
class SettledObservation:
    """The result of an observation and its time; `at` orders all changes of the user's memories."""

    observation_id: UUID
    state: str
    at: datetime | None


_SETTLED: LiteralString = """
SELECT observation_id, state, settled_at AS at FROM smart_brain.observations
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


async def load_settled(conn: Connection, subject: Subject) -> list[SettledObservation]:
    """All observations of the user, unordered."""
    return [SettledObservation(**row) for row in await (await conn.execute(_SETTLED, subject.params)).fetchall()]


_JOURNAL: LiteralString = """
SELECT upkeep_id, job, memory_ids, detail, at FROM smart_brain.upkeep
WHERE tenant_id = %(tenant)s AND user_id = %(user)s ORDER BY at, upkeep_id
"""


async def journal(conn: Connection, subject: Subject) -> list[Upkeep]:
    """All other changes of the user's memories, in order."""
    found = await (await conn.execute(_JOURNAL, subject.params)).fetchall()
    rows: list[dict[str, Any]] = [{**row, "memory_ids": tuple(row["memory_ids"])} for row in found]
    return [Upkeep(**row) for row in rows]


_COPIED: tuple[LiteralString, ...] = tuple(table.name for table in TABLES if table.rebuilt == "copied")
_IN_PART: Mapping[LiteralString, LiteralString] = {
    "turns": """
INSERT INTO turns SELECT * FROM smart_brain.turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND unlearnt_by IS NULL
""",
    "conversation_events": """
INSERT INTO conversation_events SELECT e.* FROM smart_brain.conversation_events e
JOIN turns t USING (tenant_id, user_id, turn_id) WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s
""",
}
"""Tables of which only rows not erased are copied; all rows of the user are copied from the others."""
_UNOBSERVED: LiteralString = """
UPDATE turns SET observed_at = NULL, outcome = NULL WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


async def copy_log(conn: Connection, subject: Subject) -> None:
    """Copies the user's sessions, turns and events to the scratch schema; nothing is observed there."""
    for table in _COPIED:
        await conn.execute(_IN_PART.get(table) or _to_copy(table), subject.params)
    await conn.execute(_UNOBSERVED, subject.params)


def _to_copy(table: LiteralString) -> LiteralString:
    """The statement that copies the user's rows of the table to the scratch schema."""
    return (
        "INSERT INTO " + table + " SELECT * FROM smart_brain." + table
        + " WHERE tenant_id = %(tenant)s AND user_id = %(user)s"
    )  # fmt: skip


_COPY_ADVICE: LiteralString = """
INSERT INTO proposals SELECT * FROM smart_brain.proposals
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND evidence ? 'advice'
"""


async def copy_advice(conn: Connection, subject: Subject) -> None:
    """Copies the models' verdicts on memories to the scratch schema."""
    await conn.execute(_COPY_ADVICE, subject.params)


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """An observed turn, and the time of its outcome."""

    turn_id: UUID
    policy_version: str
    outcome_at: datetime | None
    lost: bool


_PLACES: LiteralString = """
SELECT t.turn_id, t.policy_version, t.outcome_at, t.outcome ->> 'status' = 'quarantined' AND NOT EXISTS (
    SELECT FROM smart_brain.observations o
    WHERE (o.tenant_id, o.user_id, o.turn_id) = (t.tenant_id, t.user_id, t.turn_id)) IS TRUE AS lost
FROM smart_brain.turns t
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.observed_at IS NOT NULL AND t.unlearnt_by IS NULL
ORDER BY t.observed_at, t.committed_at, t.seq
"""


async def places(conn: Connection, subject: Subject) -> list[MemoryPlace]:
    """The observed turns, in order of observation; `lost` ones were given up."""
    return [MemoryPlace(**row) for row in await (await conn.execute(_PLACES, subject.params)).fetchall()]


@dataclass(frozen=True, slots=True)
class Derived:
    """An observation in the scratch schema and its position in the turn."""

    observation_id: UUID
    turn_id: UUID
    ordinal: int
    span_start: int


_DERIVED: LiteralString = """
SELECT observation_id, turn_id, ordinal, span_start FROM observations
WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""


async def load_derived(conn: Connection, subject: Subject) -> list[Derived]:
    """The new observations, unordered."""
    return [Derived(**row) for row in await (await conn.execute(_DERIVED, subject.params)).fetchall()]


_QUEUE: LiteralString = """
UPDATE observations o SET created_at = q.at FROM unnest(%(ids)s::uuid[], %(at)s::timestamptz[]) AS q(id, at)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.observation_id = q.id
"""
_BAR: LiteralString = """
UPDATE observations SET state = 'blocked'
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND NOT observation_id = ANY(%(ids)s)
"""


async def queue(conn: Connection, subject: Subject, order: Sequence[tuple[UUID, datetime]]) -> None:
    """Orders these observations for the evolver, and hides all others."""
    given = {**subject.params, "ids": [each for each, _ in order], "at": [at for _, at in order]}
    await conn.execute(_QUEUE, given)
    await conn.execute(_BAR, given)


_ANSWERS: LiteralString = """
SELECT input_hash, purpose, prompt_version, model, said, turn_id, answer FROM smart_brain.model_cache
WHERE tenant_id = %(tenant)s AND user_id = %(user)s ORDER BY created_at, input_hash
"""


async def answers(conn: Connection, subject: Subject) -> list[CachedAnswer]:
    """The model answers about the user's turns, oldest first."""
    return [CachedAnswer(**row) for row in await (await conn.execute(_ANSWERS, subject.params)).fetchall()]


_EPOCH: LiteralString = """
SELECT coalesce((SELECT epoch FROM smart_brain.erasure_epochs
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s), 0) AS epoch
"""


async def epoch(conn: Connection, subject: Subject) -> int:
    """The number of the user's erasures."""
    row = await (await conn.execute(_EPOCH, subject.params)).fetchone()
    return row["epoch"] if row else 0


_IN_EPOCH: tuple[LiteralString, ...] = (
    "SELECT set_config('app.epoch', %(epoch)s::text, true)",
    "UPDATE memory_items SET epoch = %(epoch)s WHERE tenant_id = %(tenant)s AND user_id = %(user)s",
)
_KEEP_STATS: LiteralString = """
SELECT FROM smart_brain.search_stats WHERE tenant_id = %(tenant)s AND user_id = %(user)s FOR UPDATE
"""
_DATED: LiteralString = """
UPDATE memory_items r SET created_at = l.created_at FROM smart_brain.memory_items l
WHERE r.tenant_id = %(tenant)s AND r.user_id = %(user)s AND l.memory_id = r.memory_id
    AND l.tenant_id = r.tenant_id AND l.user_id = r.user_id
"""
_REPLACE: tuple[LiteralString, ...] = (
    """
DELETE FROM smart_brain.memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
""",
    """
INSERT INTO smart_brain.memory_items SELECT * FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
""",
)
_OTHER_CHUNKS: LiteralString = """
SELECT memory_id FROM
    (SELECT memory_id, text, active, term_count, language FROM smart_brain.memory_chunks
     WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id IS NOT NULL) AS l
FULL JOIN
    (SELECT memory_id, text, active, term_count, language FROM memory_chunks
     WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id IS NOT NULL) AS r USING (memory_id)
WHERE (l.text, l.active, l.term_count, l.language) IS DISTINCT FROM (r.text, r.active, r.term_count, r.language)
"""
_RECHUNK: tuple[LiteralString, ...] = (
    """
DELETE FROM smart_brain.postings WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND chunk_id IN (
    SELECT chunk_id FROM smart_brain.memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
    UNION ALL
    SELECT chunk_id FROM memory_chunks
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s))
""",
    """
DELETE FROM smart_brain.memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
""",
    """
INSERT INTO smart_brain.memory_chunks (tenant_id, user_id, chunk_id, memory_id, ordinal, session_id, active, text,
    term_count, language, normalizer_version, said_at, static_vector, static_model_id)
SELECT tenant_id, user_id, chunk_id, memory_id, ordinal, session_id, active, text, term_count, language,
    normalizer_version, said_at, static_vector, static_model_id
FROM memory_chunks WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
""",
    """
INSERT INTO smart_brain.postings SELECT p.* FROM postings p JOIN memory_chunks c USING (tenant_id, user_id, chunk_id)
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND c.memory_id = ANY(%(ids)s)
""",
    """
INSERT INTO smart_brain.search_stats (tenant_id, user_id, chunks, terms)
SELECT %(tenant)s, %(user)s, count(*), coalesce(sum(term_count), 0) FROM smart_brain.memory_chunks
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND active
ON CONFLICT (tenant_id, user_id) DO UPDATE SET chunks = excluded.chunks, terms = excluded.terms
""",
    "DELETE FROM smart_brain.vector_pages WHERE tenant_id = %(tenant)s AND user_id = %(user)s",
)


async def replace(conn: Connection, subject: Subject, ids: Collection[UUID]) -> None:
    """Replaces these memories with the derived ones or deletes them, with their search rows. The caller holds the lock.

    Chunks with unchanged text keep their vectors; the others get new ones, those of an encoder later.
    """
    whose = subject.params
    await conn.execute("SET LOCAL synchronous_commit = on")
    for statement in _IN_EPOCH:
        await conn.execute(statement, {**whose, "epoch": await epoch(conn, subject)})
    await conn.execute(_KEEP_STATS, whose)
    await conn.execute(_DATED, whose)
    for statement in _REPLACE:
        await conn.execute(statement, {**whose, "ids": list(ids)})
    other = {row["memory_id"] for row in await (await conn.execute(_OTHER_CHUNKS, whose)).fetchall()}
    for statement in _RECHUNK:
        await conn.execute(statement, {**whose, "ids": list(other)})


async def leave_scratch(conn: Connection) -> None:
    """Switches this transaction to the live schema."""
    await conn.execute(f"SET LOCAL search_path TO {SCHEMA}, public")
