"""The contracts as documents for other languages: JSON Schema 2020-12 and AsyncAPI 3.0. Pure: models in, text out."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from schemas import asyncapi
from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.envelope import Envelope
from schemas.erasure import DeletionReceipt, ErasureRequest
from schemas.events import Payload
from schemas.evidence_pack import EvidencePack
from schemas.exporting import ExportDocument
from schemas.memory_item import MemoryItem, WriteReceipt
from schemas.retrieval_plan import RetrievalPlan, RetrieveRequest
from schemas.sessions import ArchiveReceipt
from schemas.topics import PAYLOADS
from schemas.turn_events import CommitResult, ErrorReply, TurnEvents

DIALECT = "https://json-schema.org/draft/2020-12/schema"
CONTRACTS: dict[str, type[BaseModel]] = {
    model.__name__: model
    for model in (
        TurnEvents,
        CommitResult,
        ErrorReply,
        RetrievalPlan,
        RetrieveRequest,
        EvidencePack,
        ComposeRequest,
        ContextPackage,
        MemoryItem,
        WriteReceipt,
        ArchiveReceipt,
        ErasureRequest,
        DeletionReceipt,
        ExportDocument,
        Envelope,
    )
}
"""Every message that is not an event, and the envelope of those that are."""


class Untitled(GenerateJsonSchema):
    """JSON Schema without a title for every field: the name says it."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def documents() -> dict[str, str]:
    """By path within `schemas/generated` the content of every file; the same models give the same bytes."""
    made: dict[str, Any] = {f"json/{name}.schema.json": contract(name) for name in CONTRACTS}
    made |= {f"json/events/{name}.schema.json": event(name) for name in PAYLOADS}
    made["asyncapi.json"] = asyncapi.document(CONTRACTS, PAYLOADS, Untitled)
    return {path: render(made[path]) for path in sorted(made)}


def render(document: Mapping[str, Any]) -> str:
    """The document as committed: sorted, indented, readable Chinese, one newline at the end."""
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def contract(name: str) -> JsonSchemaValue:
    """The schema of what is read as this contract; whatever it does not name is allowed and ignored."""
    schema = CONTRACTS[name].model_json_schema(schema_generator=Untitled)
    return {"$schema": DIALECT, "$id": f"urn:smartbrain:contract:{name}", **schema}


def event(name: str) -> JsonSchemaValue:
    """The schema of a whole event: the envelope with this type and its payload."""
    return {"$schema": DIALECT, "$id": f"urn:smartbrain:event:{name}", **_event(PAYLOADS[name])}


def _event(payload: type[Payload]) -> JsonSchemaValue:
    envelope = Envelope.model_json_schema(schema_generator=Untitled)
    inner = payload.model_json_schema(schema_generator=Untitled)
    definitions = {**inner.pop("$defs", {}), payload.__name__: inner}
    return {
        **envelope,
        "$defs": definitions,
        "title": payload.event_type,
        "description": inner["description"],
        "properties": {
            **envelope["properties"],
            "event_type": {"const": payload.event_type},
            "payload": {"$ref": f"#/$defs/{payload.__name__}"},
        },
        "required": [*envelope["required"], "payload"],
    }
