"""memory_items as every package shows them: the stable ones, whatever is asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from schemas.vocabulary import Epistemic, MemoryType, Provenance
from shared.db import Connection, Read
from shared.domain.subjects import Subject


@dataclass(frozen=True)
class CoreMemoryRow:
    """What every package shows of a stable memory."""

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
"""The types and the order are those of the index memory_core, to the letter: it is read no further than the limit."""
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
    """The stable memories that a package may carry unasked: pinned and confirmed first, so many, and all of these keys.

    Where keys are given what is pinned is there whatever its type, and the order is lost.
    """
    params = {**subject.params, "limit": limit}
    if not (keys or prefixes):
        return Read(_CORE, params, to_pinned)
    starts = [each.replace("_", r"\_") + "%" for each in prefixes]
    return Read(_CORE_AND_KEYED, {**params, "keys": list(keys), "starts": starts}, to_pinned)


def to_pinned(rows: Iterable[Mapping[str, Any]]) -> list[CoreMemoryRow]:
    return [CoreMemoryRow(**row) for row in rows]


_PIN: LiteralString = """
UPDATE memory_items SET pinned = %(pinned)s, updated_at = now(),
    epistemic_type = CASE WHEN %(pinned)s THEN coalesce(epistemic_prev, epistemic_type) ELSE epistemic_type END,
    epistemic_prev = CASE WHEN %(pinned)s THEN NULL ELSE epistemic_prev END,
    confidence = CASE WHEN %(pinned)s THEN coalesce(fused_from, confidence) ELSE confidence END,
    correction_count = CASE WHEN %(pinned)s AND fused_at IS NOT NULL THEN 0 ELSE correction_count END,
    fused_at = CASE WHEN %(pinned)s THEN NULL ELSE fused_at END,
    fused_from = CASE WHEN %(pinned)s THEN NULL ELSE fused_from END
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = %(id)s AND status = 'active'
"""


async def pin(conn: Connection, subject: Subject, memory_id: UUID, *, pinned: bool) -> None:
    """The memory leads core memory, or no more; pinned it counts as neither outdated nor rejected."""
    await conn.execute(_PIN, {**subject.params, "id": memory_id, "pinned": pinned})
