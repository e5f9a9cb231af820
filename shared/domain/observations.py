"""The observations of a turn, as the observer writes them; the evolver makes memories of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.vocabulary import Assertion, Epistemic, MemoryType, Priority


@dataclass(frozen=True)
class ObservationRow:
    """One thing that a turn said; `observation_id` becomes the memory's id if it becomes one."""

    observation_id: UUID
    turn_id: UUID
    session_id: str
    ordinal: int
    priority: Priority
    kind: MemoryType
    key: str | None
    value: dict[str, Any]
    text: str
    assertion: Assertion
    epistemic: Epistemic
    polarity: int
    confidence: float
    detector: str
    pattern: str
    language: str
    retracts: bool
    old_value: str | None
    flags: tuple[str, ...]
    valid_until: datetime | None
    said_at: datetime
    input_hash: str
    span_start: int = 0
    span_end: int = 0
    related_memory_id: UUID | None = None
    state: str = "new"
    reason: str | None = None
    experiment: dict[str, Any] | None = None
