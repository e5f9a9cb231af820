"""What every contract shares: frozen, unknown fields ignored and nameable (R007, decision 12)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

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

    nulls_are_absent: ClassVar[bool] = False
    """Whether a null means the default wherever there is one."""

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """What the model demands of its fields together, as schemas that all hold."""
        return ()

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of what is read says all that is refused; it names older names of a field too, as deprecated."""
        schema = handler(core_schema)
        if handler.mode == "validation":
            own = handler.resolve_ref_schema(schema)
            if cls.nulls_are_absent:
                _allow_nulls(own)
            _add_older_names(cls, own)
            if conditions := cls.conditions():
                own["allOf"] = [*own.get("allOf", ()), *conditions]
        return schema


NULL: JsonSchemaValue = {"type": "null"}


def _allow_nulls(schema: JsonSchemaValue) -> None:
    for name, field in schema["properties"].items():
        if name not in schema.get("required", ()) and field != {} and NULL not in field.get("anyOf", ()):
            about = {key: field.pop(key) for key in ("default", "description", "title") if key in field}
            schema["properties"][name] = {"anyOf": [field, NULL], **about}


def _add_older_names(model: type[BaseModel], schema: JsonSchemaValue) -> None:
    for field in model.model_fields.values():
        if not isinstance(field.validation_alias, AliasChoices):
            continue
        newest, *older = [choice for choice in field.validation_alias.choices if isinstance(choice, str)]
        for name in older:
            schema["properties"][name] = {**schema["properties"][newest], "deprecated": True}
            schema.setdefault("allOf", []).append({"not": {"required": [newest, name]}})
        if field.is_required():
            schema["required"] = [name for name in schema["required"] if name != newest]
            schema["allOf"].append({"anyOf": [{"required": [name]} for name in (newest, *older)]})


def has(*names: str, **each: Any) -> JsonSchemaValue:
    """The schema of an object in which one of these names is there and not null, and fits what is said of `each`."""
    kinds = {"not": NULL, **each}
    options = [{"required": [name], "properties": {name: kinds}} for name in names]
    return options[0] if len(options) == 1 else {"anyOf": options}


def when(name: str, value: Any, then: JsonSchemaValue, otherwise: JsonSchemaValue) -> JsonSchemaValue:
    """The schema of an object that fits `then` where the field has this value, else `otherwise`."""
    condition = {"properties": {name: {"const": value}}, "required": [name]}
    return {"if": condition, "then": then, "else": otherwise}


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

NO_NUL = r"^[^\x00]*$"
"""PostgreSQL stores no U+0000."""
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_EDGES = rf"{_CONTROLS} \xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
ID_PATTERN = rf"^[^{_EDGES}]([^{_CONTROLS}]*[^{_EDGES}])?$"
"""No control character, and no white space at either end: two ids that look alike are one. Spelt out, since languages
differ in what they call white space.
"""
_IS_PLAIN = re.compile(ID_PATTERN[:-1] + r"\Z")


def to_plain(value: str) -> str:
    if value and not _IS_PLAIN.match(value):
        if re.search(f"[{_CONTROLS}]", value):
            raise PydanticCustomError("id", "must not hold control characters, such as tabs or line breaks")
        raise PydanticCustomError("id", "must not begin or end with white space")
    return value


_BLANK = rf"\x00{_EDGES}"
WORDS_PATTERN = rf"^[^\x00]*[^{_BLANK}][^\x00]*$"
"""No U+0000, and something beside white space."""


def has_words(value: str) -> bool:
    """Whether there is more than white space."""
    return bool(re.search(f"[^{_BLANK}]", value))


def to_words(value: str) -> str:
    if "\x00" in value:
        raise PydanticCustomError("words", "must not hold the character U+0000")
    if not has_words(value):
        raise PydanticCustomError("words", "says nothing")
    return value


HasWords = AfterValidator(to_words)
"""Refuses a text that says nothing."""

IsPlain = AfterValidator(to_plain)
"""Refuses an id that would look like another."""

ExternalId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    IsPlain,
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 128, "pattern": ID_PATTERN}),
]
"""An opaque id that the caller chose, 1-128 characters (decision 7)."""

Reason = Annotated[str, StringConstraints(max_length=500, pattern=NO_NUL)]
"""Why somebody asks for something; kept with what was done, without credentials and personal data."""
StoredId = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=NO_NUL)]
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


IGNORED_MOST, IGNORED_CHARS = 100, 200
"""So many unknown fields are named, and so much of each name."""


def ignored_fields(model: type[BaseModel], raw: object) -> list[str]:
    """The dotted paths in `raw` that `model` does not know, in order of appearance."""
    unknown = islice((path for path, kind, _ in _fields(model, raw, "") if kind is None), IGNORED_MOST)
    return [path.replace("\x00", "\ufffd")[:IGNORED_CHARS] for path in unknown]


def loosely_typed(model: type[BaseModel], raw: object) -> list[tuple[str, str]]:
    """The fields whose value is of another JSON type than the model's schema says, each with what it must be.

    Pydantic would read "1" as a number, 0 as false and a number as a moment: a typing mistake then looks like a value.
    """
    return [
        (re.sub(r"\[(\d+)\]", r".\1", path), f"must {_WORDS[kind]}")
        for path, kind, value in _fields(model, raw, "")
        if kind and value is not None and not _is_of(kind, value)
    ]


Kind = Literal["boolean", "number", "moment", "twice", "any"]
_WORDS: dict[Kind, str] = {
    "boolean": "be true or false",
    "number": "be a number",
    "moment": "be a date with a time, such as 2026-03-01T09:00:00Z",
    "twice": "not stand beside another name of the same field",
    "any": "be something else",
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d")


def _is_of(kind: Kind, value: object) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "moment":
            return isinstance(value, str) and bool(_MOMENT.match(value))
        case "twice":
            return False
        case "any":
            return True


def _fields(model: type[BaseModel], raw: object, at: str) -> Iterator[tuple[str, Kind | None, object]]:
    """Every field of the raw object by its path with its kind and value; kind None: the model does not know it."""
    if not isinstance(raw, Mapping):
        return
    declared = _names(model)
    for name, value in raw.items():  # pyright: ignore[reportUnknownVariableType] # raw JSON
        path = f"{at}{name}"
        if name not in declared:
            yield path, None, value
        else:
            yield from _inside(declared[str(name)], value, path)  # pyright: ignore[reportUnknownArgumentType] # raw JSON
    for names in rename_fields(model):
        if len(given := [name for name in names if name in raw]) > 1:
            yield f"{at}{given[-1]}", "twice", given


@cache
def rename_fields(model: type[BaseModel]) -> tuple[tuple[str, ...], ...]:
    """The names of each field that has several."""
    fields = (field.validation_alias for field in model.model_fields.values())
    return tuple(
        tuple(name for name in alias.choices if isinstance(name, str))
        for alias in fields
        if isinstance(alias, AliasChoices)
    )


@cache
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


_LEAVES: dict[Any, Kind] = {bool: "boolean", int: "number", float: "number", datetime: "moment"}


def _inside(annotation: Any, value: object, path: str) -> Iterator[tuple[str, Kind | None, object]]:
    """The fields of `value` where its type is one contract, a list of them or a map to them; else the value itself."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from _fields(annotation, value, f"{path}.")
        return
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _inside(parts[0], value, path)
    elif origin in (list, tuple):
        for i, each in enumerate(value if isinstance(value, list | tuple) else ()):  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] # raw JSON
            yield from _inside(parts[0], each, f"{path}[{i}]")
    elif origin is dict:
        for key, each in value.items() if isinstance(value, Mapping) else ():  # pyright: ignore[reportUnknownVariableType] # raw JSON
            yield from _inside(parts[1], each, f"{path}.{key}")  # pyright: ignore[reportUnknownArgumentType] # raw JSON
    elif origin in (Union, UnionType):
        some = [part for part in parts if part is not NoneType]
        if len(some) == 1:
            yield from _inside(some[0], value, path)
        else:  # of several kinds: only what is a contract is looked into
            for part in some:
                yield from (each for each in _inside(part, value, path) if each[1] is None)
    elif origin is None:
        yield path, _LEAVES.get(annotation, "any"), value
