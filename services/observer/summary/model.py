"""The input and the content of a rolling summary: frozen values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from schemas.vocabulary import Language, MemoryType, Role

Section = Literal[
    "profile", "preferences", "constraints", "goals", "decisions", "tasks", "context", "references", "questions"
]
TaskState = Literal["todo", "doing", "done", "blocked"]
Reason = Literal["turn_threshold", "token_pressure", "stage_event", "session_end"]
Count = Callable[[str], int]
Redact = Callable[[str], str]

SECTIONS: tuple[Section, ...] = (
    "profile",
    "preferences",
    "constraints",
    "goals",
    "decisions",
    "tasks",
    "context",
    "references",
    "questions",
)


def _maxima() -> dict[Section, int]:
    return {
        "profile": 8,
        "preferences": 8,
        "constraints": 8,
        "goals": 8,
        "decisions": 10,
        "tasks": 10,
        "context": 24,
        "references": 10,
        "questions": 8,
    }


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """When a summary is renewed and how large it may be.

    `window_tokens` is the least room that a package gives to the latest turns; `context_share` is what sentences of the
    conversation may take of the text at least, however much is stated beside them.
    """

    after_turns: int = 12
    token_limit: int = 8192
    token_share: float = 0.7
    window_tokens: int = 8192
    language: Language | None = None
    """Of the headings; None: that of the conversation."""
    big_tool_tokens: int = 1000
    text_tokens: int = 400
    context_share: float = 0.3
    item_chars: int = 160
    maxima: dict[Section, int] = field(default_factory=_maxima)


@dataclass(frozen=True, slots=True)
class SummaryMessage:
    """One message of a turn."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class SummaryRef:
    """A resource that a turn cites."""

    uri: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryTurn:
    """One turn as a summary reads it; of a tool's result only its size counts, its meaning comes as facts."""

    seq: int
    messages: tuple[SummaryMessage, ...]
    refs: tuple[SummaryRef, ...] = ()
    tool_results: tuple[str, ...] = ()
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """One observation of the session.

    `supersedes_key` names what it replaces, `retracts` takes its key back, and
    `old_value` is the word in whose place another stands now.
    """

    kind: MemoryType
    text: str
    key: str | None
    turn_seq: int
    polarity: Literal[-1, 0, 1] = 0
    state: TaskState | None = None
    supersedes_key: str | None = None
    retracts: bool = False
    old_value: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryState:
    """What has gathered since the last summary."""

    turns_since_last: int
    used_tokens: int
    stage_event: bool = False


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """One line of a section; `id` stays the same when the thing is said again, `seq` is its latest turn.

    `tickets` are the numbers by which a task may be named in other words, or in the other language. `role` says who
    spoke, `day` when, where the line would be read otherwise on another day.
    """

    section: Section
    id: str
    text: str
    seq: int
    state: TaskState | None = None
    tickets: tuple[str, ...] = ()
    role: Role = "user"
    day: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole session up to `source_to_seq`; `text` is what a prompt gets, `items` may hold more."""

    version: int
    source_from_seq: int
    source_to_seq: int
    items: tuple[SummaryItem, ...] = ()
    text: str = ""
    language: Language = "en"
    chinese_messages: int = 0
    other_messages: int = 0
