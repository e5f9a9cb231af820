"""The only form in which the analyzer accepts the answer of a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

MOST_SHOWN = 6

ModelVerdict = Literal["ends", "same", "both", "apart"]


@dataclass(frozen=True, slots=True)
class MemoryOption:
    """A memory as the model sees it: under a short id that means nothing elsewhere."""

    id: str
    type: str
    text: str


def parse_first_object(raw: Any) -> Any:
    return raw[:MOST_SHOWN] if isinstance(raw, list) else raw  # pyright: ignore[reportUnknownVariableType] # JSON


class Answered(BaseModel):
    """How the sentence stands to one memory."""

    model_config = ConfigDict(frozen=True)

    id: str
    verdict: ModelVerdict


class AnalysisAnswer(BaseModel):
    """A verdict for each memory; one that is not named has none."""

    model_config = ConfigDict(frozen=True)

    verdicts: Annotated[tuple[Answered, ...], BeforeValidator(parse_first_object)]


def read_verdicts(answer: AnalysisAnswer, shown: Iterable[str]) -> dict[str, ModelVerdict]:
    """The verdicts on these ids; an id that was not shown, or has two verdicts, has none."""
    given: dict[str, set[ModelVerdict]] = {}
    for each in answer.verdicts:
        given.setdefault(each.id.strip(), set()).add(each.verdict)
    return {id: next(iter(verdicts)) for id in shown if len(verdicts := given.get(id, set())) == 1}
