"""What every contract shares: frozen, unknown fields ignored and nameable (R007, decision 12)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, get_args, get_origin

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError


class Contract(BaseModel):
    """A frozen message; a field it does not know is ignored, and `ignored_fields` names it."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of what is read names the older names of a field too, as deprecated."""
        schema = handler(core_schema)
        if handler.mode == "validation":
            _add_older_names(cls, handler.resolve_ref_schema(schema))
        return schema


def _add_older_names(model: type[BaseModel], schema: JsonSchemaValue) -> None:
    for field in model.model_fields.values():
        if not isinstance(field.validation_alias, AliasChoices):
            continue
        newest, *older = [choice for choice in field.validation_alias.choices if isinstance(choice, str)]
        for name in older:
            schema["properties"][name] = {**schema["properties"][newest], "deprecated": True}
        if field.is_required():
            schema["required"] = [name for name in schema["required"] if name != newest]
            schema.setdefault("allOf", []).append({"anyOf": [{"required": [name]} for name in (newest, *older)]})


def _aware(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("not a moment that UTC can name") from error


def without_nulls(raw: Any) -> Any:
    """The same object without its null fields, so that an explicit null means the default."""
    if not isinstance(raw, Mapping):
        return raw
    return {name: value for name, value in raw.items() if value is not None}  # pyright: ignore[reportUnknownVariableType] # raw JSON


Instant = Annotated[datetime, AfterValidator(_aware)]
"""A moment in UTC; a time without a zone is read as UTC."""

_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_EDGES = rf"{_CONTROLS} \xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
ID_PATTERN = rf"^[^{_EDGES}]([^{_CONTROLS}]*[^{_EDGES}])?$"
"""No control character, and no white space at either end: two ids that look alike are one. Spelt out, since languages
differ in what they call white space.
"""
_IS_PLAIN = re.compile(ID_PATTERN[:-1] + r"\Z")


def _plain(value: str) -> str:
    if value and not _IS_PLAIN.match(value):
        if re.search(f"[{_CONTROLS}]", value):
            raise PydanticCustomError("id", "must not hold control characters, such as tabs or line breaks")
        raise PydanticCustomError("id", "must not begin or end with white space")
    return value


IsPlain = AfterValidator(_plain)
"""Refuses an id that would look like another."""

ExternalId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    IsPlain,
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 128, "pattern": ID_PATTERN}),
]
"""An opaque id that the caller chose, 1-128 characters (decision 7)."""

StoredId = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00]*$")]
"""An id that was accepted once: what is on its way or stored is read as it is."""


def _without_nul(value: JsonValue) -> JsonValue:
    parts: list[JsonValue] = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, str) and "\x00" in part:
            raise ValueError("must not hold the character U+0000")
        if isinstance(part, dict):
            parts += [*part, *part.values()]
        elif isinstance(part, list):
            parts += part
    return value


Json = Annotated[JsonValue, AfterValidator(_without_nul)]
"""Any JSON that PostgreSQL can store: no string and no name holds U+0000."""

JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_without_nul)]
"""An object of such JSON."""


def ignored_fields(model: type[BaseModel], raw: object, at: str = "") -> list[str]:
    """The dotted paths in `raw` that `model` does not know, in order of appearance."""
    if not isinstance(raw, Mapping):
        return []
    known = _names(model)
    found: list[str] = []
    for name, value in raw.items():  # pyright: ignore[reportUnknownVariableType] # raw JSON
        path = f"{at}{name}"
        if name not in known:
            found.append(path)
        else:
            found += _inside(known[str(name)], value, path)  # pyright: ignore[reportUnknownArgumentType] # raw JSON
    return found


def _names(model: type[BaseModel]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        names[name] = field.annotation
        for alias in (field.alias, field.validation_alias):
            if isinstance(alias, str):
                names[alias] = field.annotation
            elif isinstance(alias, AliasChoices):
                names |= {choice: field.annotation for choice in alias.choices if isinstance(choice, str)}
    return names


def _inside(annotation: Any, value: object, path: str) -> list[str]:
    """The unknown fields of `value` where its type is one contract, a list of them or a map to them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return ignored_fields(annotation, value, f"{path}.")
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (list, tuple) and isinstance(value, list | tuple):
        return [name for i, each in enumerate(value) for name in _inside(parts[0], each, f"{path}[{i}]")]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] # raw JSON
    if origin is dict and isinstance(value, Mapping):
        return [name for key, each in value.items() for name in _inside(parts[1], each, f"{path}.{key}")]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] # raw JSON
    if origin in (list, tuple, dict):
        return []
    return [name for part in parts for name in _inside(part, value, path)]
