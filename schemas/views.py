"""What the HTTP interface shows of rows."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, Instant, Json, JsonObject
from schemas.events import TurnOutcome
from schemas.memory_item import MemoryItem
from schemas.vocabulary import MemoryStatus, MemoryType


class EventView(Contract):
    """One event of a turn; `content` and `meta` are null once erased; a message of version 1 has blocks in it."""

    event_id: UUID
    ordinal: int
    event_type: str
    role: str | None = None
    name: str | None = None
    content: Json = None
    content_schema_version: int = 0
    meta: JsonObject | None = None
    created_at: Instant


class TurnView(Contract):
    """A turn as it was said: what `smartbrain://turn/{turn_id}` leads to."""

    turn_id: UUID
    session_id: str
    seq: int
    created_at: Instant
    committed_at: Instant
    org_id: str | None = None
    events: tuple[EventView, ...]


class TurnOutcomeView(Contract):
    """How far a turn has come: `pending`, or its outcome with the memories it left."""

    turn_id: UUID
    state: Literal["pending", "observed", "complete"]
    committed_at: Instant
    complete_at: Instant | None = None
    outcome: TurnOutcome | None = None
    memories: tuple[MemoryItem, ...] = ()


class MemoryPage(Contract):
    """Some memories of one user, and how many fit in all: of a search at most 1,000 are counted.

    With `as_of` they are the versions that held at that moment; `status` is that of now.
    """

    memories: tuple[MemoryItem, ...]
    as_of: Instant | None = None
    count: int


class EvidenceView(Contract):
    """One observation that made a version what it is. `quote` is null where nothing was said, or once it is erased."""

    action: str
    observation_id: UUID
    turn_id: UUID
    session_id: str
    said_at: Instant
    source: str
    role: str | None = None
    name: str | None = None
    quote: str | None = None
    erased: bool = False
    detector: str
    pattern: str
    reason: str | None = None


class UpkeepView(Contract):
    """What changed a version beside statements: feedback, calibration, consolidation, ageing."""

    job: str
    memory_ids: tuple[UUID, ...]
    detail: JsonObject
    at: Instant


class ConflictView(Contract):
    """What was said (`said`) against a stronger memory (`known`); `kept` or `replaced` once it is settled."""

    conflict_id: UUID
    kind: str
    state: Literal["open", "kept", "replaced"]
    opened_at: Instant
    closed_at: Instant | None = None
    memory_id: UUID
    known: str
    known_status: MemoryStatus
    observation_id: UUID
    said: str
    said_at: Instant
    session_id: str
    turn_id: UUID
    quote: str | None = None
    erased: bool = False


class ConflictPage(Contract):
    """Some conflicts of one user, newest first."""

    conflicts: tuple[ConflictView, ...]


class MemoryVersion(MemoryItem):
    """One version with what it rests on."""

    evidence: tuple[EvidenceView, ...] = ()
    upkeep: tuple[UpkeepView, ...] = ()
    conflicts: tuple[ConflictView, ...] = ()


class MemoryHistory(Contract):
    """Every version of one memory and of those that it was joined from, oldest first."""

    memories: tuple[MemoryVersion, ...]


class AnswerView(Contract):
    """An answer of a model that did not fit even when asked again: the rules alone read that turn."""

    answer_id: UUID
    turn_id: UUID
    prompt: str
    prompt_version: str
    model: str
    problem: str
    raw: str
    created_at: Instant
    expires_at: Instant


class AnswerPage(Contract):
    """The kept answers of one user, newest first."""

    answers: tuple[AnswerView, ...]


class SummaryView(Contract):
    """The rolling summary of a session and the turns that it covers."""

    session_id: str
    version: int
    reason: str
    text: str
    source_from_seq: int
    source_to_seq: int
    generated_at: Instant
    model_id: str
    summary_json: JsonObject


ChangeKind = Literal[
    "learnt",
    "changed",
    "ended",
    "taken_back",
    "merged",
    "restored",
    "confirmed",
    "pinned",
    "unpinned",
    "outdated",
    "hidden",
    "imported",
]
Cause = Literal["turn", "edit", "upkeep", "import"]


class MemoryChange(Contract):
    """One change of what is known: `before` are the texts that hold no longer by it, `after` the one that holds."""

    at: Instant
    what: ChangeKind
    by: Annotated[
        Cause,
        Field(description="What was said, what the user did by hand, what time and use did, or an import"),
    ]
    memory_id: UUID
    type: MemoryType
    before: tuple[str, ...] = ()
    after: str | None = None
    turn_id: UUID | None = None
    session_id: str | None = None
    reason: str | None = None


class ChangePage(Contract):
    """Some changes of one user, newest first."""

    changes: tuple[MemoryChange, ...]
