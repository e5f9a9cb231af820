"""observations, proposals, conflicts: what turns state, what it should change, and what it contradicts.

Observations are written by observer, proposals by analyzer, conflicts by evolver; analyzer and evolver change states.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, LiteralString
from uuid import UUID

import orjson

from schemas.vocabulary import MemoryType, ProposalAction, Provenance
from shared.db import Connection
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject

if TYPE_CHECKING:  # it imports language code, which takes a second: services that only delete do not need it
    from shared.resolution.operations import Verdict


_INSERT: LiteralString = """
INSERT INTO observations (tenant_id, user_id, observation_id, turn_id, session_id, ordinal, priority, kind, key, value,
    text, assertion, epistemic, polarity, confidence, detector, pattern, language, retracts, old_value, flags,
    valid_until, said_at, input_hash, related_memory_id, span_start, span_end, experiment)
SELECT %(tenant)s, %(user)s, o.observation_id, o.turn_id, o.session_id, o.ordinal, o.priority, o.kind, o.key, o.value,
    o.text, o.assertion, o.epistemic, o.polarity, o.confidence, o.detector, o.pattern, o.language, o.retracts,
    o.old_value, o.flags, o.valid_until, o.said_at, o.input_hash, o.related_memory_id, o.span_start, o.span_end,
    o.experiment
FROM jsonb_to_recordset(%(rows)s::jsonb) AS o(observation_id uuid, turn_id uuid, session_id text, ordinal integer,
    priority text, kind text, key text, value jsonb, text text, assertion text, epistemic text, polarity smallint,
    confidence real, detector text, pattern text, language text, retracts boolean, old_value text, flags text[],
    valid_until timestamptz, said_at timestamptz, input_hash text, related_memory_id uuid,
    span_start integer, span_end integer, experiment jsonb)
ON CONFLICT (tenant_id, user_id, input_hash) DO NOTHING
RETURNING observation_id
"""


async def insert(conn: Connection, subject: Subject, rows: Sequence[ObservationRow]) -> set[UUID]:
    """Stores observations; the new ids. Equal words of one turn are observed once."""
    if not rows:
        return set()
    body = orjson.dumps(list(rows)).decode()
    params = {**subject.params, "rows": body}
    return {r["observation_id"] for r in await (await conn.execute(_INSERT, params)).fetchall()}


_COLUMNS: LiteralString = """
SELECT observation_id, turn_id, session_id, ordinal, priority, kind, key, value, text, assertion, epistemic, polarity,
    confidence::float8 AS confidence, detector, pattern, language, retracts, old_value, flags, valid_until, said_at,
    input_hash, related_memory_id, state, reason, span_start, span_end, experiment
FROM observations WHERE tenant_id = %(tenant)s AND user_id = %(user)s
"""
_WITHIN_A_TURN: LiteralString = "ordinal, (key IS NULL), span_start, retracts DESC, observation_id"
"""The order within a turn: what a sentence retracts precedes what it states, otherwise it would retract that too."""
_LOAD: LiteralString = _COLUMNS + f" AND observation_id = ANY(%(ids)s) ORDER BY said_at, {_WITHIN_A_TURN}"
_OF_TURNS: LiteralString = _COLUMNS + f" AND turn_id = ANY(%(ids)s) ORDER BY said_at, {_WITHIN_A_TURN}"
_OPEN: LiteralString = """
FROM observations WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state IN ('new', 'analyzed')
"""
_DUE: LiteralString = (
    """
WITH last AS (SELECT max(created_at) AS at FROM observations
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(ids)s)),
corrected AS (SELECT max(created_at) AS at """
    + _OPEN
    + """ AND priority = 'urgent' AND created_at <= (SELECT at FROM last))"""
    + _COLUMNS
    + f""" AND state IN ('new', 'analyzed') AND (observation_id = ANY(%(ids)s)
    OR created_at <= CASE WHEN %(urgent_only)s THEN (SELECT at FROM corrected) ELSE (SELECT at FROM last) END)
ORDER BY created_at, turn_id, {_WITHIN_A_TURN} FOR UPDATE"""
)


async def load(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> list[ObservationRow]:
    """These observations in the order of their statements."""
    return await _rows(conn, _LOAD, {**subject.params, "ids": list(ids)})


async def load_due(
    conn: Connection, subject: Subject, ids: Iterable[UUID], *, urgent_only: bool
) -> list[ObservationRow]:
    """The open ones of these observations, and earlier ones that are still open, in order.

    A correction thus never overtakes what it corrects; `urgent_only` adds the last earlier correction and what was
    observed before or with it. Until the transaction ends, no analyzer proposes anything for them.
    """
    return await _rows(conn, _DUE, {**subject.params, "ids": list(ids), "urgent_only": urgent_only})


async def of_turns(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> list[ObservationRow]:
    """All observations of these turns in the order of their statements."""
    return await _rows(conn, _OF_TURNS, {**subject.params, "ids": list(turn_ids)})


async def _rows(conn: Connection, statement: LiteralString, params: Mapping[str, Any]) -> list[ObservationRow]:
    found = await (await conn.execute(statement, params)).fetchall()
    rows: list[dict[str, Any]] = [{**row, "flags": tuple(row["flags"])} for row in found]
    return [ObservationRow(**row) for row in rows]


_MARK: LiteralString = """
UPDATE observations o SET state = d.state, reason = d.reason,
    related_memory_id = coalesce(d.memory_id, o.related_memory_id),
    settled_at = CASE WHEN d.state IN ('new', 'analyzed') THEN o.settled_at
        ELSE (SELECT clock_timestamp()) + d.n * interval '1 microsecond' END
FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (observation_id uuid, state text, reason text, memory_id uuid))
    WITH ORDINALITY AS d(observation_id, state, reason, memory_id, n)
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.observation_id = d.observation_id
    AND o.state IN ('new', 'analyzed')
"""


@dataclass(frozen=True)
class Mark:
    """The new state of one observation, the reason, and the memory that it created or changed."""

    observation_id: UUID
    state: str
    reason: str | None = None
    memory_id: UUID | None = None


async def mark(conn: Connection, subject: Subject, marks: Sequence[Mark]) -> None:
    """Settles each open observation in this order; settled ones stay unchanged."""
    if marks:
        body = orjson.dumps(list(marks)).decode()
        await conn.execute(_MARK, {**subject.params, "rows": body})


_ANALYZE: LiteralString = """
UPDATE observations SET state = 'analyzed'
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(ids)s) AND state = 'new'
RETURNING observation_id
"""


async def analyze(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> set[UUID]:
    """Marks new ones of these observations as analysed; the others were settled since."""
    params = {**subject.params, "ids": list(ids)}
    return {r["observation_id"] for r in await (await conn.execute(_ANALYZE, params)).fetchall()}


_OVERDUE: LiteralString = """
SELECT tenant_id, user_id, turn_id, session_id, priority, detector,
    array_agg(observation_id ORDER BY observation_id) AS observation_ids
FROM observations WHERE state = 'new' AND created_at < now() - %(grace)s
GROUP BY tenant_id, user_id, turn_id, session_id, priority, detector ORDER BY min(created_at) LIMIT %(limit)s
"""


async def overdue(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Observations of all users not analysed within the grace period, by turn (ids only)."""
    return await (await conn.execute(_OVERDUE, {"grace": grace, "limit": limit})).fetchall()


@dataclass(frozen=True)
class ProposalRow:
    """The analyzer's advice on one observation."""

    proposal_id: UUID
    turn_id: UUID
    observation_id: UUID
    action: ProposalAction
    target_memory_id: UUID | None
    type: MemoryType
    key: str | None
    provenance: Provenance
    confidence: float
    reason: str
    evidence: dict[str, Any]
    state: str = "new"


_PROPOSE: LiteralString = """
INSERT INTO proposals (tenant_id, user_id, proposal_id, turn_id, observation_id, action, target_memory_id, type, key,
    provenance, confidence, reason, evidence)
SELECT %(tenant)s, %(user)s, p.proposal_id, p.turn_id, p.observation_id, p.action, p.target_memory_id, p.type, p.key,
    p.provenance, p.confidence, p.reason, p.evidence
FROM jsonb_to_recordset(%(rows)s::jsonb) AS p(proposal_id uuid, turn_id uuid, observation_id uuid, action text,
    target_memory_id uuid, type text, key text, provenance text, confidence real, reason text, evidence jsonb)
ON CONFLICT (tenant_id, user_id, observation_id) DO NOTHING
RETURNING proposal_id
"""


async def propose(conn: Connection, subject: Subject, rows: Sequence[ProposalRow]) -> set[UUID]:
    """Stores proposals; the new ids. An observation has one proposal."""
    if not rows:
        return set()
    body = orjson.dumps(list(rows)).decode()
    params = {**subject.params, "rows": body}
    return {r["proposal_id"] for r in await (await conn.execute(_PROPOSE, params)).fetchall()}


_ADVICE: LiteralString = """
SELECT p.observation_id, a ->> 'memory_id' AS memory_id, a ->> 'verdict' AS verdict
FROM proposals p CROSS JOIN jsonb_array_elements(p.evidence -> 'advice') AS a
WHERE p.tenant_id = %(tenant)s AND p.user_id = %(user)s AND p.observation_id = ANY(%(ids)s)
"""


async def advice(conn: Connection, subject: Subject, ids: Iterable[UUID]) -> "dict[UUID, dict[UUID, Verdict]]":
    """The analyzer's verdicts on memories and these observations, where it has any."""
    found: dict[UUID, dict[UUID, Verdict]] = {}
    for row in await (await conn.execute(_ADVICE, {**subject.params, "ids": list(ids)})).fetchall():
        found.setdefault(row["observation_id"], {})[UUID(row["memory_id"])] = row["verdict"]
    return found


_SETTLE: LiteralString = """
UPDATE proposals SET state = %(state)s
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(ids)s) AND state = 'new'
"""


async def settle(conn: Connection, subject: Subject, ids: Iterable[UUID], state: str) -> None:
    """Sets the state of the proposals for these observations."""
    await conn.execute(_SETTLE, {**subject.params, "ids": list(ids), "state": state})


_UNAPPLIED: LiteralString = """
SELECT p.tenant_id, p.user_id, p.proposal_id, p.turn_id, o.session_id, p.observation_id, p.action, p.target_memory_id,
    p.type, p.provenance, o.epistemic, p.confidence::float8 AS confidence
FROM proposals p JOIN observations o USING (tenant_id, user_id, observation_id)
WHERE p.state = 'new' AND p.created_at < now() - %(grace)s ORDER BY p.created_at LIMIT %(limit)s
"""


async def load_unapplied(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Proposals of all users not applied within the grace period, oldest first (ids only)."""
    return await (await conn.execute(_UNAPPLIED, {"grace": grace, "limit": limit})).fetchall()


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An observation that contradicts an active memory; open until the memory is confirmed or ends."""

    conflict_id: UUID
    memory_id: UUID
    observation_id: UUID
    kind: str
    opened_at: datetime


_OPEN_CONFLICTS: LiteralString = """
INSERT INTO conflicts (tenant_id, user_id, conflict_id, memory_id, observation_id, kind, opened_at)
SELECT %(tenant)s, %(user)s, c.conflict_id, c.memory_id, c.observation_id, c.kind, c.opened_at
FROM jsonb_to_recordset(%(rows)s::jsonb) AS c(conflict_id uuid, memory_id uuid, observation_id uuid, kind text,
    opened_at timestamptz)
ON CONFLICT (tenant_id, user_id, memory_id, observation_id) DO NOTHING
"""


async def open_conflicts(conn: Connection, subject: Subject, conflicts: Sequence[OpenConflict]) -> None:
    """Opens the conflicts; a repeated one changes nothing."""
    if conflicts:
        rows = orjson.dumps(list(conflicts)).decode()
        await conn.execute(_OPEN_CONFLICTS, {**subject.params, "rows": rows})


_IN_CONFLICT: LiteralString = """
SELECT DISTINCT memory_id FROM conflicts
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND state = 'open'
"""


async def load_disputed(conn: Connection, subject: Subject) -> frozenset[UUID]:
    """The memories with an open conflict."""
    found = await conn.execute(_IN_CONFLICT, subject.params)
    return frozenset(row["memory_id"] for row in await found.fetchall())


@dataclass(frozen=True, slots=True)
class SettledConflict:
    """A memory that was confirmed and kept, or that ended."""

    memory_id: UUID
    state: Literal["kept", "replaced"]
    at: datetime


_SETTLE_CONFLICTS: LiteralString = """
UPDATE conflicts c SET state = d.state, closed_at = greatest(d.at, c.opened_at)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(memory_id uuid, state text, at timestamptz)
WHERE c.tenant_id = %(tenant)s AND c.user_id = %(user)s AND c.memory_id = d.memory_id AND c.state = 'open'
    AND (d.state = 'replaced' OR c.opened_at <= d.at)
"""


async def settle_conflicts(conn: Connection, subject: Subject, settled: Sequence[SettledConflict]) -> None:
    """Closes the conflicts about these memories: all of an ended memory, otherwise those opened before.

    Of several decisions about one memory the last counts.
    """
    if settled:
        rows = orjson.dumps(list({each.memory_id: each for each in settled}.values())).decode()
        await conn.execute(_SETTLE_CONFLICTS, {**subject.params, "rows": rows})
