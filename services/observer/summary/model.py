"""The input and the content of a rolling summary, frozen values without behaviour, and whether one is due.

It is due after enough turns, with more tokens than the window, or when a matter is finished.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

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


def to_summary_policy(policy: Policy) -> SummaryPolicy:
    """The slice of policy that summaries follow: due before a turn leaves the window that compose shows."""
    observer, compose = policy.observer, policy.compose
    return SummaryPolicy(
        after_turns=min(observer.summarize_after_turns, max(1, compose.recent_turns_max)),
        token_limit=observer.summary_token_limit,
        token_share=observer.summary_token_share,
        language=None if compose.language == "auto" else compose.language,
        window_tokens=min(shares.window for shares in compose.budget.profiles.values()),
    )


def trigger(state: SummaryState, policy: SummaryPolicy) -> Reason | None:
    """Why a summary is due now, or None."""
    if state.turns_since_last <= 0:
        return None
    if state.turns_since_last >= policy.after_turns:
        return "turn_threshold"
    if state.used_tokens > min(policy.token_share * policy.token_limit, policy.window_tokens):
        return "token_pressure"
    return "stage_event" if state.stage_event else None


def state_of(
    previous: Summary | None,
    turns: Sequence[SummaryTurn],
    facts: Sequence[SummaryFact],
    policy: SummaryPolicy,
    count: Count,
) -> SummaryState:
    """The state after these turns; those that the previous summary covers do not count."""
    covered = previous.source_to_seq if previous else -1
    fresh = [turn for turn in turns if turn.seq > covered]
    used = count(previous.text) if previous and previous.text else 0
    used += sum(count(text) for turn in fresh for text in _texts(turn))
    staged = any(_is_stage(fact) for fact in facts if fact.turn_seq > covered)
    big = any(count(result) > policy.big_tool_tokens for turn in fresh for result in turn.tool_results)
    return SummaryState(len(fresh), used, staged or big)


def _texts(turn: SummaryTurn) -> list[str]:
    return [message.text for message in turn.messages] + list(turn.tool_results)


def _is_stage(fact: SummaryFact) -> bool:
    return fact.kind == "decision" or (fact.kind == "task" and fact.state == "done")
