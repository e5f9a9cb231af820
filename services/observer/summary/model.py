"""The input and the content of a rolling summary, whether one is due, and its form in the database.

It is due after enough turns, with more tokens than the window, or when a decision or a task is finished.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from schemas.vocabulary import Language, MemoryType, Role
from shared.policy import Policy

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
    """When a summary is due, and how large it may be.

    `window_tokens` is the minimum space of a package for the latest turns; `context_share` is the minimum share of the
    text for sentences of the conversation, however many facts there are.
    """

    after_turns: int = 12
    token_limit: int = 8192
    token_share: float = 0.7
    window_tokens: int = 8192
    language: Language | None = None
    """The language of the headings; None for that of the conversation."""
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
    """One turn as a summary reads it; of a tool result only the size counts, its content comes as facts."""

    seq: int
    messages: tuple[SummaryMessage, ...]
    refs: tuple[SummaryRef, ...] = ()
    tool_results: tuple[str, ...] = ()
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """One observation of the session.

    `supersedes_key` is the key that it replaces, `retracts` withdraws its key, and `old_value` is the replaced word.
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
    """The turns and tokens since the last summary."""

    turns_since_last: int
    used_tokens: int
    stage_event: bool = False


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """One line of a section; `id` stays the same if the statement is repeated, `seq` is its latest turn.

    `tickets` are the numbers by which other words, or the other language, may name a task. `role` is the speaker, `day`
    the date if the line means something else on another day.
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
    """The whole session up to `source_to_seq`; `text` is for prompts, `items` may contain more."""

    version: int
    source_from_seq: int
    source_to_seq: int
    items: tuple[SummaryItem, ...] = ()
    text: str = ""
    language: Language = "en"
    chinese_messages: int = 0
    other_messages: int = 0


def to_summary_policy(policy: Policy) -> SummaryPolicy:
    """The policy of summaries: one is due before a turn leaves the window that packages show."""
    observer, compose = policy.observer, policy.compose
    return SummaryPolicy(
        after_turns=min(observer.summarize_after_turns, max(1, compose.recent_turns_max)),
        token_limit=observer.summary_token_limit,
        token_share=observer.summary_token_share,
        language=None if compose.language == "auto" else compose.language,
        window_tokens=min(shares.window for shares in compose.budget.profiles.values()),
    )


def find_reason(state: SummaryState, policy: SummaryPolicy) -> Reason | None:
    """The reason why a summary is due now; None if it is not."""
    if state.turns_since_last <= 0:
        return None
    if state.turns_since_last >= policy.after_turns:
        return "turn_threshold"
    if state.used_tokens > min(policy.token_share * policy.token_limit, policy.window_tokens):
        return "token_pressure"
    return "stage_event" if state.stage_event else None


def ends_stage(facts: Iterable[SummaryFact], tool_results: Iterable[str], policy: SummaryPolicy, count: Count) -> bool:
    """Whether a decision, a finished task or a large tool result ends a stage of the conversation."""
    finished = any(fact.kind == "decision" or (fact.kind == "task" and fact.state == "done") for fact in facts)
    return finished or any(count(result) > policy.big_tool_tokens for result in tool_results)


_SUMMARY = TypeAdapter(Summary)


def dump(summary: Summary) -> dict[str, Any]:
    """Everything but the text, which has a column of its own."""
    return {name: value for name, value in _SUMMARY.dump_python(summary, mode="json").items() if name != "text"}


def load(stored: object, text: str = "") -> Summary | None:
    """The summary that `dump` wrote; None for anything else."""
    if not isinstance(stored, dict):
        return None
    try:
        return _SUMMARY.validate_python({**stored, "text": text})
    except ValidationError:
        return None
