"""The results for accepted turns, from the database: lost turns, duplicates, and the recovery time."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg

from tests.faults.load import SCRIPTS, TENANT, Load, Person
from tests.faults.rig import Rig
from tests.system.databases import rows
from tests.system.kafka import caught_up

RECOVERED_S = 30.0
"""The time limit for recovery after the end of a fault."""
PATIENCE_S = 90.0
"""The time after which a missing outcome counts as lost."""
Known = Counter[str]
_SAID = """
SELECT e.user_id, e.content ->> 'text' AS said, t.idempotency_key AS key, t.outcome ->> 'status' AS outcome
FROM conversation_events e JOIN turns t USING (tenant_id, user_id, turn_id)
WHERE e.tenant_id = %(tenant)s AND e.user_id = ANY(%(users)s) AND e.event_type = 'user_message' ORDER BY t.seq
"""
_KNOWN = """
SELECT user_id, type, key, content_text, status, version, polarity, round(confidence::numeric, 3)::float AS confidence,
    provenance_class, epistemic_type, cardinality(supersedes) AS supersedes, cardinality(source_turns) AS sources
FROM memory_items WHERE tenant_id = %(tenant)s AND user_id = ANY(%(users)s)
"""
_READ = """
SELECT user_id, kind, key, text, ordinal, span_start, state FROM observations
WHERE tenant_id = %(tenant)s AND user_id = ANY(%(users)s)
"""
_OPEN = """
SELECT (SELECT count(*) FROM turns WHERE outcome_at IS NULL)
    + (SELECT count(*) FROM event_outbox WHERE failed_at IS NULL)
    + (SELECT count(*) FROM observations WHERE state IN ('new', 'analyzed')) AS open
"""


@dataclass
class Figures:
    """The result of a scenario."""

    name: str
    accepted: int = 0
    derived: int = 0
    lost: int = 0
    doubled: int = 0
    recovered_s: float | None = None
    problems: list[str] = field(default_factory=list[str])

    @property
    def well(self) -> bool:
        """Whether it passed."""
        in_time = self.recovered_s is not None and self.recovered_s < RECOVERED_S
        return in_time and not self.problems and self.accepted == self.derived > 0 == self.lost == self.doubled


async def time_to_recover(rig: Rig, load: Load) -> float | None:
    """The seconds until every process is ready and every accepted turn has its outcome, including one that was accepted
    later; None if that did not happen.
    """
    began = time.monotonic()
    before = set(load.accepted)
    while time.monotonic() - began < PATIENCE_S:
        after = [key for key, at in load.accepted.items() if at > began]
        if after and await rig.whole():
            done = ask(rig, "SELECT idempotency_key AS key FROM turns WHERE outcome_at IS NOT NULL")
            keys = {row["key"] for row in done}
            if before <= keys and keys & set(after):
                return time.monotonic() - began
        await asyncio.sleep(0.2)
    return None


def ask(rig: Rig, statement: str, **params: Any) -> list[dict[str, Any]]:
    """The result of the query; nothing while the database is unavailable."""
    try:
        return rows(rig.dsn, statement, **params)
    except psycopg.Error:
        return []


async def come_to_rest(rig: Rig) -> list[str]:
    """Waits until everything is processed and closed; what is not in time."""
    until = time.monotonic() + PATIENCE_S
    try:
        await asyncio.wait_for(caught_up(rig.bootstrap), PATIENCE_S)
    except (TimeoutError, AssertionError):
        return ["the workers have not read everything"]
    while time.monotonic() < until:
        if (answer := ask(rig, _OPEN)) and not answer[0]["open"]:
            return []
        await asyncio.sleep(0.2)
    return ["work is left open"]


def by_user(rig: Rig, statement: str, people: list[Person]) -> dict[str, Known]:
    """By user, the rows as texts and their counts."""
    found: dict[str, Known] = {person.user_id: Counter() for person in people}
    for row in rows(rig.dsn, statement, tenant=TENANT, users=list(found)):
        found[row.pop("user_id")][orjson.dumps(row).decode()] += 1
    return found


class Reference:
    """The memories of a user of each story without a fault."""

    def __init__(self, rig: Rig, load: Load) -> None:
        self.stories: dict[int, Known] = {}
        self.unsteady: list[str] = []
        known, read = by_user(rig, _KNOWN, load.people), by_user(rig, _READ, load.people)
        for person in load.people:
            mine = known[person.user_id] + read[person.user_id]
            before = self.stories.setdefault(person.story, mine)
            if before != mine:
                self.unsteady.append(f"story {person.story} told twice undisturbed: {tell_difference(before, mine)}")


def tell_difference(wanted: Known, found: Known) -> str:
    """The missing and the surplus rows."""
    return "; ".join([f"- {row}" for row in wanted - found] + [f"+ {row}" for row in found - wanted])


def judge(rig: Rig, load: Load, reference: Reference, figures: Figures) -> None:
    """The figures of every accepted turn, and whether memories equal those without a fault."""
    said = rows(rig.dsn, _SAID, tenant=TENANT, users=[person.user_id for person in load.people])
    known, read = by_user(rig, _KNOWN, load.people), by_user(rig, _READ, load.people)
    for person in load.people:
        mine = [row for row in said if row["user_id"] == person.user_id]
        outcomes = {row["key"]: row["outcome"] for row in mine}
        derived = [key for key in person.accepted if outcomes.get(key) in ("derived", "ignored")]
        figures.accepted += len(person.accepted)
        figures.derived += len(derived)
        figures.lost += len(person.accepted) - len(derived)
        told = [row["said"] for row in mine]
        figures.doubled += (Counter(told) - Counter(SCRIPTS[person.story])).total()
        if told != SCRIPTS[person.story]:
            figures.problems.append(f"{person.user_id} said in the log: {told}")
        wanted, found = reference.stories[person.story], known[person.user_id] + read[person.user_id]
        figures.lost += (wanted - found).total()
        figures.doubled += (found - wanted).total()
        if wanted != found:
            figures.problems.append(f"{person.user_id}, story {person.story}: {tell_difference(wanted, found)}")
