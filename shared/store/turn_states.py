"""turns: their state from the observer's notes to the outcome, and those that wait.

Every accepted turn ends in exactly one outcome, written by observer, evolver, or the worker that gives up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.envelope import Envelope
from schemas.events import Conflict, SummaryNote, TurnOutcome, Written
from schemas.topics import TURN_OUTCOME, Topic
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import SUSPECTED
from shared.domain.subjects import Subject
from shared.store import additions, memory, observations, outbox, quarantine

_OBSERVED: LiteralString = """
UPDATE turns t SET observed_at = now(), outcome = d.notes, recalled = coalesce(d.recalled, t.recalled),
    withheld = coalesce(t.withheld, d.withheld)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(turn_id uuid, notes jsonb, recalled jsonb, withheld text)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = d.turn_id AND t.observed_at IS NULL
RETURNING t.turn_id
"""


async def note_observed(
    conn: Connection,
    subject: Subject,
    notes: Mapping[UUID, Mapping[str, Any]],
    recalled: Mapping[UUID, Mapping[str, Any]] | None = None,
    withheld: Mapping[UUID, str] | None = None,
) -> set[UUID]:
    """Marks unobserved turns as observed: each stores the observer's decisions until its outcome is complete and,
    permanently, its recalled parts and the wish by which nothing was learnt from it.
    """
    known, silent = recalled or {}, withheld or {}
    rows = [
        {"turn_id": str(turn), "notes": note, "recalled": known.get(turn), "withheld": silent.get(turn)}
        for turn, note in notes.items()
    ]
    params = {**subject.params, "rows": orjson.dumps(rows).decode()}
    return {r["turn_id"] for r in await (await conn.execute(_OBSERVED, params)).fetchall()}


_FINISH: LiteralString = """
UPDATE turns t SET outcome = d.outcome, outcome_at = now(), observed_at = coalesce(t.observed_at, now())
FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(turn_id uuid, outcome jsonb)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = d.turn_id AND t.outcome_at IS NULL
RETURNING t.turn_id, t.session_id, t.trace_id, t.policy_version,
    extract(epoch FROM now() - t.committed_at)::float8 AS took
"""


@dataclass(frozen=True)
class Finished:
    """A turn that has just got its outcome; `took_s` is the time since its commit in seconds."""

    turn_id: UUID
    session_id: str
    trace_id: str
    policy_version: str
    took_s: float


async def finish(conn: Connection, subject: Subject, outcomes: Mapping[UUID, Mapping[str, Any]]) -> list[Finished]:
    """Sets this outcome on the turns without one; a turn gets exactly one."""
    rows = [{"turn_id": str(turn), "outcome": outcome} for turn, outcome in outcomes.items()]
    found = await (await conn.execute(_FINISH, {**subject.params, "rows": orjson.dumps(rows).decode()})).fetchall()
    return [Finished(r["turn_id"], r["session_id"], r["trace_id"], r["policy_version"], r["took"]) for r in found]


_OUTCOME: LiteralString = """
SELECT turn_id, session_id, seq, committed_at, observed_at, outcome, outcome_at FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s
"""
_NOTES: LiteralString = """
SELECT turn_id, outcome FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND outcome_at IS NULL
ORDER BY turn_id FOR UPDATE
"""


async def open_notes(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """The observer's notes on the turns without an outcome."""
    params = {**subject.params, "turns": list(turn_ids)}
    return {r["turn_id"]: r["outcome"] or {} for r in await (await conn.execute(_NOTES, params)).fetchall()}


async def outcome(conn: Connection, subject: Subject, turn_id: UUID) -> dict[str, Any] | None:
    """The turn's row with its outcome so far, or None if there is no such turn."""
    return await (await conn.execute(_OUTCOME, {**subject.params, "turn": turn_id})).fetchone()


_OVERDUE: LiteralString = """
SELECT t.tenant_id, t.user_id, t.turn_id, t.session_id, t.seq, t.event_id, t.trace_id, t.policy_version
FROM turns t LEFT JOIN turns_under_way u ON u.turn_id = t.turn_id
WHERE t.outcome_at IS NULL AND t.observed_at IS NULL AND t.committed_at < now() - %(grace)s
    AND (u.turn_id IS NULL OR u.since < now() - %(grace)s)
    AND NOT EXISTS (SELECT FROM event_outbox o
        WHERE o.id = t.event_id AND o.waits_for IS NOT NULL AND o.failed_at IS NULL)
ORDER BY t.committed_at LIMIT %(limit)s
"""


async def load_unobserved(conn: Connection, grace: timedelta, limit: int) -> Sequence[Mapping[str, Any]]:
    """Turns of all users not observed within the grace period, oldest first (ids only).

    The period begins when the event of the turn leaves the outbox.
    """
    return await (await conn.execute(_OVERDUE, {"grace": grace, "limit": limit})).fetchall()


_LATE: LiteralString = "SELECT count(*) AS n FROM turns WHERE outcome_at IS NULL AND committed_at < now() - %(grace)s"


async def count_late(conn: Connection, grace: timedelta) -> int:
    """The number of accepted turns without an outcome for longer than the grace period."""
    row = await (await conn.execute(_LATE, {"grace": grace})).fetchone()
    return row["n"] if row else 0


OPEN = frozenset({"new", "analyzed"})
BY_MODEL = "model:"
"""The common prefix of the detectors of model results."""
MODELS = "model: "
"""The common prefix of reasons for model results."""
CHANGES = {
    "create": "created",
    "confirm": "confirmed",
    "supersede": "created",
    "retract": "retracted",
    "merge": "merged",
}


async def settle(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> list[Finished]:
    """The turns that have just got their outcome: those without open observations."""
    wanted = set(turn_ids)
    if not wanted:
        return []
    observed = await observations.of_turns(conn, subject, wanted)
    ready = wanted - {o.turn_id for o in observed if o.state in OPEN}
    if not ready:
        return []
    memories = await memory.by_ids(conn, subject, {o.related_memory_id for o in observed if o.related_memory_id})
    related = {m.memory_id: m for m in memories}
    outcomes: dict[UUID, TurnOutcome] = {}
    for turn, notes in (await open_notes(conn, subject, ready)).items():
        outcomes[turn] = outcome_of(turn, [o for o in observed if o.turn_id == turn], related, notes)
    late = [o for o in observed if o.turn_id in ready - outcomes.keys() and o.detector.startswith(BY_MODEL)]
    await _add(conn, subject, late, related)
    return await _tell(conn, subject, outcomes)


async def _add(
    conn: Connection, subject: Subject, late: Sequence[ObservationRow], related: Mapping[UUID, Memory]
) -> None:
    """Adds the effects of a model's results to outcomes that were complete before."""
    turn_ids = {o.turn_id for o in late}
    told = await additions.complete(conn, subject, turn_ids) if turn_ids else {}
    changed = {
        turn: with_addition(outcome, outcome_of(turn, found, related, {}), found, related)
        for turn, outcome in told.items()
        if (found := [o for o in late if o.turn_id == turn])
    }
    if changed:
        await additions.put(conn, subject, changed)


def with_addition(
    outcome: Mapping[str, Any], added: TurnOutcome, observed: Sequence[ObservationRow], related: Mapping[UUID, Memory]
) -> dict[str, Any]:
    """The stored outcome with the effects of the model's observations; idempotent."""
    more = added.model_dump(mode="json")
    explain = [to_settled(each, observed, related) for each in outcome.get("retention_explain", ())]
    lists = {
        "written": outcome.get("written", []),
        "conflicts": outcome.get("conflicts", []),
        "retention_explain": explain,
    }
    every = {name: [*said, *(each for each in more[name] if each not in said)] for name, said in lists.items()}
    status = "derived" if every["written"] and outcome.get("status") == "ignored" else outcome.get("status")
    return {**outcome, **every, "status": status}


def to_settled(
    said: Mapping[str, Any], found: Sequence[ObservationRow], known: Mapping[UUID, Memory]
) -> Mapping[str, Any]:
    """A model result with its effect, once that is known."""
    return to_explained(said, found, known) if str(said.get("reason")).startswith(MODELS) else said


async def _tell(conn: Connection, subject: Subject, outcomes: Mapping[UUID, TurnOutcome]) -> list[Finished]:
    if not outcomes:
        return []
    bodies = {turn: outcome.model_dump(mode="json") for turn, outcome in outcomes.items()}
    finished = await finish(conn, subject, bodies)
    await outbox.put(conn, [_event(subject, done, outcomes[done.turn_id]) for done in finished])
    return finished


def _event(subject: Subject, done: Finished, outcome: TurnOutcome) -> tuple[Topic, Envelope]:
    told = {"trace_id": done.trace_id, "policy_version": done.policy_version, "session_id": done.session_id}
    return TURN_OUTCOME, outbox.event(outcome, subject, done.turn_id, **told)


def outcome_of(
    turn: UUID, observed: Sequence[ObservationRow], related: Mapping[UUID, Memory], notes: Mapping[str, Any]
) -> TurnOutcome:
    """The result of a turn, from its observations, their memories and the observer's notes; no user text."""
    written: list[Written] = []
    conflicts: list[Conflict] = []
    explain = [to_explained(each, observed, related) for each in notes.get("explain", ())]
    for seen in observed:
        touched = related.get(seen.related_memory_id) if seen.related_memory_id else None
        change, _, why = (seen.reason or "").partition(":")
        if seen.state == "evolved" and touched:
            written.append(
                Written(
                    memory_id=touched.memory_id,
                    type=touched.type,
                    status=touched.status,
                    confidence=round(touched.confidence, 4),
                    change=CHANGES.get(change, change),
                )
            )
            conflicts += [Conflict(kind=change, old_id=old, new_id=touched.memory_id) for old in touched.supersedes]
        elif SUSPECTED not in seen.flags:
            explain.append({"decision": seen.state, "reason": seen.reason, "kind": seen.kind, "why": why or None})
            if change == "ask":
                conflicts.append(Conflict(kind="open", old_id=seen.related_memory_id, new_id=seen.observation_id))
    quarantined = any(seen.state == "quarantined" for seen in observed) or bool(notes.get("quarantined"))
    status = "quarantined" if quarantined else "derived" if written else "ignored"
    summary = SummaryNote.model_validate(notes.get("summary") or {})
    return TurnOutcome(
        turn_id=turn,
        status=status,
        written=tuple(written),
        conflicts=tuple(dict.fromkeys(conflicts)),
        retention_explain=tuple(explain),
        summary=summary,
    )


def to_explained(
    sentence: Mapping[str, Any], observed: Sequence[ObservationRow], related: Mapping[UUID, Memory]
) -> dict[str, Any]:
    """The extracted text of a span of the turn; `kept` if something of it was stored, otherwise the reason."""
    if sentence.get("decision") != "kept":
        return {**sentence}
    start, end = sentence["span"]
    here = [o for o in observed if o.ordinal == sentence["ordinal"] and o.span_start < end and start < o.span_end]
    if any(o.state == "evolved" and o.related_memory_id in related for o in here):
        return {**sentence}
    reasons = [(o.reason or o.state).partition(":") for o in here]
    why = next((reason or verb for verb, _, reason in reasons), "not_recorded")
    return {**sentence, "decision": "dropped", "reason": why}


async def give_up(
    conn: Connection,
    subject: Subject,
    *,
    stage: str,
    event_id: UUID,
    reason: str,
    turn_id: UUID | None = None,
    observation_ids: Sequence[UUID] = (),
) -> None:
    """Quarantines the event and gives its turn an outcome that says so, so that no loss is silent."""
    given_up = await observations.load(conn, subject, observation_ids)
    behind = {o.turn_id for o in given_up}
    if turn_id:
        behind.add(turn_id)
    for turn in behind or [None]:
        await quarantine.put(conn, subject, stage=stage, turn_id=turn, event_id=event_id, reason=reason)
    await observations.mark(
        conn,
        subject,
        [
            observations.Mark(o.observation_id, "quarantined", f"{stage}:{reason}"[:300])
            for o in given_up
            if o.state in OPEN
        ],
    )
    if not given_up and turn_id:
        await note_observed(conn, subject, {turn_id: {"quarantined": stage}})
    await settle(conn, subject, behind)
