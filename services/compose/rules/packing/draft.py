"""Inputs and outputs of packing: limits, decisions, the message being answered, the draft."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import JsonValue

from schemas.content import BlockType, ContentBlock
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
from shared.domain.blocks import Blocked, fit_blocks
from shared.language import tokens
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
    policies: Sequence[str] = ()
    developer_rules: Sequence[str] = ()
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


def attach_conflicts(packed: PackagedContext, conflicts: Sequence[CandidateConflict]) -> PackagedContext:
    """The package with the overruled preferences added as decisions and drops, each naming the knowledge that overruled
    it."""
    if not conflicts:
        return packed
    decisions = tuple(
        Decision(each.memory, False, "conflict_knowledge", each.score, rule=each.knowledge) for each in conflicts
    )
    dropped = tuple(Dropped(each.memory, "conflict_knowledge", each.score, each.knowledge) for each in conflicts)
    return replace(
        packed,
        decisions=(*packed.decisions, *decisions),
        dropped=(*packed.dropped, *dropped),
        conflicts=(*packed.conflicts, *conflicts),
    )


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

    @property
    def evidence(self) -> list[PreparedEvidence]:
        """The evidence of both sides, best first."""
        return sorted((*self.memories, *self.knowledge), key=lambda each: each.place)


UNSUPPORTED = "content_type_unsupported"
"""The message has media that the model does not read; their fallback text replaces them."""
SHARE_FOR_MEDIA = 0.5
"""The share of the token limit for a message with the text recognised in its media."""
HANDED_ON = {"type", "media_id", "text_fallback", "security_status", "metadata"}
"""The status of a media block whose recognised text has been screened and is in the message."""


@dataclass(frozen=True, slots=True)
class UserMessageParts:
    """The message as text and, if the model reads any of its media, as parts with media blocks."""

    text: str
    parts: tuple[dict[str, JsonValue], ...] = ()
    withheld: tuple[Decision, ...] = ()
    degraded: tuple[str, ...] = ()


def split_message(
    blocks: Sequence[ContentBlock], modalities: Sequence[BlockType], limit: int, most: int, policy: SanitizePolicy
) -> UserMessageParts:
    """Splits the message for a model with these modalities; cuts recognised text to `most` and about half the limit."""
    media = [block for block in blocks if block.is_media]
    fitted = fit_blocks(blocks, min(most, int(limit * SHARE_FOR_MEDIA)), tokens.count, policy)
    readable = [block for block in media if block.type in modalities]
    parts = (
        [_part(block, piece, modalities) for block, piece in zip(blocks, fitted.pieces, strict=True)]
        if readable
        else []
    )
    degraded = (UNSUPPORTED,) if len(readable) < len(media) else ()
    return UserMessageParts(fitted.text, tuple(parts), list_withheld(fitted.blocked), degraded)


def _part(block: ContentBlock, piece: str, modalities: Sequence[BlockType]) -> dict[str, Any]:
    if block.is_media and block.type in modalities:
        return block.model_dump(mode="json", include=HANDED_ON, exclude_none=True)
    return {"type": "text", "text": piece}


def list_withheld(blocked: Iterable[Blocked]) -> tuple[Decision, ...]:
    """Decisions about recognised text that gave orders; its fallback is used instead."""
    return tuple(
        Decision(f"media:{each.media_id}", False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked
    )
