"""Parses a model's answer: removes thoughts and fences, and validates the rest."""

import json
import re

from pydantic import BaseModel, ValidationError

from shared.language.patterns import to_pattern
from shared.models.prompt import A

_THOUGHT_TAG = to_pattern(r"<(?P<end>/)?think(?:ing)?>", re.IGNORECASE)
_JSON_START = to_pattern(r"""[{\[](?=\s*["{}\[\]])""")
_PROBLEM_CHARACTERS = 600
MAX_ANSWER_CHARACTERS = 200_000
"""Far more than any answer asked for; what is longer is not read at all."""


class UnreadableError(ValueError):
    """An invalid answer; the message may be shown to the model, and contains nothing of the answer."""


def parse(raw: str, answer: type[A]) -> A:
    """The first JSON value in the text as the answer model; a bare list is the model's only field."""
    if len(raw) > MAX_ANSWER_CHARACTERS:
        raise UnreadableError("the answer is too long")
    text = strip_thoughts(raw)
    if not text:
        raise UnreadableError("the answer is empty")
    start = _JSON_START.search(text)
    if start is None:
        raise UnreadableError("the answer contains no JSON")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start.start())
    except (ValueError, RecursionError) as error:
        raise UnreadableError("the answer is not complete, valid JSON") from error
    try:
        return answer.model_validate(_in_its_field(value, answer))
    except ValidationError as error:
        raise UnreadableError(_problems(error)) from error


def strip_thoughts(raw: str) -> str:
    """The text without a model's thoughts, in one pass: between the tags, and before a closing tag
    without an opening one.
    """
    parts: list[str] = []
    at, thinking = 0, False
    for tag in _THOUGHT_TAG.finditer(raw):
        if tag["end"] and not thinking:
            parts.clear()
        elif not thinking:
            parts.append(raw[at : tag.start()])
        if tag["end"] or not thinking:
            at = tag.end()
        thinking = not tag["end"]
    return "".join([*parts, "" if thinking else raw[at:]]).strip()


def _in_its_field(value: object, answer: type[BaseModel]) -> object:
    if isinstance(value, list) and len(answer.model_fields) == 1:
        return {next(iter(answer.model_fields)): value}  # pyright: ignore[reportUnknownVariableType] # JSON of any shape
    return value  # pyright: ignore[reportUnknownVariableType] # JSON of any shape


def _problems(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in each['loc']) or 'answer'}: {each['type']}" for each in found]
    return "; ".join(lines)[:_PROBLEM_CHARACTERS]
