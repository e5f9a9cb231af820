"""The brief form with a list of wrong findings of the rules: each by its number, with the reason."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from services.observer.prompts.answers import ExtractionAnswer
from services.observer.prompts.brief import SCHEMA, BriefAnswer

Wrong = Literal["others", "passing", "quoted", "unsaid"]
"""About others but attributed to the user; momentary; pasted; not asserted (asked, supposed, joked)."""
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
    """A find of the rules that is not to be kept: as the model names it by `id`, later by its text."""

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
        """The schema that the answer must follow."""
        return _SCHEMA


def finding_id(place: int) -> str:
    """The id of the finding at this position of the list."""
    return f"f{place}"


def name_by_text(answer: ExtractionAnswer, findings: Sequence[str]) -> ExtractionAnswer:
    """The answer with texts of wrong findings instead of numbers, which a later reading may change."""
    if not isinstance(answer, JudgedAnswer):
        return answer
    texts = {finding_id(n): text for n, text in enumerate(findings, 1)}
    wrong = [Misread(id=texts[each.id], why=each.why) for each in answer.wrong if each.id in texts]
    return answer.model_copy(update={"wrong": tuple(wrong)})


def list_misread(answer: ExtractionAnswer) -> dict[str, Wrong]:
    """By text of each wrong finding the reason."""
    return {each.id: each.why for each in answer.wrong} if isinstance(answer, JudgedAnswer) else {}
