"""How memory, evidence and the whole package read to the model (seed 003 section 11, seed 004 section 4.1 step 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidenceItem
from schemas.vocabulary import Language
from services.compose.rules import texts
from services.compose.rules.model import Candidate, CoreMemory
from shared.text.language import detect
from shared.text.normalise import clip

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends on each message beside its content."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a model call."""

    role: str
    content: str
    name: str | None = None


def _attributes(**values: str | None) -> str:
    shown = ((name, value) for name, value in values.items() if value)
    return "".join(f' {name}="{_attribute(value)}"' for name, value in shown)


def _attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")[:80]


def _day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def core_tag(memory: CoreMemory, text: str) -> str:
    """A pinned memory inside its tag; `text` is already screened and escaped."""
    return _tagged(
        "user_memory",
        _attributes(
            source="personal",
            confidence=f"{memory.confidence:.2f}",
            provenance=memory.provenance,
            valid_since=_day(memory.valid_at or memory.updated_at),
            category=memory.category or memory.type,
            epistemic_type=memory.epistemic,
        ),
        text,
        None,
    )


def evidence_snippet(candidate: Candidate, text: str, limit: int) -> str:
    """The candidate's text inside its tag, at most `limit` characters with it; empty where nothing would be left."""
    if candidate.memory_id:
        attributes = _attributes(
            source="personal",
            confidence=f"{candidate.confidence:.2f}",
            provenance=candidate.provenance,
            valid_since=_day(candidate.valid_at),
            category=candidate.category or candidate.memory_type,
            epistemic_type=candidate.epistemic,
        )
        return _tagged("user_memory", attributes, text, limit)
    if candidate.is_resource:
        source = "enterprise" if candidate.org_tier else candidate.source_type or "resource"
        return _tagged("knowledge", _attributes(source=source, org_tier=candidate.org_tier), text, limit)
    speaker = candidate.name or candidate.role
    attributes = _attributes(source="conversation", valid_since=_day(candidate.valid_at), speaker=speaker)
    return _tagged("user_memory", attributes, text, limit)


def _tagged(tag: str, attributes: str, text: str, limit: int | None) -> str:
    opening, closing = f"<{tag}{attributes}>", f"</{tag}>"
    room = None if limit is None else limit - len(opening) - len(closing)
    if room is not None and room < 1:
        return ""
    inside = text if room is None else clip(text, room)
    return f"{opening}{inside}{closing}"


def evidence_line(label: int, item: EvidenceItem) -> str:
    """`[E1] title — uri`, the snippet, `(mode, score)`: a stable form to cite and to evaluate (facts 2.1)."""
    title = f"{item.title} — " if item.title else ""
    return f"[E{label}] {title}{item.source_uri}\n{item.snippet}\n({item.mode}, {item.score:.2f})"


def messages(package: ContextPackage, language: Language | None = None) -> list[ChatMessage]:
    """The package as chat messages in the advised order; nothing else of it reaches the model (R104)."""
    headings = texts.HEADINGS["zh" if (language or detect(package.user_message.content)) == "zh" else "en"]
    made: list[ChatMessage] = []
    if package.system_blocks:
        made.append(ChatMessage("system", "\n\n".join(block.text for block in package.system_blocks)))
    if package.developer_blocks:
        made.append(ChatMessage("developer", "\n".join(block.text for block in package.developer_blocks)))
    if package.working_summary:
        made.append(ChatMessage("system", f"{headings['summary']}\n{package.working_summary}"))
    made += [ChatMessage(each.role, each.content, each.name) for each in package.recent_turns]
    if package.evidence:
        made.append(ChatMessage("system", "\n".join([headings["evidence"], *_lines(package.evidence)])))
    made.append(ChatMessage("user", package.user_message.content))
    return made


def _lines(evidence: Sequence[EvidenceItem]) -> list[str]:
    return [evidence_line(label, item) for label, item in enumerate(evidence, start=1)]
