"""Turns an exported document into rows of the log: screened like any input, versions of memories as items of turns."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from schemas.content import BLOCKS, ContentBlock, MediaView
from schemas.exporting import ExportedEvent, ExportedMemory, ExportedTurn
from services.compose.intake import media
from services.compose.intake.redact import Cleaning, clean_blocks, clean_id, clean_json, clean_text, drop_words
from shared import clock
from shared.domain.subjects import Subject
from shared.extraction.manipulation import serves_itself
from shared.extraction.turn_texts import IMPORTED, SPOKEN

CARRIED_AT_ONCE = 200
"""How many memories that come without their turn are put into one turn."""
CARRIER_SESSION = "import"
NOT_KEPT = {"evidence", "content", "created_at"}
Field = dict[str, Any]


@dataclass
class ImportedTurn:
    """A turn to be imported, with its events as rows."""

    turn: ExportedTurn
    events: list[Field] = field(default_factory=list[Field])

    def add_memory(self, item: Field) -> None:
        """Adds a version of a memory to the turn."""
        ordinal = 1 + max((each["ordinal"] for each in self.events), default=-1)
        row = {"ordinal": ordinal, "event_type": "item", "content": item, "said_at": self.turn.created_at}
        self.events.append({**row, "event_id": clock.uuid7()})

    @property
    def digest(self) -> str:
        """The hash by which two commits are compared."""
        return hashlib.sha256(self.turn.model_dump_json().encode()).hexdigest()


def list_blocks(turns: Iterable[tuple[int, ExportedTurn]]) -> list[tuple[str, ContentBlock]]:
    """The media blocks of these turns, each with its field."""
    return [
        (f"turns.{n}.events.{place}.content.blocks.{at}.media_id", block)
        for n, turn in turns
        for place, event in enumerate(turn.events)
        for at, block in enumerate(read_blocks(event))
        if block.is_media
    ]


def read_blocks(event: ExportedEvent) -> tuple[ContentBlock, ...]:
    given: Any = event.content.get("blocks") if event.content_schema_version == BLOCKS else None
    return tuple(ContentBlock.model_validate(each) for each in given or ())


def to_turn(
    n: int, turn: ExportedTurn, cleaning: Cleaning, registered: Mapping[str, MediaView], *, words_kept: bool
) -> ImportedTurn:
    """The turn with its events, without secrets; `words_kept` is false if the policy does not log its words."""
    rows = [
        {
            "event_id": clock.uuid7(),
            "ordinal": event.ordinal,
            "event_type": event.event_type,
            "role": event.role,
            "name": clean_text(event.name, f"turns.{n}.events.{place}.name", cleaning) if event.name else None,
            "content": clean_content(event, f"turns.{n}.events.{place}.content", cleaning, registered),
            "meta": clean_json(event.meta, f"turns.{n}.events.{place}.meta", cleaning) if event.meta else None,
            "version": event.content_schema_version,
            "said_at": event.created_at,
        }
        for place, event in enumerate(turn.events)
    ]
    return ImportedTurn(turn, rows if words_kept or turn.remember else drop_words(rows, "turn"))


def clean_content(event: ExportedEvent, at: str, cleaning: Cleaning, registered: Mapping[str, MediaView]) -> Field:
    """The stored content of an event."""
    if event.event_type in SPOKEN:
        model = clean_id(event.content.get("model"), f"{at}.model", cleaning)  # pyright: ignore[reportArgumentType] # a text, by the contract
        named_model = {"model": model} if model else {}
        if blocks := read_blocks(event):
            settled = tuple(media.settle_block(block, registered) for block in blocks)
            return {**clean_blocks(settled, at, cleaning), **named_model}
        return {"text": clean_text(str(event.content["text"]), f"{at}.text", cleaning), **named_model}
    kept = {name: value for name, value in event.content.items() if name != IMPORTED}
    return {**clean_json(kept, at, cleaning)}


def to_item(n: int, memory: ExportedMemory, cleaning: Cleaning) -> Field:
    """The version of a memory as an item."""
    details = memory.model_dump(mode="json", exclude=NOT_KEPT)
    for name in ("value", "provenance"):
        details[name] = clean_json(details[name], f"memories.{n}.{name}", cleaning)
    content = clean_text(memory.content, f"memories.{n}.content", cleaning)
    if serves_itself(content, directed=True) and "self_benefit" not in memory.flags:
        details["flags"] = [*memory.flags, "self_benefit"]
    named = {"type": memory.type, "key": memory.key, "memory_id": str(memory.memory_id)}
    return {**named, "text": content, IMPORTED: details}


def to_carrier_turns(
    subject: Subject, left: Sequence[tuple[ExportedMemory, Field]], said_at: Any
) -> list[ImportedTurn]:
    """Turns for the versions whose own turn is missing; an erasure of that turn covers them too."""
    carriers: list[ImportedTurn] = []
    for at in range(0, len(left), CARRIED_AT_ONCE):
        part = left[at : at + CARRIED_AT_ONCE]
        named = ":".join([subject.tenant_id, subject.user_id, *(str(memory.memory_id) for memory, _ in part)])
        turn_id = uuid5(NAMESPACE_OID, named)
        session = {"session_id": CARRIER_SESSION, "seq": at // CARRIED_AT_ONCE + 1}
        turn = ExportedTurn(turn_id=turn_id, created_at=said_at, committed_at=said_at, **session)  # pyright: ignore[reportArgumentType] # the fields' own types
        carrier = ImportedTurn(turn)
        for _, item in part:
            carrier.add_memory(_to_carrier_turn(item, turn_id))
        carriers.append(carrier)
    return carriers


def _to_carrier_turn(item: Field, turn_id: UUID) -> Field:
    details = item[IMPORTED]
    sources = list(dict.fromkeys([*details["source_turns"], str(turn_id)]))
    provenance = {**details["provenance"], "carried": True}
    return {**item, IMPORTED: {**details, "source_turns": sources, "provenance": provenance}}
