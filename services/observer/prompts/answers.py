"""The only form in which the observer accepts the answer of a model about a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from schemas.vocabulary import Epistemic, MemoryType, Role
from shared.language.normalise import clip, fold, normalise

MAX_ITEMS = 8
MIN_QUOTE_CHARS = 2
OBSERVATION_CAP = 0.6
"""The maximum confidence of a preference that nobody stated."""

Kind = Literal[
    "profile",
    "preference",
    "goal",
    "task",
    "decision",
    "entity",
    "event",
    "case",
    "pattern",
    "constraint",
    "note",
]
NAMES = AliasChoices("items", "memories", "memory")
"""The names that models use for the list."""
ShortText = Annotated[str, BeforeValidator(lambda raw: clip(raw.strip(), 600) if isinstance(raw, str) else raw)]
Key = Annotated[str, BeforeValidator(lambda raw: raw.strip()[:128] if isinstance(raw, str) else raw)]


def _first_items(raw: Any) -> Any:
    return raw[:MAX_ITEMS] if isinstance(raw, list) else raw  # pyright: ignore[reportUnknownVariableType] # JSON


class ExtractedItem(BaseModel):
    """One thing that the user said and that is worth keeping."""

    model_config = ConfigDict(frozen=True)

    type: Kind
    key: Key | None = None
    content: ShortText
    value: ShortText | None = None
    provenance: Literal["observation", "confirmed_by_user", "tool"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    epistemic_type: Epistemic
    related_existing_memory_id: str | None = None
    correction_of: ShortText | None = None
    quote: ShortText


class ExtractionAnswer(BaseModel):
    """Everything that one turn leaves; an empty list is a good answer."""

    model_config = ConfigDict(frozen=True)

    items: Annotated[
        tuple[ExtractedItem, ...],
        BeforeValidator(_first_items),
    ] = Field(validation_alias=NAMES)


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message, secrets already replaced."""

    role: Role
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A current memory that the turn may confirm or change."""

    memory_id: str
    type: MemoryType
    text: str


def short_id(place: int) -> str:
    """The id of the memory at this position of the list for models that get no long ids."""
    return f"m{place}"


def to_real_ids(answer: ExtractionAnswer, known: Sequence[KnownMemory]) -> ExtractionAnswer:
    """The answer with the real ids of memories that the model was shown, and no other ids."""
    ids = {short_id(n): memory.memory_id for n, memory in enumerate(known, 1)}
    ids |= {memory.memory_id: memory.memory_id for memory in known}
    items = [
        item.model_copy(update={"related_existing_memory_id": ids.get(item.related_existing_memory_id or "")})
        for item in answer.items
    ]
    return answer.model_copy(update={"items": tuple(items)})


def list_accepted(answer: ExtractionAnswer, messages: Sequence[PromptMessage]) -> tuple[ExtractedItem, ...]:
    """The items whose quote the user or a tool really stated; confidence is capped."""
    accepted: list[ExtractedItem] = []
    for item in answer.items:
        role: Role = "tool" if item.provenance == "tool" else "user"
        if _is_quoted(item.quote, [message.text for message in messages if message.role == role]):
            cap = OBSERVATION_CAP if item.provenance == "observation" else 1.0
            accepted.append(item.model_copy(update={"confidence": min(item.confidence, cap)}))
    return tuple(accepted)


def _is_quoted(quote: str, texts: Sequence[str]) -> bool:
    words = squeeze(quote)
    return len(words) >= MIN_QUOTE_CHARS and any(words in squeeze(text) for text in texts)


def squeeze(text: str) -> str:
    """Letters and digits only: models change punctuation and spacing when they copy."""
    return "".join(c for c in fold(normalise(text)) if c.isalnum())
