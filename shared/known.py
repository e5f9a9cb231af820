"""From rows to the values that `shared.relate` reasons about."""

from shared.relate import SUPPOSED, Known, Statement, sense_of
from shared.store.memory import Memory
from shared.store.observations import ObservationRow


def statement_of(seen: ObservationRow) -> Statement:
    """The observation, reduced to what matters for its relation to memory."""
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
        old_value=seen.old_value,
        related=seen.related_memory_id if seen.assertion in SUPPOSED and not seen.retracts else None,
    )


def known_of(memory: Memory) -> Known:
    """The memory, reduced in the same way."""
    return Known(
        memory_id=memory.memory_id,
        root_id=memory.root_id,
        version=memory.version,
        type=memory.type,
        key=memory.key,
        sense=memory.content_hash,
        provenance=memory.provenance_class,
        assertion=memory.assertion,
        flags=memory.flags,
        confidence=memory.confidence,
        valid_at=memory.valid_at,
        source_sessions=memory.source_sessions,
        polarity=memory.polarity,
        text=memory.content_text,
    )
