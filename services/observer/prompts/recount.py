"""The only form in which the observer accepts the answer of a model about the summary of a session."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shared.language.normalise import clip

ITEM_CHARS = 160
MAX_LINES = 36

Part = Literal["goals", "decisions", "tasks", "questions"]
"""The sections that a model may write; references are copied by rules."""
State = Literal["todo", "doing", "done", "blocked"]
Line = Annotated[
    str, BeforeValidator(lambda raw: clip(" ".join(raw.split()), ITEM_CHARS) if isinstance(raw, str) else raw)
]


def _first_lines(raw: Any) -> Any:
    return raw[:MAX_LINES] if isinstance(raw, list) else raw  # pyright: ignore[reportUnknownVariableType] # JSON


class RecountedItem(BaseModel):
    """One line as it should stand: that of a known id in new words or another state, or a new one."""

    model_config = ConfigDict(frozen=True)

    id: str | None = None
    section: Part
    text: Line
    state: State | None = None


class RecountAnswer(BaseModel):
    """What changes; whatever is not named stays as it is."""

    model_config = ConfigDict(frozen=True)

    items: Annotated[tuple[RecountedItem, ...], BeforeValidator(_first_lines)]
    done: Annotated[tuple[str, ...], BeforeValidator(_first_lines)] = ()


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of the summary as the model sees it."""

    id: str
    section: Part
    text: str
    state: State | None = None
