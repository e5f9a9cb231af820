"""The brief form with a list of wrong findings of the rules: each by its number, with the reason."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from services.observer.prompts.answers import ExtractionAnswer
from services.observer.prompts.brief import SCHEMA, BriefAnswer

Wrong = Literal["others", "passing", "quoted", "unsaid"]
"""Somebody else's and told as the user's; a mood, a courtesy, or only now; pasted matter; asked, supposed or joked."""
MAX_WRONG = 16
_SCHEMA: dict[str, Any] = {
    **SCHEMA,
    "properties": {
        **SCHEMA["properties"],
        "wrong": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "why": {"enum": list(get_args(Wrong))}},
                "required": ["id", "why"],
            },
        },
    },
    "required": ["items", "wrong"],
}


class Misread(BaseModel):
    """A find of the rules that is not to be kept: as the model names it by `id`, later by its words."""

    model_config = ConfigDict(frozen=True)

    id: str
    why: Wrong


def parse_first(raw: Any) -> Any:
    return raw[:MAX_WRONG] if isinstance(raw, list) else raw  # pyright: ignore[reportUnknownVariableType] # JSON


class JudgedAnswer(BriefAnswer):
    """Everything that one turn leaves, and what the rules have wrongly kept of it; what is not named stands."""

    wrong: Annotated[tuple[Misread, ...], BeforeValidator(parse_first)] = Field(default=())

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """What the model is held to."""
        return _SCHEMA


def find_id(place: int) -> str:
    """What the find at this place of the list is called."""
    return f"f{place}"


def by_words(answer: ExtractionAnswer, finds: Sequence[str]) -> ExtractionAnswer:
    """The answer with the words of what it calls wrong in the place of numbers, which another reading may give anew."""
    if not isinstance(answer, JudgedAnswer):
        return answer
    words = {find_id(n): text for n, text in enumerate(finds, 1)}
    wrong = [Misread(id=words[each.id], why=each.why) for each in answer.wrong if each.id in words]
    return answer.model_copy(update={"wrong": tuple(wrong)})


def misread(answer: ExtractionAnswer) -> dict[str, Wrong]:
    """Why each of the finds that are named by their words is wrong."""
    return {each.id: each.why for each in answer.wrong} if isinstance(answer, JudgedAnswer) else {}
