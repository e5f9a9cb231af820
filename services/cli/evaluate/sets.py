"""The labelled sets: one JSON object a line, read and checked; `tests/eval/README.md` says what the labels mean."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from schemas.vocabulary import FeedbackSignal, Intent, MemoryType
from shared.errors import ConfigurationError

SetName = Literal[
    "extraction", "corrections", "contradictions", "conversations", "feedback", "refusal", "intents", "hostile", "dates"
]
Part = Literal["dev", "held", "hard"]
SETS: tuple[SetName, ...] = get_args(SetName)
L = TypeVar("L", bound=BaseModel)
_TYPES = frozenset(get_args(MemoryType))


def _types(raw: object) -> object:
    if not isinstance(raw, str):
        return raw
    unknown = set(raw.split("|")) - _TYPES
    if unknown:
        raise ValueError(f"unknown memory type {', '.join(sorted(unknown))}")
    return tuple(raw.split("|"))


def _words(raw: object) -> object:
    return (raw,) if isinstance(raw, str) else raw


class Labelled(BaseModel):
    """A line of a set, or a part of one: it has no other fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Label(Labelled):
    """What every labelled message has."""

    model_config = ConfigDict(populate_by_name=True)

    text: Annotated[str, Field(min_length=1)]
    language: Literal["zh", "en", "mixed"]
    part: Part
    kind: Annotated[Literal["positive", "negative", "edge"], Field(alias="class")]
    why: str = ""
    before: str | None = None


class Expected(Labelled):
    """One thing to be kept: of one of these types, holding these words (alternatives parted by `|`)."""

    type: Annotated[tuple[MemoryType, ...], BeforeValidator(_types)]
    says: Annotated[tuple[str, ...], BeforeValidator(_words)]
    polarity: Literal["+", "-"] | None = None
    may: bool = False


class LabelledExtraction(Label):
    """A message and what of it is worth keeping."""

    expect: tuple[Expected, ...]


class Correction(Label):
    """A message and whether it takes something back; the old and the new value as it states them."""

    correction: bool
    known: tuple[str, ...] = ()
    old: str | None = None
    new: str | None = None


class Contradiction(Labelled):
    """What a user said once, what the same user says later, and what must become of the earlier statement.

    `old` stands in the one message of `before` that matters, `new` in the later message where that states something.
    """

    id: str
    language: Literal["zh", "en"]
    part: Part
    kind: Literal[
        "changed_preference",
        "changed_fact",
        "denial",
        "temporary_exception",
        "both_true",
        "other_person",
        "restatement",
        "sarcasm",
    ]
    before: tuple[str, ...]
    old: str
    message: str
    expect: Literal["replace", "end", "keep", "add", "confirm"]
    new: str | None = None

    @model_validator(mode="after")
    def check_names(self) -> Self:
        if sum(self.old in text for text in self.before) != 1:
            raise ValueError("old must stand in one of before")
        if self.new is not None and self.new not in self.message:
            raise ValueError("new must stand in message")
        return self


class MemoryWords(Labelled):
    """Words that one memory holds together, and the turn that said them, counted from 1."""

    words: Annotated[tuple[str, ...], Field(min_length=1)]
    turn: int | None = None


class Keep(Labelled):
    """A stretch of a message that is worth remembering, and how sure a person would be of that."""

    quote: Annotated[str, Field(min_length=1)]
    type: str
    about: str
    sure: float


class SaidTurn(Labelled):
    """What a user says in one turn, and what of it is worth remembering: None where nobody has labelled that."""

    at: datetime
    user: Annotated[str, Field(min_length=1)]
    assistant: str | None = None
    keep: tuple[Keep, ...] | None = None


class Ask(Labelled):
    """A question at the end of a conversation: what its evidence must hold, and what it must not show as if it held."""

    question: Annotated[str, Field(min_length=1)]
    must: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class Conversation(Labelled):
    """What one user says turn by turn, and what memory must hold when the last turn has been read."""

    id: str
    lang: Literal["zh", "en"]
    source: str
    licence: str
    part: Part
    kind: str
    turns: tuple[SaidTurn, ...]
    stands: tuple[MemoryWords, ...] = ()
    gone: tuple[MemoryWords, ...] = ()
    beside: tuple[MemoryWords, ...] = ()
    asks: tuple[Ask, ...] = ()
    ref: str = ""
    """Where in its source it stands."""


class LabelledFeedback(Label):
    """A message and what it says of the answer before it."""

    signal: FeedbackSignal


class Secret(Label):
    """A message and the characters of it that must not be stored."""

    refuse: bool
    secret: str | None = None


class Hostile(Labelled):
    """A stored text, and whether it tries to act on the model that will read it."""

    text: Annotated[str, Field(min_length=1)]
    language: Literal["zh", "en", "mixed"]
    part: Part
    attack: Annotated[Literal["attack", "benign"], Field(alias="class")]
    kind: str


class LabelledQuestion(Labelled):
    """A message and what its sender is after."""

    text: Annotated[str, Field(alias="say", min_length=1)]
    intent: Intent
    language: Literal["zh", "en", "mixed"]
    part: Part


class Dated(Labelled):
    """A sentence said at a moment, and the days that its words for a time mean.

    Without `start` no time can be known, without `end` it is open; `time` is that of day, where precision is `minute`.
    """

    lang: Literal["zh", "en"]
    said_at: datetime
    text: Annotated[str, Field(min_length=1)]
    phrase: Annotated[str, Field(min_length=1)]
    start: date | None
    end: date | None
    precision: Literal["minute", "day", "week", "month", "season", "year", "none"]
    part: Part
    time: str | None = None

    @model_validator(mode="after")
    def check_dates(self) -> Self:
        if self.phrase.lower() not in self.text.lower():
            raise ValueError("phrase must stand in text")
        if (self.start is None) != (self.precision == "none") or (self.time is None) == (self.precision == "minute"):
            raise ValueError("precision must fit start and time")
        return self


def read(folder: Path, name: SetName, of: type[L]) -> list[L]:
    """The set; a missing file or a bad line is a ConfigurationError that names file, line and field."""
    path = folder / f"{name}.jsonl"
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}; --data names the folder of the labelled sets") from error
    return [parse_line(path, number, line, of) for number, line in enumerate(lines, 1) if line.strip()]


def parse_line(path: Path, number: int, line: str, of: type[L]) -> L:
    """The label in this line of the file; ConfigurationError names the line and the field."""
    try:
        return of.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(part) for part in problem["loc"]) or "line"
        raise ConfigurationError(f"{path}:{number}: {field}: {problem['msg']}") from error
