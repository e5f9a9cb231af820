"""A version of a memory: its content, confidence, time and source turns."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.vocabulary import Assertion, Epistemic, MemoryStatus, MemoryType, Provenance


@dataclass(frozen=True)
class Memory:
    """One version of one memory, as stored."""

    memory_id: UUID
    root_id: UUID
    version: int
    type: MemoryType
    key: str | None
    value: dict[str, Any]
    content_text: str
    content_hash: str
    language: str
    polarity: int
    status: MemoryStatus
    confidence: float
    provenance_class: Provenance
    provenance: dict[str, Any]
    assertion: Assertion
    epistemic_type: Epistemic
    flags: tuple[str, ...]
    supersedes: tuple[UUID, ...]
    superseded_by: UUID | None
    valid_at: datetime
    invalid_at: datetime | None
    valid_until: datetime | None
    last_validated_at: datetime | None
    source_sessions: tuple[str, ...]
    source_turn_id: UUID | None
    source_turns: tuple[UUID, ...] = field(default=())
    created_at: datetime | None = None
    fused_at: datetime | None = None
    fused_from: float | None = None
    """What the confidence was before the memory was rejected too often; a confirmation gives it back."""
    pinned: bool = False
    silenced_at: datetime | None = None
    """Since when the user does not want it brought up."""
