"""Parses an import document; refuses it with the field that does not fit."""

from collections.abc import Hashable, Sequence
from typing import Any

from pydantic import ValidationError

from schemas.base import Contract
from schemas.exporting import IMPORT_MAX_BYTES, SHAPES, ExportDocument, MemoryOrigin, SummaryParts
from shared import parsing
from shared.errors import RefusedError, refuse_field
from shared.secrets import kind_of_id


def read_document(body: bytes) -> ExportDocument:
    """The document; RefusedError names the field that does not fit."""
    raw = parsing.read_object(body, limit=IMPORT_MAX_BYTES)
    document, _ = parsing.validate(ExportDocument, raw)
    refuse_duplicates("turns", [each.turn_id for each in document.turns])
    refuse_duplicates("turns", [(each.session_id, each.seq) for each in document.turns])
    refuse_duplicates("memories", [each.memory_id for each in document.memories])
    refuse_duplicates("sessions", [each.session_id for each in document.sessions])
    for name in ("turns", "memories", "sessions"):
        told, there = getattr(document.counts, name), len(getattr(document, name))
        if told != there:
            raise refuse_document(f"counts.{name}", f"is {told}, and there are {there}")
    refuse_unreadable(document)
    for n, each in enumerate(document.memories):
        if (each.status == "active") != (each.invalid_at is None):
            raise refuse_document(f"memories.{n}.invalid_at", "is there for what holds no longer, and for that alone")
        if each.type == "agent_experience":
            raise refuse_document(f"memories.{n}.type", "is of no user")
    refuse_secret_ids(document)
    return document


def refuse_duplicates(name: str, ids: Sequence[Hashable]) -> None:
    """RefusedError if an id occurs twice."""
    before = set[Hashable]()
    for n, each in enumerate(ids):
        if each in before:
            raise refuse_document(f"{name}.{n}", "stands in the document twice")
        before.add(each)


def refuse_document(field: str, problem: str) -> RefusedError:
    return refuse_field("contradictory", field, problem, 409)


def refuse_unreadable(document: ExportDocument) -> None:
    """RefusedError if an event, a summary or a provenance lacks what workers read."""
    parts: list[tuple[str, type[Contract], Any]] = [
        (f"turns.{n}.events.{place}.content", SHAPES[event.event_type], event.content)
        for n, turn in enumerate(document.turns)
        for place, event in enumerate(turn.events)
        if event.event_type in SHAPES
    ]
    parts += [
        (f"sessions.{n}.summaries.{place}.summary_json", SummaryParts, each.summary_json)
        for n, session in enumerate(document.sessions)
        for place, each in enumerate(session.summaries)
    ]
    parts += [(f"memories.{n}.provenance", MemoryOrigin, each.provenance) for n, each in enumerate(document.memories)]
    for place, shape, value in parts:
        try:
            shape.model_validate(value)
        except ValidationError as error:
            problem = parsing.problems(error)[0]
            inside = "" if problem.field == "body" else f".{problem.field}"
            raise refuse_document(f"{place}{inside}", problem.problem) from error


def refuse_secret_ids(document: ExportDocument) -> None:
    """RefusedError if the id of a session or an organisation looks like a secret."""
    named = [(f"sessions.{n}.session_id", each.session_id) for n, each in enumerate(document.sessions)]
    named += [(f"turns.{n}.session_id", each.session_id) for n, each in enumerate(document.turns)]
    named += [(f"turns.{n}.org_id", each.org_id) for n, each in enumerate(document.turns) if each.org_id]
    for place, value in named:
        if kind := kind_of_id(value):
            raise refuse_field("secret_refused", place, f"looks like a secret ({kind}); nothing was stored")
