"""Invariants of the memories in a database, regardless of writers and interruptions."""

from collections.abc import Iterable, Mapping

import orjson

from tests.system.conversation import Fact
from tests.system.databases import number, rows

BROKEN: dict[str, str] = {
    "two active memories with one key and type": """
        SELECT count(*) FROM (SELECT 1 FROM memory_items WHERE status = 'active' AND key IS NOT NULL
            GROUP BY tenant_id, user_id, type, key HAVING count(*) > 1) AS t""",
    "two active memories with the same words and no key": """
        SELECT count(*) FROM (SELECT 1 FROM memory_items WHERE status = 'active' AND key IS NULL
            GROUP BY tenant_id, user_id, type, content_hash HAVING count(*) > 1) AS t""",
    "versions that two others claim to succeed": """
        SELECT count(*) FROM (SELECT 1 FROM memory_items, unnest(supersedes) AS old
            GROUP BY tenant_id, user_id, old HAVING count(*) > 1) AS t""",
    "roots whose versions have gaps or two active ones": """
        SELECT count(*) FROM (SELECT 1 FROM memory_items GROUP BY tenant_id, user_id, root_id
            HAVING min(version) <> 1 OR max(version) <> count(*)
                OR count(*) FILTER (WHERE status = 'active') > 1) AS t""",
    "successors that are missing, or do not name what they succeed": """
        SELECT count(*) FROM memory_items AS old LEFT JOIN memory_items AS new
            ON (new.tenant_id, new.user_id, new.memory_id) = (old.tenant_id, old.user_id, old.superseded_by)
        WHERE old.superseded_by IS NOT NULL AND NOT coalesce(old.memory_id = ANY(new.supersedes), false)""",
    "superseded memories without a successor, or others with one": """
        SELECT count(*) FROM memory_items
        WHERE (status IN ('superseded', 'merged')) <> (superseded_by IS NOT NULL)""",
    "chains that never end": """
        WITH RECURSIVE chain AS (
            SELECT tenant_id, user_id, memory_id AS start, superseded_by AS next, 1 AS steps FROM memory_items
            UNION ALL
            SELECT c.tenant_id, c.user_id, c.start, m.superseded_by, c.steps + 1 FROM chain c JOIN memory_items m
                ON (m.tenant_id, m.user_id, m.memory_id) = (c.tenant_id, c.user_id, c.next)
            WHERE c.next IS NOT NULL AND c.steps < 10000)
        SELECT count(DISTINCT (tenant_id, user_id, start)) FROM chain WHERE steps >= 10000 OR next = start""",
    "active memories that nothing can find, or ended ones that something does": """
        SELECT count(*) FROM memory_items m LEFT JOIN memory_chunks c USING (tenant_id, user_id, memory_id)
        WHERE m.fused_at IS NULL AND (m.status = 'active') <> coalesce(c.active, false)""",
    "turns without an outcome": "SELECT count(*) FROM turns WHERE outcome_at IS NULL",
    "observations that nobody settled": "SELECT count(*) FROM observations WHERE state IN ('new', 'analyzed')",
    "proposals that nobody settled": "SELECT count(*) FROM proposals WHERE state = 'new'",
    "events set aside": "SELECT count(*) FROM quarantine",
}
"""Statements that count violations, by invariant."""


def broken(dsn: str) -> dict[str, int]:
    """The number of violations of each invariant, zeros included."""
    return {what: number(dsn, statement) for what, statement in BROKEN.items()}


def lost(dsn: str, user_id: str, expected: Mapping[Fact, bool]) -> list[Fact]:
    """Facts about the user that are missing, wrongly active, or active twice."""
    active = rows(
        dsn,
        "SELECT type, content_text AS text, value FROM memory_items WHERE user_id = %(u)s AND status = 'active'",
        u=user_id,
    )
    said = [(row["type"], f"{row['text']} {orjson.dumps(_current(row['value'])).decode()}") for row in active]
    return [fact for fact, so in expected.items() if _count(fact, said) != int(so)]


def _current(value: Mapping[str, object]) -> dict[str, object]:
    """The value without its statement about the past."""
    return {name: part for name, part in value.items() if name not in {"old", "old_key", "from", "quote"}}


def _count(fact: Fact, said: Iterable[tuple[str, str]]) -> int:
    return sum(fact.said_in(type, text) for type, text in said)
