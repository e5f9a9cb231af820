"""Versions of memories for tests, named by small numbers."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from shared.domain.memories import Memory
from shared.store.versions import in_order


def a_memory(
    number: int, *, at: datetime, root: int | None = None, version: int = 1, supersedes: tuple[int, ...] = ()
) -> Memory:
    """The version with this number."""
    return Memory(
        memory_id=UUID(int=number),
        root_id=UUID(int=root or number),
        version=version,
        type="note",
        key=None,
        value={},
        content_text=str(number),
        content_hash=str(number),
        language="en",
        polarity=0,
        status="superseded",
        confidence=0.5,
        provenance_class="observation",
        provenance={},
        assertion="declared",
        epistemic_type="fact",
        flags=(),
        supersedes=tuple(UUID(int=each) for each in supersedes),
        superseded_by=None,
        valid_at=at,
        invalid_at=at,
        valid_until=None,
        last_validated_at=None,
        source_sessions=(),
        source_turn_id=None,
    )


def in_line(found: Sequence[Memory]) -> list[int]:
    """Their numbers in order."""
    return [each.memory_id.int for each in in_order(found)]
