"""Values that extraction reads and returns, without behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from schemas.vocabulary import (
    Assertion,
    EntityKind,
    Epistemic,
    FeedbackSignal,
    Language,
    MemoryType,
    Priority,
    Role,
)

Polarity = Literal[-1, 0, 1]


@dataclass(frozen=True, slots=True)
class MessageText:
    """One message; `name` is set if several people talk, and then the first person is that person."""

    role: Role
    text: str
    name: str | None
    ordinal: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ToolText:
    """One tool call with its result as text (JSON where the tool answered JSON)."""

    name: str
    args: Mapping[str, Any]
    result_text: str
    status: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class RefText:
    """A resource that the turn cites."""

    ref_type: str
    ref_uri: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class StructuredStatement:
    """An item that the client extracted itself."""

    type: MemoryType
    key: str | None
    value: Any
    text: str | None = None
    confirmed: bool = False
    retract: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class TurnText:
    """Everything of one turn that can carry memory."""

    messages: tuple[MessageText, ...]
    tool_calls: tuple[ToolText, ...] = ()
    refs: tuple[RefText, ...] = ()
    items: tuple[StructuredStatement, ...] = ()
    remembered: bool | None = None
    """Whether the caller wants the session remembered from here on, if they say so."""


@dataclass(frozen=True, slots=True)
class ObserveContext:
    """Facts outside the turn: its time, names mentioned in the last twenty turns, the answer before it.

    `session_mentions` are those of these names that were mentioned in its own session.

    The answer is None if it is not known, and empty if there was none or no feedback is wanted.
    """

    occurred_at: datetime
    recent_mentions: Mapping[str, int] = field(default_factory=dict[str, int])
    session_mentions: frozenset[str] = frozenset()
    answer_before: str | None = None


@dataclass(frozen=True, slots=True)
class ObservePolicy:
    """The slice of policy that observing needs."""

    entity_min_mentions: int = 2
    profile_slots: frozenset[str] | None = frozenset()
    """Slots of a profile in addition to the built-in ones; None accepts any slot."""
    max_observations: int = 64
    max_message_chars: int = 10_000
    max_turn_chars: int = 15_000
    """The characters that are read of one message, and of all messages of a turn together."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A statement that is worth keeping, with its place and the rule that found it.

    `old_value` names what a correction replaces; `value["old_key"]` is its key, if it can be known.
    """

    kind: MemoryType
    key: str | None
    value: dict[str, Any]
    text: str
    assertion: Assertion
    epistemic: Epistemic
    polarity: Polarity
    priority: Priority
    retracts: bool
    old_value: str | None
    detector: str
    pattern: str
    language: Language
    role: Role
    message_ordinal: int
    span: tuple[int, int]
    flags: tuple[str, ...] = ()
    event_date: date | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of an entity in a message, whether or not it passes the entity gate."""

    name: str
    kind: EntityKind
    canonical: str
    span: tuple[int, int]
    message_ordinal: int
    same_as: str | None = None
    """Another name of the same entity, if the text gives one."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text that must not become memory, and the rule that refuses it."""

    reason: str
    rule: str
    span: tuple[int, int]
    ordinal: int


@dataclass(frozen=True, slots=True)
class ReadingNote:
    """The reason why a span of text was kept or dropped."""

    text_span: tuple[int, int]
    decision: Literal["kept", "dropped"]
    reason: str
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the user's message says about the previous answer."""

    signal: FeedbackSignal
    pattern: str
    span: tuple[int, int]
    message_ordinal: int


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of observing a turn; corrections are observations with the assertion `correction`.

    `suspected` observations are not kept themselves but may end a memory.
    """

    observations: tuple[Observation, ...] = ()
    suspected: tuple[Observation, ...] = ()
    mentions: tuple[Mention, ...] = ()
    refused: tuple[Refusal, ...] = ()
    explain: tuple[ReadingNote, ...] = ()
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a detector in one clause; the caller adds speaker, place and language."""

    kind: MemoryType
    key: str | None
    value: dict[str, Any]
    text: str
    detector: str
    pattern: str
    epistemic: Epistemic = "fact"
    polarity: Polarity = 0
    assertion: Assertion = "declared"
    retracts: bool = False
    old_value: str | None = None
    flags: tuple[str, ...] = ()
    event_date: date | None = None
    valid_until: datetime | None = None
