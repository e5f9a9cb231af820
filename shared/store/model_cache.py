"""model_cache: what a model answered to an input. Written by observer and analyzer with what came of the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.db import Connection
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """One answer, secrets blanked, under the hash of what it answers; `said` is the digest of the words alone."""

    input_hash: str
    purpose: str
    prompt_version: str
    model: str
    said: str
    turn_id: UUID | None
    answer: dict[str, Any]


_FIND: LiteralString = """
SELECT input_hash, purpose, prompt_version, model, said, turn_id, answer FROM model_cache
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND input_hash = ANY(%(hashes)s)
"""


async def find(conn: Connection, subject: Subject, hashes: Iterable[str]) -> dict[str, CachedAnswer]:
    """The answers that these inputs had before, by hash."""
    wanted = list(set(hashes))
    if not wanted:
        return {}
    params = {**subject.params, "hashes": wanted}
    return {row["input_hash"]: CachedAnswer(**row) for row in await (await conn.execute(_FIND, params)).fetchall()}


_PUT: LiteralString = """
INSERT INTO model_cache (tenant_id, user_id, input_hash, purpose, prompt_version, model, said, turn_id, answer)
SELECT %(tenant)s, %(user)s, a.input_hash, a.purpose, a.prompt_version, a.model, a.said, a.turn_id, a.answer
FROM jsonb_to_recordset(%(rows)s::jsonb) AS a(input_hash text, purpose text, prompt_version text, model text,
    said text, turn_id uuid, answer jsonb)
ON CONFLICT DO NOTHING
"""


async def put(conn: Connection, subject: Subject, answers: Sequence[CachedAnswer]) -> bool:
    """Whether the inputs have these answers from now on; not where another came first, which stays."""
    if not answers:
        return True
    rows = orjson.dumps(list(answers)).decode()
    cursor = await conn.execute(_PUT, {**subject.params, "rows": rows})
    return cursor.rowcount == len(answers)
