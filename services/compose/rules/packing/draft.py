"""Types of packing: limits, inputs, decisions, the message being answered, the draft, the package."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from schemas.context_package import ContextPackage, RecentMessage
from schemas.experiment import GenerationMetadata
from schemas.vocabulary import DropReason, Intent, Language
from services.compose.rules.candidates import (
    MOST_MEMORIES,
    CandidateConflict,
    CoreMemory,
    Dropped,
    HeldBack,
    RankedCandidate,
    RecentTurn,
)
from services.compose.rules.packing.budget import DEFAULT_BUDGET, Allocation
from services.compose.rules.packing.slots import PreparedEvidence, PreparedMemory
from services.compose.rules.ranking.repeats import DiversityPolicy
from shared.policy import BudgetPolicy
from shared.screening.sanitize import DEFAULT_SANITIZE, Outcome, SanitizePolicy


@dataclass(frozen=True, slots=True)
class PackPolicy:
    """The limits of a package."""

    budget: BudgetPolicy = DEFAULT_BUDGET
    sanitize: SanitizePolicy = DEFAULT_SANITIZE
    diversity: DiversityPolicy = field(default_factory=DiversityPolicy)
    memory_ratio: float = 0.4
    recent_turns_max: int = 8
    evidence_max_items: int = 12
    memories_max: int = MOST_MEMORIES
    max_snippet_chars: int = 800
    max_tool_chars: int = 240
    short_guide_below: int = 2048


@dataclass(frozen=True, slots=True)
class PackInputs:
    """The contents to pack; `evidence` is in final order."""

    context_id: str
    session_id: str
    created_at: datetime
    user_message: str
    request_id: str | None = None
    content_parts: Sequence[dict[str, JsonValue]] = ()
    token_limit: int = 8192
    intent: Intent = "other"
    language: Language | None = None
    nonce: str = ""
    core: Sequence[CoreMemory] = ()
    working_summary: str = ""
    entities: Sequence[str] = ()
    recent: Sequence[RecentTurn] = ()
    evidence: Sequence[RankedCandidate] = ()
    hints: Sequence[str] = ()
    degraded_reason: Sequence[str] = ()
    withheld: Sequence["Decision"] = ()
    held_back: Sequence[HeldBack] = ()
    inject_limit: int | None = None
    generation_metadata: GenerationMetadata | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one memory or piece of evidence: the five-tuple of the receipt and its outcome."""

    key: str
    injected: bool
    reason: DropReason
    score: float = 0.0
    position: int | None = None
    slot: Literal["evidence", "system"] = "evidence"
    zone: Literal["head", "middle", "tail"] | None = None
    sanitization: Outcome = "pass"
    rule: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class PackagedContext:
    """The package without debug section, and what receipts and debug section need."""

    package: ContextPackage
    decisions: tuple[Decision, ...]
    dropped: tuple[Dropped, ...]
    why_selected: tuple[str, ...]
    allocation: Allocation
    budget_exceeded: bool
    conflicts: tuple[CandidateConflict, ...] = ()
    held_back: tuple[HeldBack, ...] = ()


@dataclass(slots=True)
class PackageDraft:
    """The package while it is filled."""

    memories: list[PreparedEvidence] = field(default_factory=list[PreparedEvidence])
    knowledge: list[PreparedEvidence] = field(default_factory=list[PreparedEvidence])
    core: list[PreparedMemory] = field(default_factory=list[PreparedMemory])
    turns: list[list[RecentMessage]] = field(default_factory=list[list[RecentMessage]])
    summary: str = ""
    entities: str = ""
    rejected: list[Decision] = field(default_factory=list[Decision])
    degraded: list[str] = field(default_factory=list[str])
    held_back: list[HeldBack] = field(default_factory=list[HeldBack])


UNSUPPORTED = "content_type_unsupported"
"""The message has media that the model does not read; their fallback text replaces them."""


@dataclass(frozen=True, slots=True)
class UserMessageParts:
    """The message as text and, if the model reads any of its media, as parts with media blocks."""

    text: str
    parts: tuple[dict[str, JsonValue], ...] = ()
    withheld: tuple[Decision, ...] = ()
    degraded: tuple[str, ...] = ()
