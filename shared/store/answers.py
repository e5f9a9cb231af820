"""model_answers: answers that nobody could read. By observer and analyzer; governor removes what expired."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

import orjson

from schemas.views import AnswerView
from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class KeptAnswer:
    """One answer that did not fit after the repair; `raw` has its secrets blanked."""

    answer_id: UUID
    turn_id: UUID
    prompt: str
    prompt_version: str
    model: str
    problem: str
    raw: str


_PUT: LiteralString = """
INSERT INTO model_answers (tenant_id, user_id, answer_id, turn_id, prompt, prompt_version, model, problem, raw,
    expires_at)
SELECT %(tenant)s, %(user)s, a.answer_id, a.turn_id, a.prompt, a.prompt_version, a.model, a.problem, a.raw,
    now() + make_interval(days => %(days)s)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS a(answer_id uuid, turn_id uuid, prompt text, prompt_version text,
    model text, problem text, raw text)
"""


async def put(conn: Connection, subject: Subject, kept: Sequence[KeptAnswer], days: int) -> None:
    """The answers can be looked at for so many days from now."""
    if kept:
        rows = orjson.dumps(list(kept)).decode()
        await conn.execute(_PUT, {**subject.params, "rows": rows, "days": days})


_LIST: LiteralString = """
SELECT answer_id, turn_id, prompt, prompt_version, model, problem, raw, created_at, expires_at FROM model_answers
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND expires_at > now()
ORDER BY created_at DESC, answer_id DESC LIMIT %(limit)s
"""


async def list_answers(conn: Connection, subject: Subject, limit: int) -> list[AnswerView]:
    """The user's kept answers that have not expired, newest first."""
    params = {**subject.params, "limit": limit}
    return [AnswerView(**row) for row in await (await conn.execute(_LIST, params)).fetchall()]


_PRUNE: LiteralString = """
DELETE FROM model_answers WHERE (tenant_id, user_id, answer_id) IN
    (SELECT tenant_id, user_id, answer_id FROM model_answers WHERE expires_at < now() LIMIT %(limit)s)
"""


async def prune(conn: Connection, limit: int) -> int:
    """How many expired answers were removed."""
    return (await conn.execute(_PRUNE, {"limit": limit})).rowcount
