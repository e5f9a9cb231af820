"""Statistics of a memory for the tests of its upkeep."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from shared.domain.decay import MemoryStats

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def ago(days: float) -> datetime:
    """This many days before NOW."""
    return NOW - timedelta(days=days)


def kept(**given: Any) -> MemoryStats:
    """An active memory of today, with these statistics instead of the default ones."""
    usual: dict[str, Any] = {
        "memory_id": UUID(int=1),
        "root_id": UUID(int=1),
        "version": 1,
        "type": "preference",
        "key": None,
        "status": "active",
        "confidence": 0.5,
        "provenance_class": "observation",
        "epistemic_type": "preference",
        "epistemic_prev": None,
        "flags": (),
        "pinned": False,
        "superseded_by": None,
        "valid_at": ago(1),
        "invalid_at": None,
        "valid_until": None,
        "last_validated_at": ago(1),
        "created_at": ago(1),
    }
    return MemoryStats(**{**usual, **given})
