"""How memory and evidence read to the model: data in tags that no text can open or close (seed 004 4.1 step 3)."""

from datetime import datetime
from urllib.parse import quote

from schemas.evidence_pack import KnownOf
from schemas.vocabulary import Epistemic, Provenance
from services.compose.rules.candidates import Candidate, CoreMemory
from shared.domain.blocks import fenced_within
from shared.extraction.habits import PREFIX as HABIT
from shared.language.patterns import to_pattern
from shared.screening.sanitize import screen

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends on each message beside its content."""
MAX_ATTRIBUTE = 80
_UNCITABLE = to_pattern(r"[\s<>\"\x00-\x1f]")


def _attributes(**values: str | None) -> str:
    shown = ((name, value) for name, value in values.items() if value)
    return "".join(f' {name}="{_attribute(value)}"' for name, value in shown)


def _attribute(value: str) -> str:
    plain = " ".join(value.split())[:MAX_ATTRIBUTE]
    return plain.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _name(value: str | None) -> str | None:
    """A name or key from somebody's data; none where it holds what may not be shown."""
    return value if value and screen(value).outcome == "pass" else None


def citable(uri: str) -> str:
    """The address as one word that opens no tag; it leads where it led."""
    return _UNCITABLE.sub(lambda found: quote(found.group()), uri)


def _day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


TELLING: frozenset[Epistemic] = frozenset({"opinion", "outdated"})
"""What a note is where the model cannot see it from its words: a view, or how things were."""


def _trust(provenance: Provenance) -> str | None:
    return provenance if provenance == "confirmed_by_user" else None


def _kind(epistemic: Epistemic) -> str | None:
    return epistemic if epistemic in TELLING else None


def core_tag(memory: CoreMemory, text: str, nonce: str) -> str:
    """A pinned memory inside its tag; `text` is already screened and escaped."""
    attributes = _attributes(
        nonce=nonce,
        confidence=f"{memory.confidence:.2f}",
        provenance=_trust(memory.provenance),
        epistemic_type=_kind(memory.epistemic),
    )
    return write_tag("user_memory", attributes, text, None)


def evidence_snippet(candidate: Candidate, text: str, limit: int, nonce: str) -> str:
    """The candidate's text inside its tag, at most `limit` characters with it; empty where nothing would be left.

    The tag says what a model can use: how sure a note is and since when, of words who spoke and when, of knowledge
    whose it is. What else is known of it stands in the fields of the evidence.
    """
    if candidate.memory_id:
        attributes = _attributes(
            nonce=nonce,
            confidence=f"{candidate.confidence:.2f}",
            provenance=_trust(candidate.provenance),
            valid_since=_day(candidate.valid_at),
            valid_until=_day(candidate.until),
            epistemic_type=_kind(candidate.epistemic),
            type="habit" if (candidate.category or "").startswith(HABIT) else None,
        )
        return write_tag("user_memory", attributes, text, limit)
    if candidate.is_resource:
        source = "enterprise" if candidate.org_tier else _name(candidate.source_type) or "resource"
        attributes = _attributes(nonce=nonce, source=source, org_tier=_name(candidate.org_tier))
        return write_tag("knowledge", attributes, text, limit)
    speaker = _name(candidate.name) or candidate.role
    attributes = _attributes(
        nonce=nonce,
        valid_since=_day(candidate.valid_at),
        valid_until=_day(candidate.until),
        epistemic_type=_kind(candidate.epistemic),
        speaker=speaker,
    )
    return write_tag("user_memory", attributes, text, limit)


def known_of(candidate: Candidate) -> KnownOf | None:
    """What is known of a memory beside its words; nothing of what was said or stands in a document."""
    if candidate.memory_id is None:
        return None
    return KnownOf(
        confidence=round(candidate.confidence, 4),
        provenance=candidate.provenance,
        valid_since=candidate.valid_at,
        category=_name(candidate.category) or candidate.memory_type or "",
        epistemic_type=candidate.epistemic,
    )


def write_tag(tag: str, attributes: str, text: str, limit: int | None) -> str:
    opening, closing = f"<{tag}{attributes}>", f"</{tag}>"
    room = None if limit is None else limit - len(opening) - len(closing)
    if room is not None and room < 1:
        return ""
    inside = text if room is None else fenced_within(text, room)
    return f"{opening}{inside}{closing}"
