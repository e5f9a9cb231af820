"""Every schema for a model server is one that it obeys and that does not crash it."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.ollama import schemas

ROOT = Path(__file__).parents[3]
OURS = re.compile(r"from shared\.models\.prompt import .*\bPrompt\b")
"""Prompts of agents have the same name and no answer model."""
FIELDS = ("name", "version", "system", "user", "answer")
"""The fields of a prompt, in order."""


def find_schemas() -> Iterator[type[BaseModel]]:
    """The answer model of every prompt in the product."""
    for path in sorted(ROOT.glob("s*/**/*.py")):
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if OURS.search(text) else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Prompt":
                named = {each.arg: each.value for each in call.keywords} | dict(zip(FIELDS, call.args, strict=False))
                answer = named["answer"]
                assert isinstance(answer, ast.Name), f"{path}: the answer of a prompt is named where it is made"
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield getattr(importlib.import_module(module), answer.id)


SENT = sorted(set(find_schemas()), key=lambda each: each.__name__)


def test_all_prompts_are_found() -> None:
    names = {each.__name__ for each in SENT}
    assert names >= {"AnalysisAnswer", "ExtractionAnswer", "PlanAnswer", "RankAnswer", "RecountAnswer"}


@pytest.mark.parametrize("answer", SENT, ids=lambda each: each.__name__)
def test_the_schema_is_obeyed(answer: type[BaseModel]) -> None:
    assert schemas.problems(answer.model_json_schema()) == []


STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ({"title": "Anything"}, "no type"),
        (True, "no schema"),
        ({"type": "text"}, "unknown type"),
        ({"type": "string", "not": {"const": "x"}}, "`not` is refused"),
        ({"type": "string", "if": STRING}, "`if` is refused"),
        ({"$ref": "#/$defs/Missing"}, "no #/$defs/Missing"),
        ({"type": "string", "enum": []}, "empty enum"),
        ({"type": "string", "pattern": "tea"}, "not in ^...$"),
        ({"type": "string", "pattern": r"^\p{L}+$"}, r"\p"),
        ({"type": "string", "pattern": "^(?i)tea$"}, "whole server dies"),
        ({"type": "string", "pattern": r"^\d+$"}, "runner dies"),
        ({"type": "string", "pattern": r"^\S+$"}, "runner dies"),
        ({"type": "string", "pattern": r"^tea\b$"}, "runner dies"),
        ({"type": "string", "maxLength": 2001}, "runner dies"),
        ({"type": "array", "items": STRING, "maxItems": 3000}, "runner dies"),
        ({"type": "array", "items": {}}, "no type"),
    ],
)
def test_an_unsupported_keyword_is_detected_anywhere(field: Any, problem: str) -> None:
    for schema in (
        {"type": "object", "properties": {"field": field}},
        {"type": "object", "properties": {"list": {"type": "array", "items": {"anyOf": [STRING, field]}}}},
        {"$ref": "#/$defs/Inner", "$defs": {"Inner": {"type": "object", "properties": {"field": field}}}},
    ):
        (found,) = schemas.problems(schema)
        assert problem in found


@pytest.mark.parametrize(
    "field",
    [
        STRING,
        {"type": "string", "maxLength": 2000},
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": "^[a-z]{1,8}$"},
        {"enum": ["喝茶", "tea"]},
        {"const": "yes"},
        {"anyOf": [STRING, {"type": "null"}]},
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "array", "items": STRING, "maxItems": 50},
    ],
)
def test_a_supported_or_ignored_keyword_passes(field: dict[str, Any]) -> None:
    assert schemas.problems({"type": "object", "properties": {"field": field}}) == []
