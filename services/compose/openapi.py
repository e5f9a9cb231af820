"""OpenAPI for bodies that the routes parse themselves, so that a refusal can name what was wrong."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from schemas.turn_events import ErrorReply

REF = "#/components/schemas/{model}"
_BODIES: dict[str, type[BaseModel]] = {}


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """A required JSON body of this model, for `openapi_extra`."""
    _BODIES[model.__name__] = model
    ref = {"$ref": REF.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": ref}}}}


def describe(app: FastAPI) -> None:
    """`app.openapi()` now holds the bodies' models and the one shape of errors."""

    def made() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = _schema(app)
        return app.openapi_schema

    app.openapi = made  # type: ignore[method-assign] # FastAPI's documented way


def _schema(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
    models = [(model, "validation") for model in (*_BODIES.values(), ErrorReply)]
    _, extra = models_json_schema(models, ref_template=REF)  # pyright: ignore[reportArgumentType] # a list of literal pairs
    schemas = schema.setdefault("components", {}).setdefault("schemas", {})
    for name, model in extra.get("$defs", {}).items():
        schemas.setdefault(name, model)
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path in schema["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            refusal = {"application/json": {"schema": {"$ref": REF.format(model="ErrorReply")}}}
            operation["responses"]["default"] = {"description": "Refused or failed", "content": refusal}
    return schema
