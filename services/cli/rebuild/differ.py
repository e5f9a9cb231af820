"""Compares two states of one user's memories. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

UNTOLD = frozenset({"tenant_id", "user_id", "created_at", "updated_at", "epoch", "tombstone_id"})
"""Columns with owner and write time, which are not compared."""
CLOSE = 1e-4

Rows = Mapping[UUID, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one memory; a memory that exists on only one side differs only in `memory_id`."""

    memory_id: UUID
    field: str
    live: Any
    rebuilt: Any


def differences(live: Rows, rebuilt: Rows) -> list[Difference]:
    """Every field that differs, in the order of the memories' ids."""
    return [each for memory_id in sorted({*live, *rebuilt}) for each in _of(memory_id, live, rebuilt)]


def _of(memory_id: UUID, live: Rows, rebuilt: Rows) -> Iterator[Difference]:
    one, other = live.get(memory_id), rebuilt.get(memory_id)
    if one is None or other is None:
        there = one or other or {}
        said = f"{there.get('status')} {there.get('type')}: {there.get('content_text')}"
        yield Difference(memory_id, "memory_id", said if one else None, said if other else None)
        return
    for field in sorted({*one, *other} - UNTOLD):
        if not is_same(one.get(field), other.get(field)):
            yield Difference(memory_id, field, one.get(field), other.get(field))


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= CLOSE
    return bool(one == other)
