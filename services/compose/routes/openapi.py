"""OpenAPI for bodies that the routes parse themselves, so that a refusal can name the wrong field."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from schemas.turn_events import ErrorReply
from services.compose.routes.requests import WHOSE
from shared.telemetry import METRICS_TYPE

REF = "#/components/schemas/{model}"
_BODIES: dict[str, type[BaseModel]] = {}


def body_of(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """A JSON body of this model, for `openapi_extra`."""
    _BODIES[model.__name__] = model
    ref = {"$ref": REF.format(model=model.__name__)}
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": ref}}}}


def describe(app: FastAPI, profiles: Iterable[str]) -> None:
    """Adds the models of bodies, the legal profiles, the probes and the error format to `app.openapi()`."""

    def make_schema() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = _schema(app, sorted(profiles))
        return app.openapi_schema

    app.openapi = make_schema  # type: ignore[method-assign] # FastAPI's documented way


def _schema(app: FastAPI, profiles: list[str]) -> dict[str, Any]:
    schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
    models = [(model, "validation") for model in (*_BODIES.values(), ErrorReply)]
    _, extra = models_json_schema(models, ref_template=REF)  # pyright: ignore[reportArgumentType] # a list of literal pairs
    schemas = schema.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    read: dict[str, Any] = extra.get("$defs", {})
    read["ErasureRequest"]["properties"]["profile"]["anyOf"][0] = {"type": "string", "enum": profiles}
    renamed = {name: f"{name}Input" for name, model in read.items() if schemas.get(name, model) != model}
    schemas |= {renamed.get(name, name): _redirect(model, renamed) for name, model in read.items()}
    for path in schema["paths"].values():
        for operation in path.values():
            if "parameters" in operation:
                operation["parameters"].sort(key=_sort_key)
            if "requestBody" in operation:
                operation["requestBody"] = _redirect(operation["requestBody"], renamed)
            operation["responses"].pop("422", None)
            refusal = {"application/json": {"schema": {"$ref": REF.format(model="ErrorReply")}}}
            operation["responses"]["default"] = {"description": "Refused or failed", "content": refusal}
    schema["paths"] |= _probes()
    return schema


def _sort_key(parameter: Mapping[str, Any]) -> tuple[bool, bool]:
    """Sort key: path parameters first, then the owner."""
    return parameter["in"] != "path", parameter["name"] not in WHOSE


def _redirect(schema: Any, renamed: Mapping[str, str]) -> Any:
    """The schema with its references redirected to the renamed models."""
    if isinstance(schema, dict):
        node = cast("dict[str, Any]", schema)
        ref = node.get("$ref")
        if isinstance(ref, str) and (name := ref.rpartition("/")[2]) in renamed:
            return {**node, "$ref": REF.format(model=renamed[name])}
        return {key: _redirect(value, renamed) for key, value in node.items()}
    return [_redirect(each, renamed) for each in schema] if isinstance(schema, list) else schema  # pyright: ignore[reportUnknownVariableType] # raw JSON


def _probes() -> dict[str, Any]:
    """The probe routes that every service has."""
    names, boolean = {"type": "array", "items": {"type": "string"}}, {"type": "boolean"}
    live = {"type": "object", "properties": {"live": boolean, "stalled": names}, "required": ["live", "stalled"]}
    services = {"type": "object", "additionalProperties": names}
    whole = {"type": "object", "properties": {"well": boolean, "services": services}, "required": ["well", "services"]}
    ready = {"type": "object", "properties": {"ready": boolean, "whole": whole}, "additionalProperties": boolean}
    whole_parameter = {
        "name": "whole",
        "in": "query",
        "description": "true: what is wrong with any service counts too",
        "schema": {"type": "string"},
    }
    probes: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
        "/live": ("Whether the service goes on, and which of its loops stand still", live, []),
        "/ready": ("Whether each dependency is usable, and what is wrong with each service", ready, [whole_parameter]),
    }
    paths: dict[str, Any] = {}
    for path, (summary, schema, parameters) in probes.items():
        answer = {"application/json": {"schema": schema}}
        responses = {
            "200": {"description": "Yes", "content": answer},
            "503": {"description": "No; what is false or named says why", "content": answer},
        }
        paths[path] = {
            "get": {"tags": ["probes"], "summary": summary, "parameters": parameters, "responses": responses}
        }
    text = {"description": "Prometheus' text format", "content": {METRICS_TYPE: {"schema": {"type": "string"}}}}
    paths["/metrics"] = {"get": {"tags": ["probes"], "summary": "Prometheus metrics", "responses": {"200": text}}}
    return paths
