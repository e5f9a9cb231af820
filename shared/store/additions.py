"""What a model adds to a turn after the rules: entries in its outcome, and checks against later retractions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject

EXPERIMENT = "experiment"
"""The reason of the entry that names a turn's experiment."""
_TOLD: LiteralString = """
SELECT outcome, outcome_at IS NOT NULL AS complete FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s AND unlearnt_by IS NULL
    AND outcome IS NOT NULL FOR UPDATE
"""
_TELL: LiteralString = """
UPDATE turns SET outcome = %(outcome)s::jsonb
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = %(turn)s
"""


async def note(
    conn: Connection,
    subject: Subject,
    turn_id: UUID,
    explain: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Any],
) -> None:
    """Adds these entries to the observer's notes on the turn, whether or not its outcome is complete.

    An entry about the turn's experiment replaces the previous one.
    """
    params = {**subject.params, "turn": turn_id}
    row = await (await conn.execute(_TOLD, params)).fetchone()
    if row:
        outcome = with_entries(row["outcome"], "retention_explain" if row["complete"] else "explain", explain, summary)
        await conn.execute(_TELL, {**params, "outcome": orjson.dumps(outcome).decode()})


def with_entries(
    outcome: Mapping[str, Any], entries: str, explain: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]
) -> dict[str, Any]:
    """The outcome with additional entries and an extended summary."""
    again = any(each.get("reason") == EXPERIMENT for each in explain)
    kept = [each for each in outcome.get(entries) or () if not (again and each.get("reason") == EXPERIMENT)]
    return {**outcome, entries: [*kept, *explain], "summary": {**(outcome.get("summary") or {}), **summary}}


_COMPLETE: LiteralString = """
SELECT turn_id, outcome FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND turn_id = ANY(%(turns)s) AND outcome_at IS NOT NULL
    AND unlearnt_by IS NULL
ORDER BY turn_id FOR UPDATE
"""


async def complete(conn: Connection, subject: Subject, turn_ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """The existing outcomes of these turns, locked until the transaction ends."""
    params = {**subject.params, "turns": list(turn_ids)}
    return {row["turn_id"]: row["outcome"] for row in await (await conn.execute(_COMPLETE, params)).fetchall()}


_PUT: LiteralString = """
UPDATE turns t SET outcome = d.outcome FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(turn_id uuid, outcome jsonb)
WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.turn_id = d.turn_id AND t.outcome_at IS NOT NULL
"""


async def put(conn: Connection, subject: Subject, outcomes: Mapping[UUID, Mapping[str, Any]]) -> None:
    """Replaces the outcomes; their completion times stay."""
    rows = [{"turn_id": str(turn), "outcome": outcome} for turn, outcome in outcomes.items()]
    await conn.execute(_PUT, {**subject.params, "rows": orjson.dumps(rows).decode()})


@dataclass(frozen=True)
class Withdrawal:
    """A retraction or correction by the user after a turn; `of_turn`: it concerns the whole last
    message of the turn.
    """

    key: str | None
    words: str
    of_turn: bool


_WITHDRAWN: LiteralString = """
SELECT o.key, coalesce(o.old_value, CASE WHEN o.retracts THEN coalesce(o.value ->> 'target', o.text) END, '') AS words,
    o.detector = %(retraction)s AND o.old_value IS NULL AND o.session_id = this.session_id AND NOT EXISTS (
        SELECT FROM turns t JOIN conversation_events e
            ON (e.tenant_id, e.user_id, e.turn_id) = (t.tenant_id, t.user_id, t.turn_id)
        WHERE t.tenant_id = %(tenant)s AND t.user_id = %(user)s AND t.session_id = this.session_id
            AND t.seq > this.seq AND t.seq < later.seq AND e.event_type = 'user_message') AS of_turn
FROM turns this
JOIN observations o ON o.tenant_id = this.tenant_id AND o.user_id = this.user_id AND o.turn_id > this.turn_id
    AND (o.retracts OR o.old_value IS NOT NULL) AND NOT (o.retracts AND starts_with(o.detector, 'model:'))
JOIN turns later ON later.tenant_id = o.tenant_id AND later.user_id = o.user_id AND later.turn_id = o.turn_id
WHERE this.tenant_id = %(tenant)s AND this.user_id = %(user)s AND this.turn_id = %(turn)s
ORDER BY o.turn_id DESC LIMIT %(most)s
"""
MOST = 500


async def withdrawn_since(conn: Connection, subject: Subject, turn_id: UUID, retraction: str) -> list[Withdrawal]:
    """Retractions and corrections after the turn, newest first; `retraction` is the detector of
    retractions of a turn.
    """
    params = {**subject.params, "turn": turn_id}
    found = await conn.execute(_WITHDRAWN, {**params, "retraction": retraction, "most": MOST})
    return [Withdrawal(**row) for row in await found.fetchall()]
