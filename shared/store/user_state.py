"""The state of a user from which a request starts: core memory, ended statements, summary, epoch, experience.

Core memories are considered by every package; statements that ended must not be repeated by any.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

from schemas.vocabulary import Epistemic, MemoryType, Provenance
from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.extraction.retractions import FORGOTTEN
from shared.resolution.summary_lines import EndedStatement, SummaryLine
from shared.store.experience import Experience
from shared.store.sessions import Slots


@dataclass(frozen=True)
class CoreMemoryRow:
    """The parts of a core memory that a package shows."""

    memory_id: UUID
    type: MemoryType
    key: str | None
    content_text: str
    confidence: float
    provenance_class: Provenance
    epistemic_type: Epistemic
    valid_at: datetime
    last_validated_at: datetime | None
    source_turn_id: UUID | None
    pinned: bool = False


_CORE: LiteralString = """
SELECT memory_id, type, key, content_text, confidence::float8 AS confidence, provenance_class, epistemic_type, valid_at,
    last_validated_at, source_turn_id, pinned
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active'
    AND type IN ('profile', 'preference', 'constraint', 'goal')
    AND (valid_until IS NULL OR valid_until > now()) AND epistemic_type <> 'outdated' AND fused_at IS NULL
    AND NOT 'self_benefit' = ANY(flags)
ORDER BY pinned DESC, (provenance_class = 'confirmed_by_user') DESC, memory_items.confidence DESC, valid_at DESC
LIMIT %(limit)s
"""
"""Types and order must equal those of the index memory_core literally, so that only rows up to the limit are read."""
_KEYED: LiteralString = """
SELECT memory_id, type, key, content_text, confidence::float8 AS confidence, provenance_class, epistemic_type, valid_at,
    last_validated_at, source_turn_id, pinned
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active'
    AND type IN ('profile', 'preference', 'constraint') AND (key = ANY(%(keys)s) OR key LIKE ANY(%(starts)s))
    AND (valid_until IS NULL OR valid_until > now()) AND epistemic_type <> 'outdated' AND fused_at IS NULL
    AND NOT 'self_benefit' = ANY(flags)
"""
_PINNED: LiteralString = """
SELECT memory_id, type, key, content_text, confidence::float8 AS confidence, provenance_class, epistemic_type, valid_at,
    last_validated_at, source_turn_id, pinned
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'active' AND pinned
    AND (valid_until IS NULL OR valid_until > now()) AND fused_at IS NULL AND NOT 'self_benefit' = ANY(flags)
ORDER BY valid_at DESC, memory_id LIMIT %(limit)s
"""
_CORE_AND_KEYED: LiteralString = "(" + _CORE + ") UNION (" + _KEYED + ") UNION (" + _PINNED + ")"


def core(
    subject: Subject, limit: int, keys: Sequence[str] = (), prefixes: Sequence[str] = ()
) -> Read[list[CoreMemoryRow]]:
    """The core memories for a package: pinned and confirmed ones first, up to the limit, and all of these keys.

    With keys, pinned memories of any type are included, and the order is undefined.
    """
    params = {**subject.params, "limit": limit}
    if not (keys or prefixes):
        return Read(_CORE, params, to_pinned)
    starts = [each.replace("_", r"\_") + "%" for each in prefixes]
    return Read(_CORE_AND_KEYED, {**params, "keys": list(keys), "starts": starts}, to_pinned)


def to_pinned(rows: Iterable[Mapping[str, Any]]) -> list[CoreMemoryRow]:
    return [CoreMemoryRow(**row) for row in rows]


@dataclass(frozen=True)
class EndedVersion:
    """A memory that held until `until`: its text, its source sentence, its value, and its replacement.

    `turns` stated it. Without `instead` it was retracted without a replacement.
    """

    memory_id: str
    text: str
    quote: str | None
    value: str | None
    until: datetime
    instead: str | None
    turns: tuple[str, ...] = ()
    speaker: str | None = None
    """Its speaker, if several people talk."""
    ender: str | None = None
    """The source sentence of its replacement."""
    same_key: bool = False
    """Whether its replacement has the same key."""


NEVER = datetime(9000, 1, 1, tzinfo=UTC)
"""The end set for suppressed memories, which are not shown for the past either."""
_ENDED: LiteralString = """
SELECT s.memory_id, s.content_text AS text, s.value ->> 'quote' AS quote,
    coalesce(s.value ->> 'value', s.value ->> 'target') AS value, coalesce(s.invalid_at, %(never)s) AS until,
    s.source_turns AS turns,
    s.value ->> 'speaker' AS speaker,
    concat_ws(' ', o.content_text, o.value ->> 'value') AS instead, o.value ->> 'quote' AS ender,
    coalesce(o.key = s.key, false) AS same_key
FROM memory_items s LEFT JOIN memory_items o ON o.tenant_id = %(tenant)s AND o.user_id = %(user)s
    AND o.memory_id = s.superseded_by AND o.value ->> 'speaker' IS NOT DISTINCT FROM s.value ->> 'speaker'
WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s AND (s.status IN ('superseded', 'retracted')
        OR (s.status = 'active' AND s.silenced_at IS NOT NULL))
    AND (s.type <> 'entity' OR s.key IS NULL)
    AND (s.status IN ('retracted', 'active') OR o.memory_id IS NOT NULL) AND NOT s.provenance ? 'forgotten'
    AND NOT EXISTS (SELECT FROM memory_items a WHERE a.tenant_id = %(tenant)s
        AND a.user_id = %(user)s AND a.status = 'active' AND a.type = s.type AND a.key = s.key
        AND a.memory_id <> s.memory_id
        AND a.value ->> 'value' = s.value ->> 'value')
ORDER BY s.invalid_at DESC, s.memory_id LIMIT %(most)s
"""


def versions(subject: Subject, most: int) -> Read[list[EndedVersion]]:
    """Suppressed memories, then the latest ended ones, at most `most` together.

    Ended ones that were stated again are excluded.
    """
    return Read(_ENDED, {**subject.params, "most": most, "never": NEVER}, _versions)


@dataclass(frozen=True)
class TakenBackTurn:
    """A turn whose last sentence the user retracted in the next one, and whether as a joke or for deletion."""

    turn_id: str
    until: datetime
    forgotten: bool


_TAKEN_BACK: LiteralString = """
SELECT before.turn_id, o.said_at AS until, o.pattern = ANY(%(forgotten)s) AS forgotten
FROM observations o JOIN turns n ON n.tenant_id = o.tenant_id AND n.user_id = o.user_id AND n.turn_id = o.turn_id
CROSS JOIN LATERAL (SELECT t.turn_id FROM turns t
    WHERE t.tenant_id = n.tenant_id AND t.user_id = n.user_id AND t.session_id = n.session_id AND t.seq < n.seq
        AND EXISTS (SELECT FROM conversation_events e WHERE e.tenant_id = t.tenant_id AND e.user_id = t.user_id
            AND e.turn_id = t.turn_id AND e.event_type = 'user_message')
    ORDER BY t.seq DESC LIMIT 1) AS before
WHERE o.tenant_id = %(tenant)s AND o.user_id = %(user)s AND o.detector = 'retraction' AND o.old_value IS NULL
ORDER BY o.said_at DESC LIMIT %(most)s
"""


def taken_back(subject: Subject, most: int) -> Read[list[TakenBackTurn]]:
    """The latest retracted turns, at most `most`."""
    return Read(_TAKEN_BACK, {**subject.params, "most": most, "forgotten": sorted(FORGOTTEN)}, _turns)


def _turns(rows: Sequence[Mapping[str, Any]]) -> list[TakenBackTurn]:
    return [TakenBackTurn(str(row["turn_id"]), row["until"], row["forgotten"]) for row in rows]


def _versions(rows: Sequence[Mapping[str, Any]]) -> list[EndedVersion]:
    return [
        EndedVersion(
            str(row["memory_id"]),
            row["text"],
            row["quote"],
            row["value"],
            row["until"],
            row["instead"] or None,
            tuple(map(str, row["turns"])),
            row["speaker"],
            row["ender"],
            row["same_key"],
        )
        for row in rows
    ]


_JOINED: LiteralString = """
SELECT e.name, m.same_as FROM entity_mentions m
JOIN entities e ON e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.entity_id = m.entity_id
WHERE m.tenant_id = %(tenant)s AND m.user_id = %(user)s AND m.same_as IS NOT NULL
ORDER BY m.said_at DESC, e.name LIMIT %(most)s
"""
MOST_JOINED = 200


def load_joined(subject: Subject) -> Read[list[tuple[str, str]]]:
    """The newest pairs of names that the user has declared to be one."""
    params = {**subject.params, "most": MOST_JOINED}
    return Read(_JOINED, params, lambda rows: [(row["name"], row["same_as"]) for row in rows])


_STANDING: LiteralString = """
SELECT s.entity_slots, l.text, l.summary_json -> 'items' AS items, said.turns, said.ended
FROM sessions s
LEFT JOIN LATERAL (SELECT text, summary_json FROM session_summaries WHERE tenant_id = %(tenant)s
    AND user_id = %(user)s AND session_id = %(session)s AND text IS NOT NULL ORDER BY version DESC LIMIT 1) l ON true
LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(t.seq, jsonb_build_object('turn_id', t.turn_id, 'said_at', t.said_at)) AS turns,
        jsonb_agg(m.gone) FILTER (WHERE m.gone IS NOT NULL) AS ended
    FROM turns t LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('text', e.content_text, 'turn_id', t.turn_id, 'ended_at',
            coalesce(e.invalid_at, e.silenced_at),
            'word', coalesce(e.value ->> 'target', e.value ->> 'value'))) AS gone
        FROM memory_items e WHERE e.tenant_id = %(tenant)s AND e.user_id = %(user)s AND e.source_turn_id = t.turn_id
            AND (e.status IN ('superseded', 'retracted') OR e.silenced_at IS NOT NULL)) m ON true
    WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = %(session)s AND l.text <> ''
        AND t.seq = ANY(ARRAY(SELECT DISTINCT (i ->> 'seq')::integer
            FROM jsonb_array_elements(l.summary_json -> 'items') i))
) said ON true
WHERE s.tenant_id = %(tenant)s AND s.user_id = %(user)s AND s.session_id = %(session)s
"""


@dataclass(frozen=True)
class CurrentSummary:
    """What stands for a session before its latest turns: the summary's text and the names.

    `ended` is what was learnt from the turns of the summary's `lines` and holds no longer.
    """

    text: str
    entity_slots: Slots
    lines: Sequence[SummaryLine] = ()
    ended: Sequence[EndedStatement] = ()


def load_standing(subject: Subject, session_id: str) -> Read[CurrentSummary]:
    """Both as they are now; empty where the session has none."""
    params = {**subject.params, "session": session_id}
    return Read(_STANDING, params, lambda rows: to_standing(rows[0]) if rows else CurrentSummary("", {}))


def to_standing(row: Mapping[str, Any]) -> CurrentSummary:
    turns: Mapping[str, Mapping[str, str]] = row["turns"] or {}
    lines = [_line(item["text"], turns.get(str(item["seq"]))) for item in row["items"] or ()]
    ended = [
        EndedStatement(each["text"], each["word"], UUID(each["turn_id"]), _time(each["ended_at"]))
        for gone in row["ended"] or ()
        for each in gone
    ]
    return CurrentSummary(row["text"] or "", row["entity_slots"], lines, ended)


def _line(text: str, turn: Mapping[str, str] | None) -> SummaryLine:
    return SummaryLine(text, UUID(turn["turn_id"]), _time(turn["said_at"])) if turn else SummaryLine(text)


def _time(stored: str | None) -> datetime | None:
    return datetime.fromisoformat(stored) if stored else None


def foremost(slots: Slots, most: int) -> list[Mapping[str, Any]]:
    """The names that were said most, of equals the latest first."""
    return sorted(slots.values(), key=lambda slot: (-slot["mentions"], -slot["last_seq"], slot["name"]))[:most]


_EPOCH: LiteralString = """
SELECT coalesce((SELECT epoch FROM erasure_epochs WHERE tenant_id = %(tenant)s AND user_id = %(user)s), 0) AS epoch
"""


def epoch(subject: Subject) -> Read[int]:
    """How many erasures of the user there have been."""
    return Read(_EPOCH, subject.params, lambda rows: rows[0]["epoch"])


_OF_TENANT: LiteralString = """
SELECT experience_id, tenant_id, user_id, key, figures, confidence::float8 AS confidence, updated_at
FROM agent_experience WHERE tenant_id = %(tenant)s
ORDER BY user_id IS NOT NULL, agent_experience.confidence DESC, key LIMIT %(limit)s
"""


async def of_tenant(conn: Connection, tenant_id: str, limit: int) -> list[Experience]:
    """What is shared in the tenant and then what is one user's, each named; by the system role, which sees all."""
    found = await (await conn.execute(_OF_TENANT, {"tenant": tenant_id, "limit": limit})).fetchall()
    return [Experience(**row) for row in found]
