"""ContextPackage 0.1: everything that this turn's model call is given, slot by slot (seed 003)."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from collections.abc import Mapping
from typing import Any, Literal

from schemas.base import Contract, Instant, JsonObject, StoredId
from schemas.evidence_pack import EvidenceItem
from schemas.experiment import GenerationMetadata
from schemas.explain import Explain
from schemas.messages import messages
from schemas.retrieval_plan import RetrievalPlan, Version
from schemas.vocabulary import FeedbackVerdict, Language, Role

PACKAGE_VERSION = "0.1"


class BlockSource(Contract):
    """Where a block's text comes from."""

    turn_id: str | None = None
    memory_item_id: str | None = None


class SystemBlock(Contract):
    """Stable memory or a rule that is pinned to the system prompt (seed 003 section 3)."""

    type: Literal["core_profile", "preferences", "goals", "policies", "other"]
    text: str
    updated_at: Instant
    source: BlockSource = BlockSource()


class DeveloperBlock(Contract):
    """A rule for carrying out the turn (seed 003 section 4)."""

    type: Literal["tooling_rules", "format_rules", "safety_rules", "other"]
    text: str
    updated_at: Instant
    source: BlockSource = BlockSource()


class RecentMessage(Contract):
    """One message of the recent window; `name` says who spoke where the caller told us."""

    role: Role
    content: str
    name: str | None = None


class UserMessage(Contract):
    """What the user says now, whole; never inferred from the window (seed 003 section 8)."""

    role: Literal["user"] = "user"
    content: str
    content_parts: list[JsonObject] = []


class TokenBudget(Contract):
    """The limit, what the payload is estimated to use of it, and what was held back."""

    limit: int
    used_estimate: int
    margin: int = 0
    generation: int = 0
    profile: str = ""
    slots: dict[str, int] = {}


class DiversityLimits(Contract):
    """The diversity limits that shaped the evidence (X19)."""

    by_document: int = 3
    by_source: int = 10
    by_section: int = 1
    by_uri: int = 2
    memory_ratio: float = 0.4


class Truncation(Contract):
    """The length limits that shaped the slots."""

    snippets_max_chars: int = 800
    recent_turns_max: int = 8
    evidence_max_items: int = 12


class Constraints(Contract):
    """Budget input and outcome (seed 003 section 9)."""

    token_budget: TokenBudget
    diversity: DiversityLimits = DiversityLimits()
    truncation: Truncation = Truncation()


class PlannerDebug(Contract):
    """What the planner understood (seed 003 section 10)."""

    intent: str
    reason: str = ""
    queries: list[str] = []
    purpose: str = "other"
    confidence: float = 0.0
    entities: list[str] = []
    hints: list[str] = []
    language: Language = "other"
    resources_needed: bool = False
    plan: RetrievalPlan | None = None


class PackageDebug(Contract):
    """The explanation (seed 003 section 10)."""

    planner: PlannerDebug | None = None
    why_selected: list[str] = []
    ignored: list[str] = []
    explain: Explain = Explain()


class ContextPackage(Contract):
    """The composer's answer; the consumer converts it to messages and changes nothing (seed 003 section 2).

    `nonce` stands in every tag that fences data of this package; a tag without it is part of somebody's text.
    """

    version: Version = PACKAGE_VERSION
    context_id: str
    session_id: StoredId
    created_at: Instant
    request_id: str | None = None
    language: Language = "other"
    nonce: str = ""
    system_blocks: list[SystemBlock] = []
    developer_blocks: list[DeveloperBlock] = []
    working_summary: str = ""
    recent_turns: list[RecentMessage] = []
    evidence: list[EvidenceItem] = []
    user_message: UserMessage
    constraints: Constraints
    degraded_reason: list[str] = []
    generation_metadata: GenerationMetadata | None = None
    debug: PackageDebug | None = None
    verdicts: Mapping[str, FeedbackVerdict] = {}
    """Of a stored package: what the user said since of memories in it, by hand."""

    def to_messages(self, *, developer: bool = True) -> list[dict[str, Any]]:
        """The package as messages of a chat API; `developer=False` puts the developer's rules into the system's."""
        return [each.model_dump(exclude_none=True) for each in messages(self, developer=developer)]
