"""A prompt, its data and its answer: plain values, so that prompts stay pure."""

import json
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel

from shared.models.cost import NOTHING_SPENT, Spent

A = TypeVar("A", bound=BaseModel)
A_co = TypeVar("A_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class Prompt(Generic[A]):
    """One prompt: instructions, fenced data, and the model that its answer must match."""

    name: str
    version: str
    system: str
    user: str
    answer: type[A]
    max_tokens: int = 1024
    deadline_s: float = 60.0
    once: bool = False
    """Neither retried nor repaired: the caller continues without an answer before that would help."""


@dataclass(frozen=True)
class Answer(Generic[A_co]):
    """A validated answer with its provenance: model, prompt version, text and cost."""

    value: A_co
    raw: str = field(repr=False)
    model_id: str
    prompt_version: str
    repaired: bool = False
    spent: Spent = NOTHING_SPENT


def fence_data(data: object, wish: str) -> str:
    """JSON in which no text can close the fence, followed by the instruction."""
    lines = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<data>\n{lines}\n</data>\n{wish}"
