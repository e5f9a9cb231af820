"""From rows to the values that `shared.domain.statements` reasons about."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, Statement, candidate_id, sense_of, speaker_of
from shared.extraction.edited import Content
from shared.language.normalise import detect
from shared.language.patterns import to_pattern

_PART = to_pattern(r"[，,。.!?！？;；\n]+(?=\s|\D)")


def statement_of(seen: ObservationRow) -> Statement:
    """The observation, reduced to what matters for its relation to memory."""
    old_key = seen.value.get("old_key")
    return Statement(
        type=seen.kind,
        key=seen.key,
        sense=sense_of(seen.key, seen.value, seen.text, seen.polarity),
        assertion=seen.assertion,
        flags=seen.flags,
        confidence=seen.confidence,
        retracts=seen.retracts,
        said_at=seen.said_at,
        session_id=seen.session_id,
        text=seen.text,
        quote=str(seen.value.get("quote") or ""),
        old_key=old_key if isinstance(old_key, str) else None,
        old_value=seen.old_value,
        value=_value(seen.value),
        related=seen.related_memory_id,
        polarity=seen.polarity,
        chosen=seen.detector == "items" and not seen.retracts,
        speaker=speaker_of(seen.value),
        details=seen.value,
        valid_until=seen.valid_until,
    )


def known_of(memory: Memory) -> ActiveMemory:
    """The memory, reduced in the same way."""
    return ActiveMemory(
        memory_id=memory.memory_id,
        root_id=memory.root_id,
        version=memory.version,
        type=memory.type,
        key=memory.key,
        sense=memory.content_hash,
        provenance=memory.provenance_class,
        assertion=memory.assertion,
        flags=memory.flags,
        confidence=memory.confidence if memory.fused_from is None else memory.fused_from,
        valid_at=memory.valid_at,
        source_sessions=memory.source_sessions,
        polarity=memory.polarity,
        text=memory.content_text,
        words=words_of(memory.content_text, memory.value),
        told=quoted_text(memory.content_text, memory.value),
        value=memory.value,
        valid_until=memory.valid_until,
        turns=len(memory.source_turns),
        replaced=memory.replaced,
    )


def with_content(seen: ObservationRow, content: Content) -> ObservationRow:
    """The observation, saying what a memory says that it has amended."""
    return replace(
        seen,
        kind=content.type,
        key=content.key,
        value=dict(content.value),
        text=content.text,
        polarity=content.polarity,
        flags=content.flags,
        language=detect(content.text),
        valid_until=content.valid_until,
    )


def left_id(observation_id: UUID, old: UUID) -> UUID:
    """The id of what stays of a memory that the observation ends, the same whenever it is done again."""
    return candidate_id(observation_id, f"left of {old}")


def _value(value: dict[str, Any]) -> str:
    said = value.get("value")
    return said if isinstance(said, str) else ""


def words_of(text: str, value: dict[str, Any]) -> tuple[str, ...]:
    """A text, and what its value says that it is about."""
    return (text, *(str(value[name]) for name in ("target", "value") if value.get(name)))


def quoted_text(text: str, value: dict[str, Any]) -> str:
    """A text, and of the sentence that it was read in the parts that name what it is about."""
    words = [word.lower() for word in words_of(text, value)[1:]]
    parts = [part.strip() for part in _PART.split(str(value.get("quote") or ""))]
    own = [part for part in parts if part and part not in text and any(word in part.lower() for word in words)]
    return " ".join([text, *own])
