"""All that is kept of one user as one document, which can be imported again (docs/howto/govern.md)."""

from collections.abc import Mapping
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue

from schemas.base import Contract, ExternalId, Instant, Json, JsonObject
from schemas.content import ContentBlock
from schemas.memory_item import Words
from schemas.memory_types import MemoryType
from schemas.sessions import EntitySlot
from schemas.turn_events import Metadata, Redaction, ShortText, Text, TurnRef
from schemas.views import ConflictView, EvidenceView
from schemas.vocabulary import Assertion, Epistemic, MemoryStatus, Provenance

EXPORT_FORMAT = "smartbrain.export"
EXPORT_VERSION = 1
IMPORT_MAX_BYTES = 67_108_864
"""An import larger than this is refused before it is parsed."""
EventType = Literal[
    "user_message",
    "assistant_message",
    "tool_call",
    "tool_result",
    "ref",
    "item",
    "feedback",
    "system",
    "session_end",
]
Count = Annotated[int, Field(ge=0, le=2_147_483_647)]
Unit = Annotated[float, Field(ge=0, le=1)]


class ExportedLine(Contract):
    """One line of a summary, and the turn that said it."""

    text: Text
    seq: Count


class SummaryParts(Contract):
    """What workers read of the structure of a summary."""

    items: tuple[ExportedLine, ...] = ()


class MemoryOrigin(Contract):
    """What workers read of where a version comes from."""

    turn_id: UUID | None = None
    ordinal: Count | None = None
    span: tuple[Count, Count] | None = None
    detector: ShortText | None = None
    pattern: ShortText | None = None
    restored: UUID | None = None
    merged: tuple[UUID, ...] = ()


class ExportedSummary(Contract):
    """One version of a session's summary, and the turns that it covers."""

    version: Annotated[int, Field(ge=1, le=2_147_483_647)]
    reason: ShortText
    text: Text
    summary_json: JsonObject = Field(default_factory=dict)
    source_from_seq: Count
    source_to_seq: Count
    model_id: ShortText
    generated_at: Instant | None = None
    level: Literal["working", "archived"] = "working"
    block_from_seq: Count | None = None
    block_text: Text | None = None


class ExportedSession(Contract):
    """A conversation without its turns."""

    session_id: ExternalId
    created_at: Instant
    last_turn_at: Instant
    archived_at: Instant | None = None
    metadata: Metadata = Field(default_factory=dict)
    entity_slots: dict[str, EntitySlot] = Field(default_factory=dict[str, EntitySlot])
    summary_seq: Count = 0
    open_tokens: Count = 0
    summaries: tuple[ExportedSummary, ...] = ()


class SpokenContent(Contract):
    """What a message says, with its blocks where it has any."""

    text: Text
    text_fallback: Text | None = None
    model: ShortText | None = None
    blocks: tuple[ContentBlock, ...] = ()


class CallContent(Contract):
    """What a tool was asked."""

    args: JsonObject = Field(default_factory=dict)
    call_id: ShortText | None = None


class ResultContent(Contract):
    """What a tool answered."""

    result: Json = None
    status: Literal["ok", "error", "pending"] | None = None


SHAPES: Mapping[EventType, type[Contract]] = {
    "user_message": SpokenContent,
    "assistant_message": SpokenContent,
    "system": SpokenContent,
    "tool_call": CallContent,
    "tool_result": ResultContent,
    "ref": TurnRef,
}
"""What the content of an event has to hold, by its type."""


class ExportedEvent(Contract):
    """One thing that was said or done in a turn."""

    ordinal: Count
    event_type: EventType
    role: ShortText | None = None
    name: ShortText | None = None
    content: JsonObject
    content_schema_version: Literal[0, 1] = 0
    meta: Metadata | None = None
    created_at: Instant


class ExportedTurn(Contract):
    """A turn as it was said; `remember` is false where nothing was to be learnt from it."""

    turn_id: UUID
    session_id: ExternalId
    seq: Annotated[int, Field(ge=1, le=2_147_483_647)]
    created_at: Instant
    committed_at: Instant
    org_id: ExternalId | None = None
    remember: bool = True
    events: Annotated[tuple[ExportedEvent, ...], Field(max_length=1024)] = ()


class ExportedMemory(Contract):
    """One version of one memory with its standing, and the words that it rests on."""

    memory_id: UUID
    root_id: UUID
    version: Annotated[int, Field(ge=1, le=2_147_483_647)]
    type: MemoryType
    key: ShortText | None = None
    value: JsonObject = Field(default_factory=dict)
    content: Words
    language: ShortText = "other"
    polarity: Literal[-1, 0, 1] = 1
    status: MemoryStatus
    confidence: Unit
    provenance_class: Provenance
    provenance: JsonObject = Field(default_factory=dict)
    assertion: Assertion
    epistemic_type: Epistemic
    epistemic_prev: Epistemic | None = None
    flags: tuple[ShortText, ...] = ()
    supersedes: tuple[UUID, ...] = ()
    superseded_by: UUID | None = None
    valid_at: Instant
    invalid_at: Instant | None = None
    valid_until: Instant | None = None
    last_validated_at: Instant | None = None
    source_sessions: tuple[ExternalId, ...] = ()
    source_turn_id: UUID | None = None
    source_turns: tuple[UUID, ...] = ()
    pinned: bool = False
    injection_count: Count = 0
    positive_count: Count = 0
    correction_count: Count = 0
    miss_count: Count = 0
    fused_at: Instant | None = None
    fused_from: Unit | None = None
    created_at: Instant | None = None
    evidence: tuple[EvidenceView, ...] = ()


class ExportedReception(Contract):
    """A package that was given to a model, the memories in it, and how it was received."""

    context_id: UUID
    session_id: str
    turn_id: UUID | None = None
    created_at: Instant
    memory_ids: tuple[UUID, ...] = ()
    used_ids: tuple[UUID, ...] | None = None
    feedback_signal: str | None = None
    utilization_signal: str | None = None


class ExportedFrom(Contract):
    """Whose data it was."""

    tenant_id: str
    user_id: str


class ExportCounts(Contract):
    """How many there are of each: the last field, so that a document without it is known to be cut off."""

    sessions: int
    turns: int
    memories: int
    conflicts: int
    feedback: int


class ExportDocument(Contract):
    """Version 1 of an export: what of it is not known here is passed over."""

    format: Literal["smartbrain.export"]
    version: Literal[1]
    exported_at: Instant
    exported_from: ExportedFrom | None = None
    settings: dict[str, JsonValue] | None = None
    sessions: tuple[ExportedSession, ...] = ()
    turns: tuple[ExportedTurn, ...] = ()
    memories: tuple[ExportedMemory, ...] = ()
    conflicts: tuple[ConflictView, ...] = ()
    feedback: tuple[ExportedReception, ...] = ()
    counts: ExportCounts


class Imported(Contract):
    """Of one kind, how many are written, were here already, or are left out since they were erased here."""

    written: int = 0
    known: int = 0
    erased: int = 0


class ImportReceipt(Contract):
    """What an import wrote: all of it or, refused, nothing. Memories stand once the outcome of `turn_id` is there.

    `turn_id` is none where there was nothing new; `redacted` names what was blanked on the way in.
    """

    imported_at: Instant
    turn_id: UUID | None = None
    sessions: Imported
    turns: Imported
    memories: Imported
    redacted: tuple[Redaction, ...] = ()
