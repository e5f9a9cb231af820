"""ContextPackage 0.1: everything that a model call is given, slot by slot, and the same as chat messages."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from schemas.base import Contract, Instant, JsonObject, StoredId
from schemas.evidence_pack import EvidenceItem, evidence_line
from schemas.experiment import GenerationMetadata
from schemas.explain import Explain
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


HEADINGS: dict[Literal["zh", "en"], dict[Literal["summary", "evidence"], str]] = {
    "zh": {"summary": "摘要:", "evidence": "证据:"},
    "en": {"summary": "Summary:", "evidence": "Evidence:"},
}
_CHAT_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ChatMessage(Contract):
    """One message of a model call; `content` is a text, or the blocks of a message that holds media."""

    role: Role | Literal["developer"]
    content: str | list[JsonObject]
    name: str | None = None


class PackageMessages(Contract):
    """The messages of one package, ready to be sent to a chat model."""

    context_id: str
    messages: tuple[ChatMessage, ...]


def evidence_text(evidence: Sequence[EvidenceItem], language: Language) -> str:
    """The evidence under its heading, labelled in the order of the package."""
    lines = (evidence_line(label, item) for label, item in enumerate(evidence, start=1))
    return "\n".join([_headings(language)["evidence"], *lines])


def messages(package: ContextPackage, *, developer: bool = True) -> list[ChatMessage]:
    """Rules and memory, summary, recent turns, evidence, what the user says; nothing else reaches the model (R104).

    Without `developer` the developer's rules join the system message, for chat APIs that know no such role.
    """
    rules = "\n".join(block.text for block in package.developer_blocks)
    system = "\n\n".join(block.text for block in package.system_blocks)
    if not developer:
        system, rules = "\n\n".join(filter(None, (system, rules))), ""
    summary = package.working_summary and f"{_headings(package.language)['summary']}\n{package.working_summary}"
    preceding = [
        *fill_message("system", system),
        *fill_message("developer", rules),
        *fill_message("system", summary),
        *(_recent(each) for each in package.recent_turns),
        *fill_message("system", evidence_text(package.evidence, package.language) if package.evidence else ""),
    ]
    said = package.user_message
    return [*preceding, ChatMessage(role="user", content=list(said.content_parts) or said.content)]


def fill_message(role: Literal["system", "developer"], text: str) -> list[ChatMessage]:
    return [ChatMessage(role=role, content=text)] if text else []


def _recent(message: RecentMessage) -> ChatMessage:
    """A name that chat APIs would refuse stands before what was said."""
    if message.name is None or _CHAT_NAME.fullmatch(message.name):
        return ChatMessage(role=message.role, content=message.content, name=message.name)
    return ChatMessage(role=message.role, content=f"{message.name}: {message.content}")


def _headings(language: Language) -> dict[Literal["summary", "evidence"], str]:
    return HEADINGS["zh" if language == "zh" else "en"]
