"""Model answers and usage: model_cache, model_answers, model_usage. Written by observer and analyzer.

model_cache has the answer to an input, written with its results; model_answers has unreadable answers; model_usage has
the usage, written in the transaction of the results. The governor prunes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import orjson

from schemas.views import AnswerView
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.models.cost import Spent


@dataclass(frozen=True)
class KeptAnswer:
    """An answer that was invalid even after the repair; `raw` has its secrets blanked."""

    answer_id: UUID
    turn_id: UUID
    prompt: str
    prompt_version: str
    model: str
    problem: str
    raw: str


_PUT_ANSWERS: LiteralString = """
INSERT INTO model_answers (tenant_id, user_id, answer_id, turn_id, prompt, prompt_version, model, problem, raw,
    expires_at)
SELECT %(tenant)s, %(user)s, a.answer_id, a.turn_id, a.prompt, a.prompt_version, a.model, a.problem, a.raw,
    now() + make_interval(days => %(days)s)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS a(answer_id uuid, turn_id uuid, prompt text, prompt_version text,
    model text, problem text, raw text)
"""


async def put_answers(conn: Connection, subject: Subject, kept: Sequence[KeptAnswer], days: int) -> None:
    """Stores the answers for this many days."""
    if kept:
        rows = orjson.dumps(list(kept)).decode()
        await conn.execute(_PUT_ANSWERS, {**subject.params, "rows": rows, "days": days})


_LIST_ANSWERS: LiteralString = """
SELECT answer_id, turn_id, prompt, prompt_version, model, problem, raw, created_at, expires_at FROM model_answers
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND expires_at > now()
ORDER BY created_at DESC, answer_id DESC LIMIT %(limit)s
"""


async def list_answers(conn: Connection, subject: Subject, limit: int) -> list[AnswerView]:
    """The user's stored answers that have not expired, newest first."""
    params = {**subject.params, "limit": limit}
    return [AnswerView(**row) for row in await (await conn.execute(_LIST_ANSWERS, params)).fetchall()]


_PRUNE_ANSWERS: LiteralString = """
DELETE FROM model_answers WHERE (tenant_id, user_id, answer_id) IN
    (SELECT tenant_id, user_id, answer_id FROM model_answers WHERE expires_at < now() LIMIT %(limit)s)
"""


async def prune_answers(conn: Connection, limit: int) -> int:
    """Deletes expired answers; their number."""
    return (await conn.execute(_PRUNE_ANSWERS, {"limit": limit})).rowcount


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """One answer, secrets blanked, under its input hash; `said` is the digest of the words only."""

    input_hash: str
    purpose: str
    prompt_version: str
    model: str
    said: str
    turn_id: UUID | None
    answer: dict[str, Any]


_FIND_CACHED: LiteralString = """
SELECT input_hash, purpose, prompt_version, model, said, turn_id, answer FROM model_cache
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND input_hash = ANY(%(hashes)s)
"""


async def find_cached(conn: Connection, subject: Subject, hashes: Iterable[str]) -> dict[str, CachedAnswer]:
    """The cached answers to these inputs, by hash."""
    wanted = list(set(hashes))
    if not wanted:
        return {}
    params = {**subject.params, "hashes": wanted}
    return {
        row["input_hash"]: CachedAnswer(**row) for row in await (await conn.execute(_FIND_CACHED, params)).fetchall()
    }


_PUT_CACHED: LiteralString = """
INSERT INTO model_cache (tenant_id, user_id, input_hash, purpose, prompt_version, model, said, turn_id, answer)
SELECT %(tenant)s, %(user)s, a.input_hash, a.purpose, a.prompt_version, a.model, a.said, a.turn_id, a.answer
FROM jsonb_to_recordset(%(rows)s::jsonb) AS a(input_hash text, purpose text, prompt_version text, model text,
    said text, turn_id uuid, answer jsonb)
ON CONFLICT DO NOTHING
"""


async def put_cached(conn: Connection, subject: Subject, answers: Sequence[CachedAnswer]) -> bool:
    """Caches the answers; False if another process came first, whose answer stays."""
    if not answers:
        return True
    rows = orjson.dumps(list(answers)).decode()
    cursor = await conn.execute(_PUT_CACHED, {**subject.params, "rows": rows})
    return cursor.rowcount == len(answers)


@dataclass(frozen=True)
class Usage:
    """The cost of one model call, and whether its answer was readable."""

    purpose: str
    spent: Spent
    malformed: bool = False
    model: str | None = None


_ADD_USAGE: LiteralString = """
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


async def add_usage(conn: Connection, subject: Subject, used: Sequence[Usage]) -> None:
    """Adds to the user's usage of the day; calls that were never sent are omitted."""
    rows = [_usage_row(each) for each in used if each.spent.calls]
    if rows:
        await conn.execute(_ADD_USAGE, {**subject.params, "rows": orjson.dumps(rows).decode()})


def _usage_row(used: Usage) -> dict[str, Any]:
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
    """The user's usage today (UTC), all purposes together."""
    return to_spent(await (await conn.execute(_TODAY, subject.params)).fetchone())


_TENANT_TODAY: LiteralString = """
SELECT sum(calls)::bigint AS calls, sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out,
    sum(seconds) AS seconds
FROM model_usage WHERE tenant_id = %(tenant)s AND day = current_date
"""


async def tenant_today(conn: Connection, tenant_id: str) -> Spent:
    """The usage of all users of the tenant today; only the system role sees them all."""
    return to_spent(await (await conn.execute(_TENANT_TODAY, {"tenant": tenant_id})).fetchone())


def to_spent(row: Mapping[str, Any] | None) -> Spent:
    if row is None or row["calls"] is None:
        return Spent()
    return Spent(row["calls"], row["tokens_in"], row["tokens_out"], row["seconds"])


_PRUNE_USAGE: LiteralString = """
DELETE FROM model_usage WHERE (tenant_id, user_id, day, purpose) IN
    (SELECT tenant_id, user_id, day, purpose FROM model_usage WHERE day < current_date - %(age)s::interval
     LIMIT %(limit)s)
"""


async def prune_usage(conn: Connection, age: timedelta, limit: int) -> int:
    """Deletes rows of days longer ago than `age`; their number."""
    return (await conn.execute(_PRUNE_USAGE, {"age": age, "limit": limit})).rowcount
