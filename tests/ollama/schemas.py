"""How Ollama 0.17.4 treats a JSON schema for an answer: obeys it, refuses it, or crashes."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
SAY_A_TYPE = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties")
REFUSED = ("not", "if", "then", "else")
MOST_CHARACTERS = 2000
MOST_ITEMS = 2000
"""`maxItems` of 3,000 crashes the runner; the exact limit is unknown."""


def problems(schema: Any) -> list[str]:
    """Each keyword of the schema that Ollama refuses, that crashes it, or that gives invalid JSON, with its path."""
    return [f"{place or 'the schema'}: {problem}" for place, problem in _problems(schema, schema, "")]


def kills(schema: Any) -> bool:
    """Whether the schema crashes the runner or the whole server."""
    return any("dies" in problem for problem in problems(schema))


def example(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """A value that the schema allows."""
    root = root or schema
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], root)
    match schema["type"]:
        case "object":
            return {name: example(each, root) for name, each in schema["properties"].items()}
        case "array":
            return [example(schema["items"], root)]
        case "number" | "integer":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "2026-01-01" if schema.get("format") == "date" else "tea"


def _problems(given: Any, root: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(given, Mapping):
        yield place, f"{given!r} is no schema to Ollama"
        return
    schema = cast("Mapping[str, Any]", given)
    if not any(name in schema for name in SAY_A_TYPE):
        yield place, "no type"
    if "type" in schema and schema["type"] not in TYPES:
        yield place, f"unknown type {schema['type']!r}"
    for name in REFUSED:
        if name in schema:
            yield place, f"`{name}` is refused"
    if schema.get("enum") == []:
        yield place, "an empty enum makes broken JSON"
    if "$ref" in schema and schema["$ref"].removeprefix("#/$defs/") not in root.get("$defs", {}):
        yield place, f"no {schema['$ref']}"
    yield from ((place, problem) for problem in _of_pattern(schema.get("pattern")))
    if schema.get("maxLength", 0) > MOST_CHARACTERS:
        yield place, f"the runner dies of maxLength over {MOST_CHARACTERS}"
    if schema.get("maxItems", 0) > MOST_ITEMS:
        yield place, f"the runner dies of maxItems over {MOST_ITEMS}"
    for name, inner in _inner(schema):
        yield from _problems(inner, root, f"{place}.{name}" if place else name)


def _of_pattern(pattern: str | None) -> Iterator[str]:
    if pattern is None:
        return
    if not (pattern.startswith("^") and pattern.endswith("$")):
        yield "a pattern that is not in ^...$ is refused"
    if "\\p" in pattern:
        yield "\\p in a pattern is refused"
    if "(?" in pattern:
        yield "the whole server dies of (? in a pattern"
    for escape in ("\\d", "\\S", "\\b"):
        if escape in pattern:
            yield f"the runner dies of {escape} in a pattern"


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("properties", "$defs"):
        for key, value in schema.get(name, {}).items():
            yield key, value
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, value in enumerate(schema.get(name, ())):
            yield f"{name}.{number}", value
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping) or schema.get(name) is True:
            yield name, schema[name]
