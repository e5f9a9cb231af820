"""Reading a model's answer: thoughts and fences are taken off, and the rest either fits or is refused."""

import json
import re

from pydantic import BaseModel, ValidationError

from shared.models.prompt import A

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_STRAY_CLOSE = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_JSON_START = re.compile(r"""[{\[](?=\s*["{}\[\]])""")
_PROBLEM_CHARACTERS = 600


class UnreadableError(ValueError):
    """Not an answer to the question; the message may be shown to the model, and holds nothing that it said."""


def parse(raw: str, answer: type[A]) -> A:
    """The first JSON value in the text as the answer model; a bare list stands for the model's only field."""
    text = unwrap(raw)
    if not text:
        raise UnreadableError("the answer is empty")
    start = _JSON_START.search(text)
    if start is None:
        raise UnreadableError("the answer holds no JSON")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start.start())
    except (ValueError, RecursionError) as error:
        raise UnreadableError("the answer is not complete, valid JSON") from error
    try:
        return answer.model_validate(_in_its_field(value, answer))
    except ValidationError as error:
        raise UnreadableError(_problems(error)) from error


def unwrap(raw: str) -> str:
    """The text without what a model thought aloud before it."""
    text = _THOUGHT.sub("", raw)
    text = _OPEN_THOUGHT.sub("", text)
    return _STRAY_CLOSE.sub("", text).strip()


def _in_its_field(value: object, answer: type[BaseModel]) -> object:
    if isinstance(value, list) and len(answer.model_fields) == 1:
        return {next(iter(answer.model_fields)): value}  # pyright: ignore[reportUnknownVariableType] # JSON of any shape
    return value  # pyright: ignore[reportUnknownVariableType] # JSON of any shape


def _problems(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in each['loc']) or 'answer'}: {each['type']}" for each in found]
    return "; ".join(lines)[:_PROBLEM_CHARACTERS]
