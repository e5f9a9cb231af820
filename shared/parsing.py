"""Parsing at the edge: bytes in, a contract out, or a refusal that names the field (HTTP, Kafka and CLI alike)."""

from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, ValidationError

from schemas.base import ignored_fields, loosely_typed
from schemas.turn_events import MAX_BODY_BYTES, ErrorReply, FieldProblem
from shared.errors import RefusedError, refuse_fields

Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], body: bytes) -> tuple[Model, tuple[str, ...]]:
    """The message and the fields of it that were ignored; RefusedError names what is wrong."""
    return validate(model, read_object(body))


def read_object(body: bytes, *, limit: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """The JSON object; RefusedError where it is none, or too large."""
    if len(body) > limit:
        raise refuse_size(len(body), limit)
    try:
        raw: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise refuse_fields("malformed_json", [FieldProblem(field="body", problem=f"not JSON: {error}")]) from error
    if not isinstance(raw, dict):
        raise refuse_fields("invalid_request", [FieldProblem(field="body", problem="must be a JSON object")])
    return cast("dict[str, Any]", raw)


def validate(model: type[Model], raw: dict[str, Any]) -> tuple[Model, tuple[str, ...]]:
    """The message and the fields of it that were ignored; RefusedError names what is wrong."""
    try:
        parsed = model.model_validate(raw)
    except ValidationError as error:
        raise refuse_fields("invalid_request", problems(error)) from error
    whole = unwrap_turn(raw)
    if loose := loosely_typed(model, whole):
        raise refuse_fields("invalid_request", [FieldProblem(field=field, problem=told) for field, told in loose[:20]])
    return parsed, tuple(ignored_fields(model, whole))


def unwrap_turn(raw: dict[str, Any]) -> dict[str, Any]:
    """The body with a nested `turn_events` lifted out, as TurnEvents itself reads it."""
    inner = raw.get("turn_events")
    if not isinstance(inner, dict):
        return raw
    return {**inner, **{k: v for k, v in raw.items() if k != "turn_events"}}  # pyright: ignore[reportUnknownVariableType] # raw JSON


def problems(error: ValidationError) -> list[FieldProblem]:
    """By field what is wrong with it, without the value."""
    return [
        FieldProblem(field=".".join(str(part) for part in e["loc"]) or "body", problem=e["msg"])
        for e in error.errors(include_input=False, include_url=False)[:20]
    ]


def refuse_size(length: int, limit: int) -> RefusedError:
    """So many bytes are too many."""
    problem = FieldProblem(field="body", problem=f"{length} bytes, at most {limit}")
    return RefusedError("too_large", "the body is too large", (problem,), status=413)


def reply_of(error: RefusedError, request_id: str) -> ErrorReply:
    """The refusal as its sender sees it."""
    return ErrorReply(
        code=error.code,
        message=error.message,
        details=error.details,
        request_id=request_id,
        retry_after_s=error.retry_after_s,
    )
