"""A package as chat messages, in the order that the contract recommends (seed 003 section 11)."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from schemas.base import Contract, JsonObject
from schemas.evidence_pack import EvidenceItem, evidence_line
from schemas.vocabulary import Language, Role

if TYPE_CHECKING:
    from schemas.context_package import ContextPackage, RecentMessage

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


def messages(package: "ContextPackage", *, developer: bool = True) -> list[ChatMessage]:
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


def _recent(message: "RecentMessage") -> ChatMessage:
    """A name that chat APIs would refuse stands before what was said."""
    if message.name is None or _CHAT_NAME.fullmatch(message.name):
        return ChatMessage(role=message.role, content=message.content, name=message.name)
    return ChatMessage(role=message.role, content=f"{message.name}: {message.content}")


def _headings(language: Language) -> dict[Literal["summary", "evidence"], str]:
    return HEADINGS["zh" if language == "zh" else "en"]
