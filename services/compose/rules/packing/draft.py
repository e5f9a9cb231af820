"""Types of packing: slots and their tokens, limits, inputs, decisions, the message, the draft, the package."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Literal, get_args

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
from services.compose.rules.packing.slots import PreparedEvidence, PreparedMemory
from services.compose.rules.ranking.repeats import DiversityPolicy
from shared.policy import BudgetPolicy
from shared.screening.sanitize import DEFAULT_SANITIZE, Outcome, SanitizePolicy

Slot = Literal["system", "user_turn", "generation", "personal", "window", "summary", "entities", "knowledge"]
Order = Literal["fixed_priority", "evidence_first"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
COMPRESSIBLE: tuple[Slot, ...] = ("knowledge", "summary", "entities", "window", "personal")
"""The slots that can be cut, in the order in which they are cut."""
DEFAULT_BUDGET = BudgetPolicy()


class UserMessageTooLongError(ValueError):
    """The user message leaves no room for the other uncut parts."""


class TokenLimitTooSmallError(ValueError):
    """The token limit has no room for any message besides rules and the shortest answer."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The static share of every slot for one window."""

    name: str
    window: int
    slots: Mapping[Slot, int]


@dataclass(frozen=True, slots=True)
class BudgetSignals:
    """Signals that move the shares, each in [0, 1]; 0.5 is the baseline, 0 means that there is nothing."""

    memory_richness: float = 0.5
    knowledge_relevance: float = 0.5
    conversation_depth: float = 0.5


@dataclass(frozen=True, slots=True)
class SlotBudget:
    """Tokens of one slot: what it wanted, its bounds, its share before cuts, and what it got."""

    wanted: int = 0
    minimum: int = 0
    maximum: int = 0
    share: int = 0
    granted: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class Allocation:
    """How the tokens of a package were shared out; `fallback`: the allocator failed."""

    limit: int
    margin: int
    profile: str
    allocation: Literal["dynamic", "static", "fallback"]
    order: Order
    signals: BudgetSignals
    slots: Mapping[Slot, SlotBudget]

    def as_json(self) -> dict[str, JsonValue]:
        """Plain values for a receipt."""
        made = asdict(self)
        return {**made, "signals": {name: round(value, 4) for name, value in asdict(self.signals).items()}}


@dataclass(frozen=True, slots=True)
class Floors:
    """The minimum of each slot, and how it was computed."""

    shares: Mapping[Slot, int]
    signals: BudgetSignals
    allocation: Literal["dynamic", "static", "fallback"]


@dataclass(frozen=True, slots=True)
class Filling:
    """The grant of each compressible slot, and the unused tokens of JSON."""

    shares: Mapping[Slot, SlotBudget]
    idle: int


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
