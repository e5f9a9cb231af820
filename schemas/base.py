"""What every contract shares: frozen, unknown fields ignored and nameable (R007, decision 12)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, StringConstraints


class Contract(BaseModel):
    """A frozen message; a field it does not know is ignored, and `ignored_fields` names it."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


def _aware(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


Instant = Annotated[datetime, AfterValidator(_aware)]
"""A moment in UTC; a time without a zone is read as UTC."""

ExternalId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128, pattern=r"^[^\x00]*$")]
"""An opaque id that the caller chose, 1-128 characters (decision 7)."""


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


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _inside(annotation: Any, value: object, path: str) -> list[str]:
    models = _models_in(annotation)
    if len(models) != 1:
        return []
    if isinstance(value, list | tuple):
        return [
            name
            for i, each in enumerate(value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] # raw JSON
            for name in ignored_fields(models[0], each, f"{path}[{i}].")
        ]
    return ignored_fields(models[0], value, f"{path}.")
