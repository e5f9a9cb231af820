"""model_usage: by observer and analyzer, in the transaction of what the model helped to find; pruned by governor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.models.cost import Spent


@dataclass(frozen=True)
class Usage:
    """What one question to a model cost, and whether its answer could be read."""

    purpose: str
    spent: Spent
    malformed: bool = False
    model: str | None = None


_ADD: LiteralString = """
INSERT INTO model_usage AS u (tenant_id, user_id, day, purpose, calls, tokens_in, tokens_out, seconds, malformed, model)
SELECT %(tenant)s, %(user)s, current_date, n.purpose, sum(n.calls), sum(n.tokens_in), sum(n.tokens_out),
    sum(n.seconds), sum(n.malformed), max(n.model)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(purpose text, calls integer, tokens_in bigint, tokens_out bigint,
    seconds double precision, malformed integer, model text)
GROUP BY n.purpose ORDER BY n.purpose
ON CONFLICT (tenant_id, user_id, day, purpose) DO UPDATE SET calls = u.calls + excluded.calls,
    tokens_in = u.tokens_in + excluded.tokens_in, tokens_out = u.tokens_out + excluded.tokens_out,
    seconds = u.seconds + excluded.seconds, malformed = u.malformed + excluded.malformed,
    model = coalesce(excluded.model, u.model)
"""


async def add(conn: Connection, subject: Subject, used: Sequence[Usage]) -> None:
    """The day's account of the user has grown by this; questions that never went out are left out."""
    rows = [_row(each) for each in used if each.spent.calls]
    if rows:
        await conn.execute(_ADD, {**subject.params, "rows": orjson.dumps(rows).decode()})


def _row(used: Usage) -> dict[str, Any]:
    spent = used.spent
    return {
        "purpose": used.purpose,
        "calls": spent.calls,
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "seconds": spent.seconds,
        "malformed": int(used.malformed),
        "model": used.model,
    }


_TODAY: LiteralString = """
SELECT sum(calls)::bigint AS calls, sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out,
    sum(seconds) AS seconds
FROM model_usage WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND day = current_date
"""


async def today(conn: Connection, subject: Subject) -> Spent:
    """What the user's turns have cost today (UTC), all purposes together."""
    return to_spent(await (await conn.execute(_TODAY, subject.params)).fetchone())


_TENANT_TODAY: LiteralString = """
SELECT sum(calls)::bigint AS calls, sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out,
    sum(seconds) AS seconds
FROM model_usage WHERE tenant_id = %(tenant)s AND day = current_date
"""


async def tenant_today(conn: Connection, tenant_id: str) -> Spent:
    """What all users of the tenant have cost today; only the system role sees them all."""
    return to_spent(await (await conn.execute(_TENANT_TODAY, {"tenant": tenant_id})).fetchone())


def to_spent(row: Mapping[str, Any] | None) -> Spent:
    if row is None or row["calls"] is None:
        return Spent()
    return Spent(row["calls"], row["tokens_in"], row["tokens_out"], row["seconds"])


_PRUNE: LiteralString = """
DELETE FROM model_usage WHERE (tenant_id, user_id, day, purpose) IN
    (SELECT tenant_id, user_id, day, purpose FROM model_usage WHERE day < current_date - %(age)s::interval
     LIMIT %(limit)s)
"""


async def prune(conn: Connection, age: timedelta, limit: int) -> int:
    """How many rows of days longer ago than `age` were removed."""
    return (await conn.execute(_PRUNE, {"age": age, "limit": limit})).rowcount
