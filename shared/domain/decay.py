"""The figures of a memory after time and use: the input of ageing, and decay. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.vocabulary import Epistemic, MemoryStatus, MemoryType, Provenance
from shared.policy import ConfidencePolicy
from shared.policy.compose import Steps, weigh_age

DECAY: Steps = ConfidencePolicy().decay
"""What is left of a confidence so many days after it was last validated, where policy does not say otherwise."""
Job = Literal["feedback", "fuse", "calibration", "consolidation", "outdated", "refreshed", "expiry", "misses"]
"""What changes memories beside statements."""


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done to these memories; `detail` holds figures and ids, no text."""

    job: Job
    memory_ids: tuple[UUID, ...]
    detail: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """One version of a memory without its words: what upkeep judges, and all that it changes."""

    memory_id: UUID
    root_id: UUID
    version: int
    type: MemoryType
    key: str | None
    status: MemoryStatus
    confidence: float
    provenance_class: Provenance
    epistemic_type: Epistemic
    epistemic_prev: Epistemic | None
    flags: tuple[str, ...]
    pinned: bool
    superseded_by: UUID | None
    valid_at: datetime
    invalid_at: datetime | None
    valid_until: datetime | None
    last_validated_at: datetime | None
    created_at: datetime
    injection_count: int = 0
    positive_count: int = 0
    correction_count: int = 0
    miss_count: int = 0
    calibrated: dict[str, int] = field(default_factory=dict[str, int])
    fused_at: datetime | None = None
    fused_from: float | None = None
    silenced_at: datetime | None = None

    @property
    def shown(self) -> bool:
        """Whether packages and search may show it."""
        return self.status == "active" and self.fused_at is None


def effective(kept: MemoryStats, now: datetime, decay: Steps = DECAY) -> float:
    """What the memory is worth now: its age counts from when it was last validated, else from when it was made."""
    return kept.confidence * weigh_age(decay, kept.last_validated_at or kept.created_at, now)
